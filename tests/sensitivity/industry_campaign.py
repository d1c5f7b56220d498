"""The campaign on kundur and ieee39, every machine with exciter, governor and stabilizer drawn from the industry's.

From the root of the repository, a long campaign, and one scenario of it again, in words::

    python -m tests.sensitivity.industry_campaign --count 300 --seed 1
    python -m tests.sensitivity.industry_campaign --seed 1 --only 137
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import gridcore as gc

sys.path.insert(0, str(Path(__file__).parent))
from campaign import SYSTEMS, Scenario, disturbed, loads_of, main
from industry_data import ASKED, EXCITERS, GOVERNORS, LIMITS, SATURATED, controls

SYSTEMS["ieee39"] = {
    "generators": 10, "branches": ["LINE16-17", "LINE15-16", "LINE4-14", "LINE26-27", "LINE2-3", "LINE21-22"],
    "loads": [4, 8, 15, 16, 20, 27], "buses": range(1, 30), "machines": ["GEN30", "GEN32", "GEN38"],
    "regulator": ("EXC_GEN30", "Efd"), "bus": "BUS16"}


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario: load level and kind, machines, their controls and the limits of these, fault, trips, relays."""
    name = str(rng.choice(["kundur", "kundur", "ieee39"]))
    about, case = SYSTEMS[name], gc.load_case(name)
    for id in ("fault", "trip"):
        case.remove(id)
    level = rng.uniform(0.9, 1.05)
    wrt = loads_of(rng, case, about, level)
    for machine in case.of("GENROU"):
        wrt += _machine(rng, case, machine, level)
    return disturbed(rng, case, about, [*wrt, *(f"{b}.{p}" for b in about["branches"] for p in ("x", "b"))])


def _machine(rng: np.random.Generator, case: gc.Case, machine: gc.Record, level: float) -> list[str]:
    id = machine.fields.get("id") or f"GEN{machine.fields['bus']}"
    if machine.fields["control"] == "PV":
        machine.fields["P0"] *= level
    machine.fields.update(SATURATED, H=machine.fields["H"] * rng.uniform(0.7, 1.4))
    machine.fields["V0"] *= rng.uniform(0.99, 1.01)
    wrt = [f"{id}.{name}" for name in ("H", "V0", "Xdp", "Td0p", "S12")]
    if f"EXC_{id}" in case:
        stabilizer: dict[str, Any] = {}
        if rng.random() < 0.6:
            stabilizer = {"ICS": float(rng.choice([1, 1, 2])), "KS": rng.uniform(2.0, 15.0)}
        governor = str(rng.choice(list(GOVERNORS)))
        controls(case, id, str(rng.choice(list(EXCITERS))), governor, **stabilizer)
        for control in (f"EXC_{id}", f"GOV_{id}", f"PSS_EXC_{id}"):
            if control in case:
                wrt += _control(rng, case, control)
    return wrt


def _control(rng: np.random.Generator, case: gc.Case, control: str) -> list[str]:
    record = case[control]
    for name in sorted(LIMITS & set(record.fields)):
        record.fields[name] *= rng.uniform(0.9, 1.5)
    return [f"{control}.{name}" for name in sorted(ASKED & set(record.fields)) if record.fields[name] != 0]


if __name__ == "__main__":
    sys.exit(main(draw))
