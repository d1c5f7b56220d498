"""The campaign on kundur with a plant that follows the grid in place of a machine: solar, wind or a battery.

From the root of the repository::

    python -m tests.sensitivity.plant_campaign --count 300 --seed 1
    python -m tests.sensitivity.plant_campaign --seed 1 --only 137
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore.errors import CaseError
from gridcore.sensitivity import Request

sys.path.insert(0, str(Path(__file__).parent))
from campaign import Scenario, disturbed, main
from converter_campaign import drawn, without_a_machine

_TABLE: dict[str, Any] = {"Vq1": 0.3, "Iq1": 0.3, "Vq2": 0.7, "Iq2": (0.5, 0.7), "Vq3": 0.9, "Iq3": (0.9, 1.1),
                          "Vp1": 0.2, "Ip1": 0.2, "Vp2": 0.6, "Ip2": (0.4, 0.6), "Vp3": 0.95, "Ip3": (1.0, 1.2)}
_ELECTRICAL: dict[str, Any] = {
    "Vdip": (0.8, 0.88), "Trv": (0.015, 0.03), "dbd1": (-0.06, -0.02), "dbd2": (0.02, 0.06), "Kqv": (0.5, 2.5),
    "Kqp": (0.05, 0.3), "Kqi": (0.5, 3.0), "Kvp": (0.1, 0.6), "Kvi": (5.0, 15.0), "Tiq": (0.02, 0.04),
    "Imax": (1.05, 1.3), "Tpord": (0.03, 0.06), "PfFlag": 1, "VFlag": 1, "QFlag": 1, "PQFlag": 1}
_HOLDS: dict[str, Any] = {"Thld": (0.02, 0.1), "Thld2": (0.03, 0.1), "Iqfrz": (0.05, 0.15)}
# Of a battery its charge ends within the run in some.
ELECTRICAL: dict[str, dict[str, Any]] = {
    "REECA1": {**_ELECTRICAL, **_TABLE, **_HOLDS},
    "REECB1": _ELECTRICAL,
    "REECC1": {**_ELECTRICAL, **_TABLE, "T": (5.0, 20.0), "SOCini": 0.5, "SOCmin": (0.4, 0.48)},
    "REECD1": {**_ELECTRICAL, **_TABLE, **_HOLDS, "Vblkl": (0.4, 0.75), "Tblk": (0.02, 0.06), "Kc": (0.0, 0.03),
               "Ke": (0.2, 1.0)}}
CONVERTERS: dict[str, dict[str, Any]] = {
    "REGCA1": {"Tg": (0.015, 0.03), "Rrpwr": (3.0, 10.0), "Brkpt": (0.85, 0.92), "Tfltr": (0.015, 0.03),
               "Iqrmax": (5.0, 12.0), "Iqrmin": (-12.0, -5.0), "Lvplsw": 1},
    "REGCB1": {"Tg": (0.015, 0.03), "Te": (0.015, 0.03), "Tfltr": (0.015, 0.03), "Rrpwr": (4.0, 10.0),
               "Xdp": (0.1, 0.25), "Imax": (1.05, 1.3), "RateFlag": 1, "PQFlag": 1}}
PLANT: dict[str, Any] = {
    "Tfltr": (0.015, 0.03), "Kp": (2.0, 15.0), "Ki": (1.0, 5.0), "Kc": (0.01, 0.04), "Vfrz": (0.6, 0.75),
    "Tfv": (0.03, 0.08), "Tft": (0.0, 0.03), "dbd1": (-0.004, -0.001), "dbd2": (0.001, 0.004), "Qmax": (0.3, 0.5),
    "Qmin": (-0.5, -0.3), "Kpg": (0.05, 0.3), "Kig": (0.2, 0.8), "Tp": (0.1, 0.3), "Tg": (0.05, 0.15),
    "Ddn": (10.0, 30.0), "Dup": (5.0, 20.0), "RefFlag": 1, "Fflag": 1}


def _derived(system: Equilibrium, address: str) -> bool:
    """Whether there is a derivative in it: not in the gain of an integrator that a flag leaves out."""
    try:
        return bool(Request.of(system, address, "direct").names)
    except CaseError:
        return False


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario: loads, a plant in place of GEN4, with a plant control or without, fault, trips, relays."""
    about, case, wrt, place = without_a_machine(rng)
    added: dict[str, dict[str, float]] = {}
    for models, hangs in ((CONVERTERS, {}), (ELECTRICAL, {"converter": "GEN4"}),
                          ({"REPCA1": PLANT}, {"control": "REEC_GEN4"})):
        model = str(rng.choice(list(models)))
        if model == "REPCA1" and rng.uniform() < 1 / 3:
            continue
        values = drawn(rng, models[model])
        id = {"REGC": "GEN4", "REEC": "REEC_GEN4", "REPC": "REPC_REEC_GEN4"}[model[:4]]
        case.add(model, id=id, **(hangs or place), **values)
        added[id] = values
    system = gc.build(case, initialise=False)
    wrt += [address for id, values in added.items() for field in values if "Flag" not in field and field != "Lvplsw"
            and _derived(system, address := f"{id}.{field}")]
    return disturbed(rng, case, about, [*wrt, *(f"{b}.{p}" for b in about["branches"] for p in ("x", "b"))])


if __name__ == "__main__":
    sys.exit(main(draw))
