"""Whether the solution that a file holds is one: what is missing at a bus for its powers to balance."""

from __future__ import annotations

import cmath
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from gridcore.case import Case

CLOSE = 1e-2  # pu: programs solve to 0.1 MVA, and files are written from what others have changed since
ROUNDING = 2e-5  # pu: of voltages with four or five digits; by the admittances at the bus, of power


def unbalanced(case: Case, buses: set[int], home: Mapping[Any, Any]) -> set[int]:
    """Of these buses those at which reactive powers do not balance: see :func:`lacking`."""
    return {bus for bus, (power, rounding) in lacking(case, buses, home).items() if abs(power.imag) > CLOSE + rounding}


def lacking(case: Case, buses: set[int], home: Mapping[Any, Any]) -> dict[int, tuple[complex, float]]:
    """What these buses lack in power (pu) at the voltages Vm0 and Va0 of the case, and what rounding these may explain.

    `home` has the bus that others are one with.

    It knows the models that the reader of RAW files makes, and takes a set of buses for its speed: a system need not be
    built to ask this of few buses of many.
    """
    start = {record.fields["id"]: record.fields for record in case if record.model == "Bus"}

    def V(bus: Any) -> complex:
        return cmath.rect(start[bus]["Vm0"], start[bus]["Va0"])

    missing: defaultdict[Any, complex] = defaultdict(complex)
    around: defaultdict[Any, float] = defaultdict(float)
    near = buses | {bus for bus, other in home.items() if other in buses}
    for record in case:
        fields = record.fields
        if "bus" in fields:
            ends = [fields["bus"]]
        elif "bus1" in fields:
            ends = [fields["bus1"], fields["bus2"]]
        else:
            continue
        if near.isdisjoint(ends) or fields.get("status", 1) == 0 or record.model == "JoinedBus":
            continue
        ends = [home.get(bus, bus) for bus in ends]
        if len(ends) > 1:
            y = 1 / complex(fields.get("r", 0.0), fields["x"])
            tap = cmath.rect(fields.get("tap", 1.0), fields.get("phase", 0.0))
            own, V1, V2 = y + 0.5j * fields.get("b", 0.0), V(ends[0]) / tap, V(ends[1])
            for bus, here, there in ((ends[0], V1, V2), (ends[1], V2, V1)):
                missing[bus] += here * (own * here - y * there).conjugate()
                around[bus] += 2 * abs(y) / abs(tap)
        else:
            [bus] = ends
            sign = {"Shunt": 0.0, "ZIP": 1.0}.get(record.model, -1.0)
            missing[bus] += sign * complex(fields.get("P0", 0.0), fields.get("Q0", 0.0))
            missing[bus] += complex(fields.get("g", 0.0), -fields.get("b", 0.0)) * start[bus]["Vm0"] ** 2
    return {bus: (missing[bus], ROUNDING * around[bus]) for bus in buses}
