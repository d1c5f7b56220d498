"""Numbers made of values at the points of a run: integrals over its steps, sums over samples between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import CaseError
from ..integrate import made_by
from ..tape import GRID

if TYPE_CHECKING:
    from ..results import Run


@dataclass
class Taken:
    """What a rule makes of the values r of a function at the points of a run.

    Attributes
    ----------
    value : float
    weight : (points,) array
        Its derivative in r.
    clocks : list of (int, float)
        Its derivatives in the times of points, by clock.
    """

    value: float
    weight: np.ndarray
    clocks: list[tuple[int, float]] = field(default_factory=list)


@dataclass
class Points:
    """The points of a run, for :meth:`Pointwise.take`; `moving` as in :meth:`Objective.clocks`."""

    run: Run
    moving: bool

    @cached_property
    def _quadrature(self) -> tuple[np.ndarray, list[tuple[int, int, int, float]]]:
        """The weight of each point in integrals; of steps whose ends have clocks: the first point, the clocks, the
        weight of the end.
        """
        tape, weight = self.run.tape, np.zeros(len(self.run.t))
        end_weight = np.array([made_by(method).end_weight for method in tape.methods])
        for steps in tape.records.blocks():
            end = end_weight[steps.method]
            weight[steps.k] += steps.h * (1 - end)
            weight[steps.k + 1] += steps.h * end
        moved = tape.records.moved()
        columns = moved.k, moved.start, moved.end, end_weight[moved.method]
        return weight, list(zip(*(column.tolist() for column in columns), strict=True))

    def integral(self, r: np.ndarray) -> Taken:
        """The time integral of values `r`, (points,), by the rule of the method, on the steps of the run."""
        weight, clocked = self._quadrature
        clocks = []
        for k, start, end, part in clocked:
            mean = (1 - part) * r[k] + part * r[k + 1]
            if end != GRID:
                clocks.append((end, mean if self.moving else r[k + 1]))
            if start != GRID:
                clocks.append((start, -mean if self.moving else -r[k]))
        return Taken(float(weight @ r), weight, clocks)


@dataclass
class Sampling:
    """Where given times fall on a run, for linear interpolation between its points.

    At an instant at which something switched it is the value before.

    Attributes
    ----------
    k : (samples,) int array
        The point before each time; it lies between this one and the next.
    part : (samples,) array
        How far on the way to the next, 0 to 1.
    h : (samples,) array
        The time between the two (s).
    start, end : (samples,) int arrays
        Their clocks.
    """

    k: np.ndarray
    part: np.ndarray
    h: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, run: Run, times: ArrayLike) -> Sampling:
        """Times on a run.

        Raises
        ------
        CaseError
            If one is no number, or outside the run.
        """
        times = np.asarray(times, dtype=float)
        outside = times[~((times >= run.t[0]) & (times <= run.t[-1]))]
        if len(outside):
            raise CaseError(f"sample time {outside[0]:g} s is outside the run ({run.t[0]:g} to {run.t[-1]:g} s)")
        steps = run.tape.records.steps()
        moving = np.flatnonzero(steps.h > 0)
        chosen = moving[np.searchsorted(run.t[steps.k[moving] + 1], times)]
        k, h = steps.k[chosen], steps.h[chosen]
        return cls(k, (times - run.t[k]) / h, h, steps.start[chosen], steps.end[chosen])

    def values(self, r: np.ndarray) -> np.ndarray:
        """Values at the times, (samples,), from those at all points of the run, (points,)."""
        return (1 - self.part) * r[self.k] + self.part * r[self.k + 1]

    def take(self, r: np.ndarray, value: float, slope: np.ndarray, moving: bool) -> Taken:
        """A number of samples of `r` from its derivatives in them, (samples,)."""
        weight, clocks = np.zeros(len(r)), []
        np.add.at(weight, self.k, slope * (1 - self.part))
        np.add.at(weight, self.k + 1, slope * self.part)
        along = slope * (r[self.k + 1] - r[self.k]) / self.h
        for i in np.flatnonzero((self.start != GRID) | (self.end != GRID)) if moving else ():
            if self.start[i] != GRID:
                clocks.append((int(self.start[i]), along[i] * (self.part[i] - 1)))
            if self.end[i] != GRID:
                clocks.append((int(self.end[i]), -along[i] * self.part[i]))
        return Taken(value, weight, clocks)
