"""Events of one instant, and who is told that a derivative holds for the order in which they were made."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import numerics
from ..tape import GRID, Clock, finest

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium
    from ..results import Run
    from .objective import Objective
    from .request import Request

_SAMPLE = -2  # in a chain of clocks: a time at which an objective reads the run, which does not move


class CoincidenceWarning(UserWarning):
    """A derivative holds on one side only: for the order in which events of one instant were made."""


def warn_of_coincidence(run: Run, request: Request, objectives: Iterable[Objective] = (),
                        differences: bool = False) -> None:
    """Say which of the derivatives that are asked for hold on one side only, or of which differences are of both sides.

    Events of one instant were made in an order, and each has the derivative of that order in its own time; the grid is
    one of them where they fall on a point of it, and so are samples of objectives, which have the values before.
    A time is told if it is asked for; a guard's, whatever is asked for.
    """
    layout, clocks = run.system.layout, run.tape.clocks
    samples = np.concatenate([[], *(np.ravel(simple.times) for whole in objectives for _, simple in whole.terms())])
    for t, chain in instants(run, samples):
        fixed, sampled = not {GRID, _SAMPLE}.isdisjoint(chain), _SAMPLE in chain
        of = [clocks[clock] for clock in chain if clock != _SAMPLE]
        if not fixed and all(clocks[behind].after == clock for clock, behind in pairwise(chain)):
            continue  # each moves the next
        times = dict.fromkeys(clock.of for clock in of if clock.kind == "timer" or clock.after in chain)
        moved_by_all = any(clock.kind in ("guard", "delay") and clock.after not in chain for clock in of)
        others = {-1} if fixed else times  # these are in no group
        asked = [layout.label(at) for at in times if request.asks_alone(at, others)]
        if asked or (moved_by_all and len(request.names)):
            order = ", then ".join(["a sample"] * sampled + [_name(run.system, clock) for clock in of])
            what = " and ".join(asked) or "whatever moves one of them"
            side = "derivative in {} is one-sided, that of this order" if not differences else \
                "difference in {} is the mean of both sides, each with a derivative of its own" if not sampled else \
                "difference in {} is across what jumps there, which is no derivative"
            joint = "; joint= gives that of all of them together" * (not fixed and not differences)
            warnings.warn(f"at {t:.9g} s: {order}; the {side.format(what)}{joint}", CoincidenceWarning, stacklevel=3)
    found = [str(run.system.switching.guards[guard]) for guard in _at_zero(run)]
    if found:
        more = f" and {len(found) - 1} more are exactly where they act" if found[1:] else " is exactly where it acts"
        side = "differences are of both sides" if differences else "derivatives are those of the side that was taken"
        warnings.warn(f"{found[0]}{more} at t0: {side}", CoincidenceWarning, stacklevel=3)


def instants(run: Run, samples: ArrayLike = ()) -> Iterator[tuple[float, list[int]]]:
    """Times at which the tape stands still, or has an event and a sample, and the clocks of what is there, in order."""
    steps, samples, same = run.tape.records.moved(), np.sort(samples), numerics.SAME_TIME * finest(run.settings["step"])
    still, ends = steps.h <= same, run.t[steps.k + 1]
    sampled = np.searchsorted(samples, ends + same, "right") > np.searchsorted(samples, ends - same)
    at = np.flatnonzero(still | (sampled & (steps.end != GRID)))
    follows = still[at[1:]] & (run.t[steps.k[at[1:]]] == ends[at[:-1]])
    for together in np.split(at, np.flatnonzero(~follows) + 1) if len(at) else ():
        led = steps.start[together[:1]][still[together[:1]]]  # the end of the step that led there
        before = [_SAMPLE] * bool(sampled[together].any()) + led.tolist()
        yield float(ends[together[-1]]), before + steps.end[together].tolist()


def _name(system: Equilibrium, clock: Clock) -> str:
    if clock.kind == "guard":
        return str(system.switching.guards[clock.of])
    return "a point of the grid" if clock.kind == "grid" else system.layout.label(clock.of)


def _at_zero(run: Run) -> Iterator[int]:
    """Guards that are watched, and zero but for round-off, at t0."""
    system, Z = run.system, run.system.Z0
    values = system.switching.values(Z)
    for guard in np.flatnonzero(system.switching.active(Z) & (np.abs(values) < numerics.GUARD_ZERO)):
        columns, gradient, _ = system.system.guard_row(int(guard))(Z)
        if abs(values[guard]) <= numerics.GUARD_TERMS * float(np.abs(gradient) @ np.abs(Z[columns])):
            yield int(guard)
