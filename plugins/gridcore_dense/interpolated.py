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
from gridcore.case import Address, Base, convert
from gridcore.errors import CaseError
from gridcore.integrate import Linearised, made_by
from gridcore.linear import Newton
from gridcore.results import check_run, needed
from gridcore.tape import AUTO, InMemory, Spacing, States, Step, grid, span, states

from .instants import Instants

SIDES = ("left", "right")
# Of the distance between two points: a time that is nearer to one of them is its time, which a sum has rounded. Of the
# length of the run: so far beyond its ends a time is theirs, for a grid is not reached more precisely.
SAME_TIME = 1e-9


def interpolated(run: Run, t: ArrayLike | str, record: str | Iterable[Address] | None = None, *,
                 side: str = "right") -> Instants:
    """What the run says of any times on it, by the interpolant of its method: ``run.at(0.5)["GEN2.omega"]``.

    Differential variables are on the interpolant; with them, at that time and with the parameters and modes that
    hold there, the algebraic equations are solved to round-off. At the time of a point it is that point.

    Parameters
    ----------
    run : Run
    t : float or str or array
        Times (s), in any order; one may be text with a unit: ``run.at("50 ms")``.
    record : str or iterable of str, optional
        Keep these quantities only, by address or shell-style pattern.
    side : {"right", "left"}
        Where several points have one time, at events: what holds after all of them, or before.

    Returns
    -------
    Points

    Raises
    ------
    CaseError
        If a time is not on the run, or none.
    NotRecorded
        If the run kept a part of its states only.
    ConvergenceError
        If the algebraic equations have no solution there.
    """
    check_run(run)
    if side not in SIDES:
        raise CaseError(f"side = {side!r} must be {' or '.join(map(repr, SIDES))}")
    run.states.place(np.arange(run.system.n))  # an error, if not all of them were kept
    if isinstance(t, str):
        t = convert(t, "s", Base(frequency=run.system.case.frequency))
    try:
        times = np.ravel(np.asarray(t, dtype=float))
    except (TypeError, ValueError, OverflowError):
        raise CaseError(f"t = {t!r} must be times (s), or a text such as '50 ms'") from None
    times = _on_the_run(run, times)
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


def resampled(run: Run, step: Spacing | str, record: str | Iterable[Address] | None = None, *,
              side: str = "right") -> Instants:
    """As :meth:`~gridcore.Run.at`, at the times of a grid from start to end, none of which stands twice, also not at
    events.

    ``run.resample("20 ms").to_pandas("GEN*.omega")`` is a table of pandas.

    Parameters
    ----------
    run : Run
    step : float or str or sequence of (float, float)
        As of :func:`gridcore.simulate`.
    record, side
        As of :meth:`~gridcore.Run.at`.

    Returns
    -------
    Points
    """
    check_run(run)
    step, t0, t_end = span(step, run.t[0], run.t[-1], run.system.case.frequency)
    return interpolated(run, np.append(t0, grid(step, t0, t_end)), record, side=side)


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
