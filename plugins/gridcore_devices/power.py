"""Power and current of a device's ports as quantities, made from its own ``currents`` function.

A class body lists them in one line, after the function::

    P, Q = injected_power(currents)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore.contract import Quantity

TINY = 1e-100  # under a root: its derivative is a number where the magnitude is zero, and no square feels it


def complex_power(bus: Any, current: tuple[Any, Any]) -> tuple[Any, Any]:
    """``V conj(I)`` as (P, Q)."""
    re, im = current
    return bus.Vr * re + bus.Vi * im, bus.Vi * re - bus.Vr * im


def injected_power(currents: Callable[..., Any]) -> tuple[Quantity, Quantity]:
    """P and Q that a one-bus device injects, in the per unit of its currents; zero out of service."""
    return _terminal_power(currents, 1, "injected")


def drawn_power(currents: Callable[..., Any]) -> tuple[Quantity, Quantity]:
    """P and Q that a one-bus device draws; zero out of service."""
    return _terminal_power(currents, -1, "drawn")


def _terminal_power(currents: Callable[..., Any], sign: int, verb: str) -> tuple[Quantity, Quantity]:
    def P(s: Any, bus: Any) -> Any:
        return s.status * sign * complex_power(bus, currents(s, bus))[0]

    def Q(s: Any, bus: Any) -> Any:
        return s.status * sign * complex_power(bus, currents(s, bus))[1]

    return Quantity("pu", P, f"active power {verb}"), Quantity("pu", Q, f"reactive power {verb}")


def branch_flows(currents: Callable[..., Any]) -> tuple[Quantity, ...]:
    """P1, Q1, P2, Q2, I1, I2, S1, S2 of a two-bus device: what flows into it at each end, system base."""

    def flow(s: Any, bus1: Any, bus2: Any, end: int) -> tuple[Any, Any, Any]:
        re, im = currents(s, bus1, bus2)[end]
        re, im = -s.status * re, -s.status * im  # into the branch, where `currents` goes into the bus
        return *complex_power((bus1, bus2)[end], (re, im)), re * re + im * im

    def quantity(of: Callable[[Any, Any, Any], Any], end: int, doc: str) -> Quantity:
        return Quantity("pu", lambda s, bus1, bus2: of(*flow(s, bus1, bus2, end)), f"{doc} at bus{end + 1}")

    kinds: tuple[tuple[Callable[[Any, Any, Any], Any], str], ...] = (
        (lambda p, q, i2: p, "active power into the branch"),
        (lambda p, q, i2: q, "reactive power into the branch"),
        (lambda p, q, i2: np.sqrt(i2 + TINY), "current"),
        (lambda p, q, i2: np.sqrt(p * p + q * q + TINY), "apparent power"))
    P, Q, current, S = ([quantity(of, end, doc) for end in (0, 1)] for of, doc in kinds)
    return P[0], Q[0], P[1], Q[1], *current, *S
