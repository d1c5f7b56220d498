"""The order that a step has at most: the highest, or from a time on another, until the next start.

BDF of order 5 damps an oscillation of angular frequency w by steps h up to ``h w = 0.75``, and lets it grow beyond;
order 2 damps it by all. So a swing that has died out keeps steps of a high order short: they grow until it does. Where
steps are chosen, the points tell. Differences of them over those of two orders less are the square of ``h w`` of what
changes fastest; where that is too large for some while, and steps do not grow, order 2 goes on. A higher one is taken
where, by its error, its steps are much longer, and short enough for what was too fast for it. With the divided
difference D of q + 2 points the error of order q is ``D b prod(d_i)``: E. Hairer, S. P. Nørsett, G. Wanner, Solving
Ordinary Differential Equations I, 1993, section III.7. Each change stands on the tape, in the option `order` of the
method.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gridcore.equations.native import Library
from gridcore.errors import CaseError

from .formula import extrapolation, plain

if TYPE_CHECKING:
    from .past import Past

HIGHEST, STABLE = 5, 2  # the latter for every oscillation
# As in bdf.c: steps between looks; radians per step that are too many for an order, in so many looks in a row, between
# which steps have not grown by more than that; those for which it may be taken again, if its steps are so much longer;
# and differences of points, of scale + |X|, that are more than round-off.
_EVERY, _FAST, _OFTEN, _GROWN, _SLOW, _LONGER, _TOLD = 6, 0.7, 3, 1.3, 0.6, 2.0, 1e-11
_ROOM = 64


class _Now(ctypes.Structure):
    """As ``bdf.c`` has it."""

    _fields_ = [*((name, ctypes.c_long) for name in "order chooses changes at steps looks".split()),
                *((name, ctypes.c_double) for name in "began length".split()),
                ("fast", (HIGHEST + 1) * ctypes.c_double), ("times", ctypes.c_void_p), ("orders", ctypes.c_void_p)]


class Orders:
    """The highest order, and at which times it becomes another.

    Parameters
    ----------
    order : int or sequence of (float, int)
        The highest, or pairs (from time, order): the first with the highest, to which each start comes back.

    Attributes
    ----------
    now : ctypes.Structure
        The order of the step that began last, and what the next one is chosen by.

    Raises
    ------
    CaseError
        If it is not.
    """

    def __init__(self, order: int | Sequence[Sequence[float]]):
        try:
            pairs = order if isinstance(order, Sequence) else [(math.inf, order)]
            times, orders = [float(t) for t, _ in pairs], [int(of) for _, of in pairs]
            right = orders == [of for _, of in pairs] and 1 <= min(orders) and max(orders) == orders[0] <= HIGHEST
        except (TypeError, ValueError, OverflowError):
            right = False
        if not right or not all(before < t for before, t in pairwise(times)):
            raise CaseError(f"order = {order!r} must be a whole number from 1 to {HIGHEST}, or pairs (from time, "
                            "order), of which none has a higher order than the first")
        self.highest, self._from, self._told = orders[0], times[0], len(orders) - 1  # of changes
        self._times, self._orders = np.array(times[1:]), np.array(orders[1:], "l")
        self.now = _Now(order=self.highest, changes=self._told)
        self._reserve(0)

    def begin(self, t: float) -> None:
        """A run begins, or goes on, at `t`."""
        self._from = min(self._from, t)

    def choose(self, t: float, steps: int) -> None:
        """Steps are chosen from `t` on, the next ones may be so many: their orders are, too, and those that were said
        to follow are not.
        """
        if not self.now.chooses:
            self.now.chooses, self._told = True, -1
            self.now.changes = np.count_nonzero(self._times[: self.now.changes] <= t)
        self._reserve(steps)

    def _reserve(self, steps: int) -> None:
        if (more := self.now.changes + steps // _EVERY + 1 - len(self._times)) > 0:
            room = np.zeros(more + _ROOM)
            self._times, self._orders = np.append(self._times, room), np.append(self._orders, room.astype("l"))
            self.now.times, self.now.orders = Library.place(self._times), Library.place(self._orders)

    def news(self) -> int | list[list[float]] | None:
        """The option as it is now; None if it is as it was."""
        changes = self.now.changes
        if changes == self._told:
            return None
        self._told = changes
        pairs = [[float(t), int(order)] for t, order in zip(self._times[:changes], self._orders[:changes], strict=True)]
        return [[self._from, self.highest], *pairs] if pairs else self.highest

    def of(self, begins: np.ndarray, since: np.ndarray) -> np.ndarray:
        """Those of steps that begin at these times, in histories that begin at others."""
        changes = self.now.changes
        at = np.searchsorted(self._times[:changes], begins, side="right") - 1
        return np.where((at >= 0) & (self._times[at] > since), self._orders[at], self.highest)

    def decide(self, past: Past, t: float) -> None:
        """The order of the step that begins at `t`: as it was chosen, or is chosen by the points before it."""
        now, known = self.now, past.rows[: past.rows[-1]]
        if not len(known):
            now.order, now.at, now.steps, now.looks, now.began = self.highest, 0, 0, 0, t
            now.fast[:] = (HIGHEST + 1) * [0.0]
        elif not now.chooses:
            now.order = int(self.of(np.array([t]), np.array([now.began]))[0])
        elif len(known) > self.highest > STABLE:
            now.steps += 1
            if now.steps >= _EVERY:
                now.steps = 0
                self._look(past, t, t - past.times[known])

    def _look(self, past: Past, t: float, d: np.ndarray) -> None:
        now, q, h = self.now, self.now.order, float(d[0])
        if (better := self._longer(past, d)) > q:
            self._change(t, better)
            return
        before, fast = _off(past, d[: q - 1]) if q > STABLE else 0.0, 0.0
        if before > _TOLD:
            fast = math.sqrt((q + 1) * q * _off(past, d[: q + 1]) / (before * float(d[q] * d[q - 1])))
        if not (h * fast > _FAST and (not now.looks or h < _GROWN * now.length)):
            now.looks = 0
            return
        now.length = now.length if now.looks else h
        now.looks += 1
        if now.looks < _OFTEN:
            return
        now.looks, now.fast[q] = 0, fast
        self._change(t, STABLE)

    def _longer(self, past: Past, d: np.ndarray) -> int:
        """A higher order that allows much longer steps by its error, for which it is stable; 0 if there is none."""
        now, h, better, longest = self.now, float(d[0]), 0, _LONGER
        error = _error(past, d, now.order) if now.order < self.highest else 0.0
        for q in range(now.order + 1, self.highest + 1):
            of_order = _error(past, d, q)
            by = (error / of_order) ** (1 / (q + 1)) if of_order else 0.0
            if by > longest and h * by * now.fast[q] < _SLOW:
                better, longest = q, by
        return better

    def _change(self, t: float, order: int) -> None:
        now = self.now
        self._times[now.changes], self._orders[now.changes] = t, order
        now.order, now.changes = order, now.changes + 1


def _off(past: Past, d: np.ndarray) -> float:
    """How far what stands in the workspace is off the polynomial through points: the largest part of scale + |X|."""
    ws = past.ws
    leads = np.dot(extrapolation(d.tolist()), past.points[past.rows[: len(d)]])
    return float(np.max(np.abs(ws.X - leads) / (ws.scale + np.abs(ws.X))))


def _error(past: Past, d: np.ndarray, order: int) -> float:
    """That of a formula of this order at the end of the last step."""
    return _off(past, d[: order + 1]) * plain(d[:order].tolist())[0] / float(d[order])
