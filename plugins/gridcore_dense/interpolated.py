"""A run at times of one's own: differential variables by its method's interpolant, then the algebraic equations.

These are solved at the interpolated differential variables, at the time asked for and under the settings of that
stretch, to round-off. Between two switches they all have nearly one matrix, so that its factors serve many times.
The run is gone through once, block after block: one that is recomputed from checkpoints is so once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from gridcore import Run
from gridcore.errors import CaseError
from gridcore.integrate import Linearised, made_by
from gridcore.linear import Newton
from gridcore.results import needed
from gridcore.tape import AUTO, InMemory, States, Step, states

from .instants import Instants

SIDES = ("left", "right")
# Of the distance between two points: a time that is nearer to one of them is its time, which a sum has rounded. Of the
# length of the run: so far beyond its ends a time is theirs, for a grid is not reached more precisely.
SAME_TIME = 1e-9


def interpolated(run: Run, t: ArrayLike, record: str | Iterable[str] | None = None, side: str = "right") -> Instants:
    """See :meth:`gridcore.Run.at`."""
    if side not in SIDES:
        raise CaseError(f"side = {side!r} must be {' or '.join(map(repr, SIDES))}")
    run.states.place(np.arange(run.system.n))  # an error, if not all of them were kept
    times = _on_the_run(run, np.ravel(np.asarray(t, dtype=float)))
    last = np.searchsorted(run.t, times, "right") - 1
    first = np.searchsorted(run.t, times, "left")
    stored = first <= last
    k = np.where(stored & (side == "left"), first, last)
    order = np.argsort(times, kind="stable")
    kept = states(AUTO, run.system.n, None if record is None else needed(run.system, record))
    if len(times):
        _Between(run, times[order], k[order], stored[order], kept).go()
    kept.trim()
    return Instants(run, np.shape(t), times, run.point_settings[k], kept, np.argsort(order))


def _on_the_run(run: Run, times: np.ndarray) -> np.ndarray:
    """Times, those of points but for round-off made theirs; a CaseError if one is not on the run."""
    points = np.unique(run.t)
    i = np.clip(np.searchsorted(points, times, "right") - 1, 0, max(len(points) - 2, 0))
    before, after = points[i], points[np.minimum(i + 1, len(points) - 1)]
    near = np.where(times - before < after - times, before, after)
    times = np.where(np.abs(times - near) <= SAME_TIME * (after - before), near, times)
    beyond = SAME_TIME * (points[-1] - points[0])
    outside = times[~((times >= points[0] - beyond) & (times <= points[-1] + beyond))]
    if len(outside):
        raise CaseError(f"t = {outside[0]:g} s is not on the run, which is from {points[0]:g} to {points[-1]:g} s")
    return np.clip(times, points[0], points[-1])


class _Block(InMemory):
    """The points that are looked at, and the one before them, for :class:`Linearised`."""

    first, X, before = 0, np.zeros((0, 0)), np.zeros(0)

    def row(self, k: int) -> np.ndarray:
        """(n,) the state of one of them."""
        return self.X[k - self.first] if k >= self.first else self.before


class _Between:
    """States at times in ascending order, at points k where they are `stored`, elsewhere after these."""

    def __init__(self, run: Run, times: np.ndarray, k: np.ndarray, stored: np.ndarray, kept: States):
        self.run, self.times, self.k, self.stored, self.kept = run, times, k, stored, kept
        self.needs = np.where(stored, k, k + 1)  # the last point that a time needs
        self.done, self.settings = 0, -1
        kept.reserve(len(times))

    def go(self) -> None:
        """Append all of them to what is kept."""
        tape = self.run.tape
        self.steps, self.block = tape.records.steps(), _Block(self.run.system.n)
        self.points = Linearised(self.run.system, replace(tape, states=self.block), ())
        self.newton = Newton(self.points.ws)
        self.steppers = [made_by(method) for method in tape.methods]
        tape.states.visit(self._see)

    def _see(self, first: int, X: np.ndarray) -> None:
        """Those that lie before the last point of a block, or at it."""
        self.block.first, self.block.X = first, X
        while self.done < len(self.times) and self.needs[self.done] < first + len(X):
            k, begun = int(self.k[self.done]), self.done
            self.done += 1
            if self.stored[begun]:
                self.kept.append(self.block.row(k))
                continue
            while self.done < len(self.times) and self.k[self.done] == k:  # in one step
                self.done += 1
            self._within(k, self.times[begun: self.done])
        self.block.before = X[-1].copy()

    def _within(self, k: int, times: np.ndarray) -> None:
        """Those within the step from point k."""
        number = np.searchsorted(self.steps.k, k)
        record = Step(**{name: column[number].item() for name, column in self.steps._asdict().items()})
        settings = int(self.run.point_settings[k])
        for t, X in zip(times, self.steppers[record.method].interpolate(record, self.points, times), strict=True):
            ws = self.points.load(X, float(t), settings)
            if settings != self.settings:
                self.newton.renew()
                self.settings = settings
            self.newton.hold(ws.differential)
            self.newton.solve()
            self.kept.append(ws.X)
