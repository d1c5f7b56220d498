"""Numbers made of values at the points of a run: integrals over its steps, sums over samples between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import numerics
from ..errors import CaseError
from ..integrate import Between, made_by
from ..tape import GRID, finest

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
    def _quadrature(self) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
        """The weight of each point; of steps with points that have clocks: the points, clocks, derivatives in times."""
        weight, clocked = np.zeros(len(self.run.t)), []
        for steps in self.run.tape.records.blocks():
            for _, between, clocks in _between(self.run, steps.k, steps.method):
                np.add.at(weight, between.at, between.integrals)
                some = (clocks != GRID).any(axis=1)
                shifts = between.shifts[some]
                if not self.moving:
                    shifts[:] = 0.0
                    shifts[:, 0, 0], shifts[:, 1, 1] = -1.0, 1.0
                clocked.append((between.at[some], clocks[some], shifts))
        return weight, clocked

    def integral(self, r: np.ndarray) -> Taken:
        """The time integral of values `r`, (points,), by the rule of the method, on the steps of the run."""
        weight, clocked = self._quadrature
        moved = (_named(clocks, np.einsum("ijl,il->ij", shifts, r[at])) for at, clocks, shifts in clocked)
        return Taken(float(weight @ r), weight, [each for some in moved for each in some])


@dataclass
class Sampling:
    """What values at given times are made of, as the method says; where something switched, it is the value before.

    Attributes
    ----------
    at, clock : (samples, q) int arrays
        Points of the run, and their clocks.
    weight, slopes : (samples, q) and (samples, q, q) arrays
        Of values there, in the one at the time, and in the slope at each of the points (1/s).
    """

    at: np.ndarray
    clock: np.ndarray
    weight: np.ndarray
    slopes: np.ndarray

    @classmethod
    def of(cls, run: Run, times: ArrayLike) -> Sampling:
        """Times on a run.

        Raises
        ------
        CaseError
            If one is no number, or outside the run.
        """
        times, same = np.asarray(times, dtype=float), numerics.SAME_TIME * finest(run.settings["step"])
        steps = run.tape.records.steps()
        moving = np.flatnonzero(steps.h > 0)
        outside = times[~((times >= run.t[0] - same) & (times <= run.t[-1] + same) & (len(moving) > 0))]
        if len(outside):
            raise CaseError(f"sample time {outside[0]:g} s is outside the run ({run.t[0]:g} to {run.t[-1]:g} s)")
        chosen = moving[np.searchsorted(run.t[steps.k[moving] + 1], times - same)]
        k, part = steps.k[chosen], np.clip((times - run.t[steps.k[chosen]]) / steps.h[chosen], 0.0, 1.0)
        found = list(_between(run, k, steps.method[chosen]))
        q = max((between.at.shape[1] for _, between, _ in found), default=2)
        at, clock = np.repeat(k[:, None], q, axis=1), np.full((len(k), q), GRID)
        weight, slopes = np.zeros((len(k), q)), np.zeros((len(k), q, q))
        for rows, between, clocks in found:
            own = between.at.shape[1]
            at[rows, :own], clock[rows, :own], weight[rows, :own] = between.at, clocks, between.weights(part[rows])
            slopes[rows, :own, :own] = between.slopes()
        return cls(at, clock, weight, slopes)

    def values(self, r: np.ndarray) -> np.ndarray:
        """Values at the times, (samples,), from those at all points of the run, (points,)."""
        return (self.weight * r[self.at]).sum(axis=1)

    def moved(self, r: np.ndarray) -> np.ndarray:
        """Derivatives of values at the times in the times of their points, (samples, q); `r` are those there."""
        return -self.weight * np.einsum("ijl,il->ij", self.slopes, r)

    def take(self, r: np.ndarray, value: float, slope: np.ndarray, moving: bool) -> Taken:
        """A number of samples of `r` from its derivatives in them, (samples,)."""
        weight = np.zeros(len(r))
        np.add.at(weight, self.at, slope[:, None] * self.weight)
        return Taken(value, weight, _named(self.clock, slope[:, None] * self.moved(r[self.at])) if moving else [])


def _between(run: Run, k: np.ndarray, method: np.ndarray) -> Iterator[tuple[np.ndarray, Between, np.ndarray]]:
    """Of steps that begin at points `k`, method by method: which, what is between their ends, the clocks of points."""
    for number in np.unique(method):
        rows = np.flatnonzero(method == number)
        between = made_by(run.tape.methods[number]).between(run.tape, k[rows])
        first = between.at.min()
        yield rows, between, run.tape.point_clock.part(first, between.at.max() + 1)[between.at - first]


def _named(clocks: np.ndarray, amounts: np.ndarray) -> list[tuple[int, float]]:
    """Of the clocks that are not the grid, each with its amount."""
    return list(zip(clocks[clocks != GRID].tolist(), amounts[clocks != GRID].tolist(), strict=True))
