"""The campaign on kundur with a line of the records CDC4T and CDC6T beside its tie: random data, faults, relays.

From the root of the repository::

    python -m tests.sensitivity.cdc_campaign --count 300 --seed 1
    python -m tests.sensitivity.cdc_campaign --seed 1 --only 137
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

LINE: dict[str, Any] = {
    "VSCHD": (245.0, 255.0), "VCMOD": (0.0, 235.0), "RCOMP": (0.0, 3.0), "DELTI": (0.05, 0.2), "RDC": (3.0, 7.0),
    "XCR": (8.0, 12.0), "ER": (106.0, 112.0), "XCI": (7.0, 10.0), "EI": (106.0, 112.0), "ALFDY": (0.08, 0.1),
    "GAMDY": (0.15, 0.25), "TVDC": (0.01, 0.06), "TIDC": (0.01, 0.06), "VBLOCK": (0.2, 0.6), "VUNBL": (0.62, 0.8),
    "TBLOCK": (0.01, 0.1), "VBYPAS": (20.0, 150.0), "VUNBY": (0.5, 0.8), "TBYPAS": (0.01, 0.1), "RSVOLT": (20.0, 100.0),
    "RSCUR": (0.1, 0.4), "VRAMP": (4.0, 30.0), "CRAMP": (4.0, 30.0), "C0": (0.02, 0.1), "V1": (60.0, 90.0),
    "C1": (0.2, 0.4), "V2": (110.0, 150.0), "C2": (0.5, 0.8), "V3": (180.0, 220.0), "C3": (1.0, 1.4),
    "TCMODE": (0.02, 0.1)}
DELAYED: dict[str, Any] = {
    "VDEBLK": (0.5, 0.8), "TDEBLK": (0.01, 0.1), "TREBLK": (0.01, 0.05), "VINBLK": (0.2, 0.6), "TCOMB": (0.005, 0.03),
    "VACBYP": (0.4, 0.8), "TDEBYP": (0.01, 0.06), "TINBLK": (0.01, 0.05), "TINBYP": (0.01, 0.05), "TVRDC": (0.01, 0.06)}


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario: loads, a line from bus 7 to bus 9, fault, trips, relays."""
    about, case = SYSTEMS["kundur"], gc.load_case("kundur")
    for id in ("fault", "trip"):
        case.remove(id)
    wrt = loads_of(rng, case, about, rng.uniform(0.9, 1.05))
    model, values = "CDC4T", {"Pset": float(rng.choice([1.0, -1.0]) * rng.uniform(120.0, 200.0)), **drawn(rng, LINE)}
    if rng.random() < 0.5:
        model, values = "CDC6T", values | drawn(rng, DELAYED)
    case.add(model, id="DC", bus=7, **values)
    case.add("CDCInverter", id="INV", bus=9, line="DC")
    for bus in (7, 9):
        case.add("Shunt", id=f"FILTER{bus}", bus=bus, b=1.0)
    return disturbed(rng, case, about, [*wrt, *(f"DC.{name}" for name in values)])


if __name__ == "__main__":
    sys.exit(main(draw))
