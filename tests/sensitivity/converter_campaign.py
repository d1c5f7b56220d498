"""The campaign on kundur with converters: one in place of a machine, and distributed resources at a load.

From the root of the repository::

    python -m tests.sensitivity.converter_campaign --count 300 --seed 1
    python -m tests.sensitivity.converter_campaign --seed 1 --only 137
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gridcore as gc

sys.path.insert(0, str(Path(__file__).parent))
from campaign import SYSTEMS, Scenario, disturbed, loads_of, main

FORMING: dict[str, dict[str, Any]] = {
    "REGFMA1": {"IMAX": (1.1, 2.0), "EMAX": (1.1, 1.2), "PMAX": (0.8, 0.95), "PMIN": (0.5, 0.7), "QMAX": (0.3, 0.5),
                "QMIN": (-0.5, -0.2), "mp": (0.01, 0.04), "mq": (0.02, 0.1), "kiv": (3.0, 8.0), "kpv": (0.0, 0.5),
                "kppmax": (0.01, 0.05), "kipmax": (0.1, 0.5), "VFlag": 1, "QVFlag": 1},
    "REGFMB1": {"IMAX": (1.1, 2.0), "mp": (0.015, 0.05), "mq": (0.02, 0.1), "kiv": (3.0, 8.0), "H": (0.3, 2.0),
                "DwMAX": (0.003, 0.05), "ISS": (0.95, 1.1), "KI": (1.0, 3.0), "VFRZ": (0.05, 0.6), "Xdp": (0.1, 0.2),
                "wFlag": 1, "VdrpFlag": 1, "PQFlag": 1}}
DISTRIBUTED: dict[str, Any] = {
    "Sn": (150.0, 250.0), "Trv": (0.015, 0.03), "Kqv": (1.0, 5.0), "dbd1": (-0.05, -0.005), "dbd2": (0.005, 0.05),
    "Tiq": (0.015, 0.03), "Imax": (0.9, 1.3), "vl0": (0.3, 0.5), "vl1": (0.7, 0.93), "tvl0": (0.05, 0.2),
    "tvl1": (0.02, 0.1), "vh1": (1.05, 1.1), "vh0": (1.15, 1.2), "tvh1": (0.02, 0.1), "Vrfrac": (0.3, 0.9),
    "Tg": (0.015, 0.03), "rrpwr": (0.5, 3.0), "Ddn": (10.0, 30.0), "Dup": (5.0, 20.0), "fh": (1.005, 1.02),
    "tfh": (0.02, 0.1), "Vpr": (0.5, 0.8), "FreqFlag": 1, "PfFlag": 1, "PqFlag": 1}


def drawn(rng: np.random.Generator, ranges: dict[str, Any]) -> dict[str, float]:
    """A value of each; a number as it is, and of a flag, an integer, 0 or 1."""
    return {name: float(rng.uniform(*at)) if isinstance(at, tuple) else at if isinstance(at, float)
            else float(rng.integers(2)) for name, at in ranges.items()}


def without_a_machine(rng: np.random.Generator) -> tuple[dict[str, Any], gc.Case, list[str], dict[str, Any]]:
    """The case with loads drawn and without GEN4 and its controls: about it, itself, parameters, the place left."""
    about, case = SYSTEMS["kundur"], gc.load_case("kundur")
    for id in ("fault", "trip"):
        case.remove(id)
    wrt = loads_of(rng, case, about, rng.uniform(0.9, 1.05))
    machine = case["GEN4"].fields
    for id in [id for id in case.ids() if id.endswith("GEN4")]:
        case.remove(id)
    return about, case, wrt, {name: machine[name] for name in ("bus", "control", "Sn", "P0", "V0") if name in machine}


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario: loads, a converter in place of GEN4, distributed resources at bus 7 or 9, fault, trips, relays."""
    about, case, wrt, place = without_a_machine(rng)
    model = str(rng.choice(list(FORMING)))
    values = drawn(rng, FORMING[model])
    case.add(model, id="GEN4", **place, **values)
    bus = int(rng.choice([7, 9]))
    more = drawn(rng, DISTRIBUTED)
    case.add("DERA1", id="ROOFS", bus=bus, control="PQ", P0=float(rng.uniform(0.8, 1.3)),
             Q0=float(rng.uniform(0.0, 0.2)), **more)
    # of fh the smallest perturbation, a part of 1, is much of what the frequency moves
    wrt += [f"{id}.{name}" for id, given in (("GEN4", values), ("ROOFS", more)) for name in given
            if "Flag" not in name and name != "fh"]
    return disturbed(rng, case, about, [*wrt, *(f"{b}.{p}" for b in about["branches"] for p in ("x", "b"))])


if __name__ == "__main__":
    sys.exit(main(draw))
