"""The campaign on kundur with a VSC line beside its tie: random gains, limits, losses, cables and capacitors.

From the root of the repository::

    python -m tests.sensitivity.dc_campaign --count 300 --seed 1
    python -m tests.sensitivity.dc_campaign --seed 1 --only 137
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gridcore as gc

sys.path.insert(0, str(Path(__file__).parent))
from campaign import SYSTEMS, Scenario, disturbed, loads_of, main
from converter_campaign import drawn

CONVERTER: dict[str, Any] = {
    "Sn": (250.0, 400.0), "kd": (4.0, 12.0), "kv": (0.0, 3.0), "kvi": (1.0, 10.0), "Imax": (0.95, 1.2),
    "Tc": (0.002, 0.006), "Tv": (0.008, 0.02), "Td": (0.001, 0.004), "la": (0.005, 0.015),
    "lb": (0.002, 0.005), "lc": (0.003, 0.008)}
CABLE: dict[str, Any] = {"r": (0.003, 0.01), "l": (0.0003, 0.001)}
CAPACITOR: dict[str, Any] = {"c": (0.3, 0.6), "r": (0.0005, 0.002)}


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario: loads, a VSC line from bus 7 to bus 9 whose inverter holds the DC voltage, fault, trips, relays."""
    about, case = SYSTEMS["kundur"], gc.load_case("kundur")
    for id in ("fault", "trip"):
        case.remove(id)
    wrt = loads_of(rng, case, about, rng.uniform(0.9, 1.05))
    P0, rectifier, inverter = float(rng.uniform(1.0, 2.0)), drawn(rng, CONVERTER), drawn(rng, CONVERTER)
    inverter["kdi"] = float(rng.uniform(20.0, 150.0))
    added = {"CABLE7-9": ("DCCable", {"dc1": 7, "dc2": 9}, drawn(rng, CABLE)),
             "CAP7": ("DCCapacitor", {"dc": 7}, drawn(rng, CAPACITOR)),
             "SLACK9": ("DCSlack", {"dc": 9}, drawn(rng, CAPACITOR)),
             "VSC7": ("VSC", {"bus": 7, "dc": 7, "control": "PQ", "P0": -P0}, rectifier),
             "VSC9": ("VSC", {"bus": 9, "dc": 9, "control": "PQ", "P0": 0.95 * P0}, inverter)}
    for bus in (7, 9):
        case.add("DCBus", id=bus)
    for id, (model, place, values) in added.items():
        case.add(model, id=id, **place, **values)
        wrt += [f"{id}.{name}" for name in values]
    return disturbed(rng, case, about, [*wrt, "VSC7.P0", "VSC9.P0"])


if __name__ == "__main__":
    sys.exit(main(draw))
