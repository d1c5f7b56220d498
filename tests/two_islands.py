"""A case of two machines that a trip of their tie leaves in an island each."""

from __future__ import annotations

import gridcore as gc


def two_islands(**trip: float) -> gc.Case:
    """Two machines with a load each, joined by a line that trips."""
    case = gc.Case("pair", frequency=50)
    for bus, control in ((1, "slack"), (2, "PV")):
        case.add(gc.Record("Bus", {"id": bus, "kv": 20}))
        case.add(gc.Record("Classical", {"id": f"G{bus}", "bus": bus, "control": control, "P0": 0.2, "H": 4.0 / bus,
                                         "Sn": 100.0 * bus, "Xdp": 0.3}))
        case.add(gc.Record("ZIP", {"id": f"L{bus}", "bus": bus, "P0": 0.3}))
    case.add(gc.Record("Line", {"id": "TIE", "bus1": 1, "bus2": 2, "x": 0.1}))
    for device, t in trip.items():
        case.add(gc.Trip(device=device, t=t))
    return case
