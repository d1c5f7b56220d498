"""A step of a backward differentiation formula, linearised.

    A dX1 = m sum(beta_i dX_i) + c Fp dP + sum(D_i (dT1 - dT_i)) + c Ft dT1,        A = m - c J

with ``c = b`` in differential rows and -1 elsewhere, and ``D_i = m (sum_j(dbeta_j/dd_i X_j) + db/dd_i f1)``: how the
equations move with the distance of point i. Where the slope counts with which the history begins, at the last of the
points, there is ``a m (J0 dX0 + Fp0 dP + Ft0 dT0)`` besides, and ``m da/dd_i f0`` in ``D_i``.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gridcore.equations.native import Library
from gridcore.integrate import Linearised, StepOperator
from gridcore.linear import products
from gridcore.tape import GRID, Step, Steps, Tape
from gridcore_stretch import Sums

from .formula import NEAR, chosen, formula, slopes
from .orders import Orders

MOST = 6  # points that a formula has, as in bdf.c


class Chain:
    """The steps of a tape, and which of them follow each other without a new start."""

    def __init__(self, tape: Tape, orders: Orders):
        self.tape, self._steps, self._highest = tape, (steps := tape.records.steps()), orders.highest
        self._follows = np.append(False, (np.diff(steps.k) == 1) & (np.diff(steps.method) == 0))
        number = np.arange(len(self._follows))
        self._known = number + 1 - np.maximum.accumulate(np.where(self._follows, 0, number))  # points before the end
        t = tape.t[steps.k]
        self._orders = orders.of(t, t[number + 1 - self._known])
        moved, none = steps.start != GRID, steps.h == 0
        self._moved, self._none = np.append(0, np.cumsum(moved & ~none)), np.append(0, np.cumsum(none))  # before each

    def before(self, record: Step) -> tuple[list[int], bool, int]:
        """The points of which a step is made, latest first, as many as there are for its order, whether the history
        begins with the last of them, and that order.
        """
        points, number, h = [record.k], int(np.searchsorted(self._steps.k, record.k)), self._steps.h
        order = int(self._orders[number])
        while self._follows[number] and len(points) <= self._highest:
            number -= 1
            if h[number] > 0:  # and no step of no length, of which the end counts
                points.append(int(self._steps.k[number]))
        taken = chosen([self.tape.times[k] for k in points], order + 1)
        return [points[each] for each in taken], taken[-1] == len(points) - 1, order

    def sums(self, steps: Steps, start: int, loops: Any) -> Sums:
        """Steps in a row. Plain are those that begin with no slope but their own, and are made of points of the grid
        but for the first of a history; none are, where there are no loops in C.
        """
        number, highest = np.searchsorted(self._steps.k, steps.k[0]) + np.arange(len(steps.k)), self._highest
        known = np.minimum(self._known[number], highest + 1)
        first, count = number + 1 - known, len(steps.k)
        moved, none = (of[number + 1] - of[first] for of in (self._moved, self._none))
        begun = (known == self._known[number]) & (moved == 1) & (self._moved[first + 1] > self._moved[first])
        plain = (none == 0) & ((moved == 0) | begun) & bool(loops)
        b, a, beta, moves = np.zeros(count), np.zeros(count), np.zeros((count, MOST)), np.zeros((count, MOST + 1))
        if not plain.any():
            return Sums(b, a, beta, plain=plain)
        arrays = self.tape.t[steps.k[0]:], known, self._orders[number], b, a, beta, moves
        loops["formulas"](highest, start, NEAR, count, *map(Library.place, arrays))
        moves[~begun] = 0.0
        plain &= ((a == 0) | (known == 1)) & ~np.isnan(moves[:, -1])
        clock = int(self._steps.start[first[begun][0]]) if begun.any() else GRID
        return Sums(b, a, beta, plain=plain, moves=moves, clock=clock)


class BdfOperator(StepOperator):
    """Tangent and transpose of a step; the first of the points it is made of is its start."""

    def __init__(self, record: Step, points: Linearised, made_of: list[int], begun: bool, order: int):
        super().__init__(record, points)
        self._made_of, self._begun, self.past = made_of, begun, tuple(made_of[1:])
        t, self.p1 = points.tape.times, points.point(record.k + 1)
        self._d = [t[record.k + 1] - t[k] for k in made_of]
        self._order = order
        b, self._beta, self._a = formula(self._d, order, begun)
        self.of = points.coefficients(self.p1, b, self._a)
        self.start = points.point(made_of[-1]) if self._a else self.p1
        self.lu = self.factors(self.p1, self.of)

    @cached_property
    def moves(self) -> np.ndarray:
        """``D``, a row a point, (points, n)."""
        of_b, of_beta, of_a = slopes(self._d, self._order, self._begun)
        X = np.array([self.points.state(k) for k in self._made_of])
        moved = np.einsum("kp,kn->pn", of_beta, X - X[0])
        return self.of.m * (moved + np.outer(of_b, self.p1.F) + np.outer(of_a, self.start.F))

    @cached_property
    def since(self) -> np.ndarray:
        """Less how the equations move with the time of each point, (points, n)."""
        if not self._a:
            return self.moves
        moves = self.moves.copy()
        moves[-1] -= self.of.early * self.start.Ft
        return moves

    @cached_property
    def end(self) -> np.ndarray:
        """How the equations move with the time of the end, (n,)."""
        return self.moves.sum(axis=0) + self.of.c * self.p1.Ft

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        of = [(dX, dT0), *self.before]
        first, known = of[-1][0], np.zeros_like(dX)
        for beta, (each, _) in zip(self._beta, of, strict=True):
            known += beta * each
        right = self.points.forward(self.of, self.start, self.p1, first if self._a else known, dP)
        if self._a and len(of) > 1:
            right += self.of.m * (known - first)
        for number, (_, dT) in enumerate(of):
            if dT.any():
                right -= np.outer(dT, self.since[number])
        if dT1.any():
            right += np.outer(dT1, self.end)
        return self.lu.solve(right)

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = self.lu.tsolve(np.array(adjoint, order="C"))
        first = self.points.transpose(self.of, self.start, self.p1, w, aP)
        known = self.of.m * w if self._a else first
        clocks = [self.points.tape.point_clock[k] for k in self._made_of]
        still = np.zeros(len(w))
        of = [(beta * known, -products(w, self.since[number]) if clock else still)
              for number, (beta, clock) in enumerate(zip(self._beta, clocks, strict=True))]
        if self._a:
            of[-1] = first + (self._beta[-1] - 1) * known, of[-1][1]
        self.before = of[1:]
        return *of[0], products(w, self.end) if self.record.end else still

    def slope(self) -> np.ndarray:
        return self.lu.solve(self.end.copy())
