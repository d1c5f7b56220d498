"""Events of one instant, and who is told that a derivative holds for the order in which they were made."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..tape import GRID, Clock, finest

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium
    from ..results import Run
    from .request import Request


class CoincidenceWarning(UserWarning):
    """A derivative holds on one side only: for the order in which events of one instant were made."""


def warn_of_coincidence(run: Run, request: Request, differences: bool = False) -> None:
    """Say which of the derivatives that are asked for hold on one side only, or of which differences are of both sides.

    Events of one instant were made in an order, and each has the derivative of that order in its own time; the grid is
    one of them where they fall on a point of it. A time is told if it is asked for; a guard's, whatever is asked for.
    """
    layout, clocks = run.system.layout, run.tape.clocks
    for t, chain in instants(run):
        of = [clocks[clock] for clock in chain]
        times = dict.fromkeys(clock.of for clock in of if clock.kind == "timer" or clock.after in chain)
        moved_by_all = any(clock.kind in ("guard", "delay") and clock.after not in chain for clock in of)
        others = {-1} if GRID in chain else times  # the grid is in no group
        asked = [layout.label(at) for at in times if request.asks_alone(at, others)]
        if asked or (moved_by_all and len(request.names)):
            order = ", then ".join(_name(run.system, clock) for clock in of)
            what = " and ".join(asked) or "whatever moves one of them"
            side = "derivative in {} is one-sided, that of this order" if not differences else \
                "difference in {} is the mean of both sides, each with a derivative of its own"
            joint = "; joint= gives that of all of them together" * (GRID not in chain and not differences)
            warnings.warn(f"at {t:.9g} s: {order}; the {side.format(what)}{joint}", CoincidenceWarning, stacklevel=3)
    found = [str(run.system.switching.guards[guard]) for guard in _at_zero(run)]
    if found:
        more = f" and {len(found) - 1} more are exactly where they act" if found[1:] else " is exactly where it acts"
        side = "differences are of both sides" if differences else "derivatives are those of the side that was taken"
        warnings.warn(f"{found[0]}{more} at t0: {side}", CoincidenceWarning, stacklevel=3)


def instants(run: Run) -> Iterator[tuple[float, list[int]]]:
    """Times at which the tape stands still, and the clocks of what happens there, in order."""
    steps = run.tape.records.steps()
    still = np.flatnonzero(steps.h <= numerics.SAME_TIME * finest(run.settings["step"]))
    for together in np.split(still, np.flatnonzero(np.diff(still) > 1) + 1) if len(still) else ():
        first = int(together[0])
        before = int(steps.end[first - 1]) if first else GRID
        yield float(run.t[steps.k[together[-1]]]), [before, *steps.end[together].tolist()]


def _name(system: Equilibrium, clock: Clock) -> str:
    if clock.kind == "guard":
        return str(system.switching.guards[clock.of])
    return "a point of the grid" if clock.kind == "grid" else system.layout.label(clock.of)


def _at_zero(run: Run) -> list[int]:
    """Guards that are watched, and zero but for round-off, at t0."""
    system, Z = run.system, run.system.Z0
    values = system.switching.values(Z)
    found = []
    for guard in np.flatnonzero(system.switching.active(Z) & (np.abs(values) < numerics.GUARD_ZERO)):
        columns, gradient, _ = system.system.guard_row(int(guard))(Z)
        if abs(values[guard]) <= numerics.GUARD_TERMS * float(np.abs(gradient) @ np.abs(Z[columns])):
            found.append(int(guard))
    return found
