"""The 9-bus system of the book, as its chapter 8 linearises it: constant-power loads, no damping."""

from __future__ import annotations

import gridcore as gc
from gridcore.case import Case

CONSTANT_POWER = {"pZ": 0, "pI": 0, "pP": 1, "qZ": 0, "qI": 0, "qP": 1}

# P. W. Sauer, M. A. Pai, Power System Dynamics and Stability (1998), table 8.2.
PRINTED = [-0.7201 + 12.7455j, -0.1907 + 8.3658j, -5.4875 + 7.9487j, -5.3235 + 7.9220j, -5.2218 + 7.8160j,
           -0.4444 + 1.2106j, -0.4394 + 0.7392j, -0.4258 + 0.4959j, -5.1778, -3.3997, -3.2258]


def book_case() -> Case:
    """The case."""
    case = gc.load_case("wscc9")
    for machine in ("GEN1", "GEN2", "GEN3"):
        case.set(f"{machine}.D", 0.0)
    for load in ("LOAD5", "LOAD6", "LOAD8"):
        for name, value in CONSTANT_POWER.items():
            case.set(f"{load}.{name}", value)
    return case
