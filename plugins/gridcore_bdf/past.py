"""The points at which the last steps began, and the equations that a step has on them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations import Workspace
from gridcore.equations.native import FALLBACK, Library
from gridcore_stretch import Stretch

from .formula import NEAR, chosen, extrapolation, formula, from_start, share, with_slope
from .orders import Orders

SOURCE = Path(__file__).with_name("bdf.c")
# Algebraic variables follow where they are off by so many times what the others are. But Newton's iteration begins
# where they are led to, which with an error of this part of them is as far away as it may be.
FAR, LED = 10.0, 1e-2


def loops(runtime: Any) -> dict[str, Any]:
    """The functions of ``bdf.c``; none, where there is no compiler."""
    found: dict[str, Any] = runtime.functions(SOURCE, "bdf", remember="pd", equations="pdl", go="pddll d", error="pp l",
                                              ended="pd d", formulas="lldlppppppp")
    return found


class Past:
    """Points for formulas of such orders, from one of order `start`, of the variables of a workspace.

    Attributes
    ----------
    stretch : Stretch
        Steps in which nothing happens.
    led : (n,) array
        Where the points led at the step that was begun last.
    slope, bend : (n,) arrays
        Of variables where the history begins; and how that changes, 0 where it is not known.
    """

    def __init__(self, ws: Workspace, orders: Orders, start: int):
        self.ws, self.orders, self.start, highest = ws, orders, start, orders.highest
        self.led, self.slope, self.bend = np.zeros((3, ws.n))
        self.points, self.times = np.zeros((highest + 1, ws.n)), np.zeros(highest + 1)
        self.rows = np.zeros(highest + 2, dtype="l")  # latest first; the last says how many there are
        self._made, self._least = np.zeros(4), np.ones(1)
        runtime: Any = ws.runtime
        of_c = loops(runtime)
        self._remember, self._equations = of_c.get("remember", _remember), of_c.get("equations", _equations)
        self._error, self._place = of_c.get("error", _error), (Library if of_c else FALLBACK).place
        self._at: Any = self  # what the loops take
        if of_c:
            equations = (ctypes.cast(function, ctypes.c_void_p) for function in (runtime.rhs, runtime.residual))
            self._path = _Path(ws.n, highest, start, NEAR, FAR, *equations, ws.plan, *map(Library.place, (
                ws.Z, ws.Z[-1:], ws.F, ws.mass, ws.c, ws.base, self.points, self.led, self.slope, self.bend,
                self.times, self.rows, ws.scale)), ctypes.addressof(orders.now),
                *map(Library.place, (self._least, self._made)))
            self._at = ctypes.addressof(self._path)
        self.stretch = Stretch(ws, of_c.get("go"), of_c.get("error"), self._at, ended=of_c.get("ended"),
                               starts=start, bend=self.bend)

    def forget(self) -> None:
        """There are no points."""
        self.rows[-1], self.bend[:] = 0, 0.0

    def begin(self, t: float) -> None:
        """A step begins at what stands in the workspace; it may be the one that began last, tried again."""
        if not self.rows[-1] or t != self.times[self.rows[0]]:
            self._remember(self._at, t)

    def equations(self, t: float, lead: bool) -> float:
        """Set those of the step to `t`, and leave their residual; `lead`: X moves to where the points lead, but for the
        first one, which lead algebraic variables nowhere. Returns ``b``.
        """
        self._equations(self._at, t, lead)
        return float(self._made[0])

    def curve(self, low: float, t: float, high: float) -> None:
        """Move X, at `t` on the straight line between ends of the present step at `low` and `high`, off it as the
        polynomial through the points bends.
        """
        known = self.rows[: self.rows[-1]]
        times, part = self.times[known], (t - low) / (high - low)
        nodes = chosen(times.tolist(), self.orders.now.order + 1)
        at_low, here, at_high = (np.array(extrapolation((end - times[nodes]).tolist())) for end in (low, t, high))
        self.ws.X += np.dot(here - (1 - part) * at_low - part * at_high, self.points[known[nodes]])

    @property
    def begun(self) -> float:
        """The time at which the last step began."""
        return float(self.times[self.rows[0]])

    @property
    def order(self) -> int:
        """That of the formula of the last step."""
        return int(self._made[2])

    def tolerate(self, part: float) -> None:
        """Errors may be this part of variables."""
        self._least[:] = part / LED

    def error(self) -> tuple[np.ndarray, bool]:
        """(n,) what the last step is off where it was led to, as its error; and whether algebraic variables follow the
        others: if that is more than what they have here.

        With ``D`` the divided difference of the solution, ``x1 - led = D (b + d) prod(d_i)``, and the error of the
        formula is ``D b prod(d_i)``, where d is the distance of what only the polynomial that led knows. Mostly all of
        it counts: what changes fast is seen in algebraic variables first. Where a slope has led, which they do not
        have, nothing does in them; and a part where they alone are far off: that phasors turn, since the frequency is
        not that of their reference, is no error.
        """
        out = np.empty(self.ws.n)
        return out, self._error(self._at, self._place(out)) < 0


class _Path(ctypes.Structure):
    """As ``bdf.c`` has it."""

    _fields_ = [*((name, ctypes.c_long) for name in ("n", "highest", "start")),
                *((name, ctypes.c_double) for name in ("near", "far")), *((name, ctypes.c_void_p) for name in (
                    "rhs residual plan Z t F mass c base points led slope bend times rows scale orders least "
                    "made".split()))]


def _remember(past: Past, t: float) -> None:
    known = int(past.rows[-1])
    past.orders.decide(past, t)
    row = known
    if known > past.orders.highest:
        known -= 1
        row = int(past.rows[known])
    past.rows[1: known + 1] = past.rows[:known].copy()
    past.rows[0], past.rows[-1], past.times[row] = row, known + 1, t
    past.points[row] = past.ws.X
    if not known and past.start == 2:
        past.slope[:] = past.ws.rhs()


def _equations(past: Past, t: float, lead: bool) -> None:
    ws, known = past.ws, past.rows[: past.rows[-1]]
    times = past.times[known].tolist()
    order = past.orders.now.order
    nodes = chosen(times, order + 1) if t != times[0] else [0]
    d, rows = [t - times[node] for node in nodes], known[nodes]
    begun = past.start == 2 and nodes[-1] == len(times) - 1
    b, beta, along = formula(d, order, begun)
    base = np.dot(beta, past.points[rows]) + along * past.slope
    starts = from_start(d, begun) and share(d)[0] < 1
    if starts:
        d, rows = d[-1:], rows[-1:]
    elif share(d)[0] < 1:
        d, rows = [d[0], *d[2:]], rows[[0, *range(2, len(rows))]]
    if lead:
        past.led[:], by_slope = np.dot(extrapolation(d), past.points[rows]), len(d) <= order
        past._made[1], past._made[3] = d[0] if by_slope else d[-1], by_slope
        if starts:
            np.copyto(past.led, past.led + d[0] * (past.slope + d[0] / 2 * past.bend), where=ws.mass > 0)
        elif by_slope:
            weights, along = with_slope(d)
            np.copyto(past.led, np.dot(weights, past.points[rows]) + along * ws.rhs(), where=ws.mass > 0)
        if len(known) > 1:
            ws.X[:] = past.led
    past._made[0], past._made[2], ws.Z[-1] = b, 2 if starts else min(len(d), order), t
    ws.c[:] = np.where(ws.mass, b, -1.0)
    ws.base[:] = ws.mass * base
    ws.residual()


def _error(past: Past, out: np.ndarray) -> int:
    ws, (b, farther, order, by_slope) = past.ws, past._made.tolist()
    out[:] = (ws.X - past.led) * (b / (b + farther))
    off, differential = np.abs(out) / (ws.scale + np.abs(ws.X)), ws.mass > 0
    others, algebraic = (float(off.max(where=where, initial=0.0)) for where in (differential, ~differential))
    own = 0.0 if by_slope else max(float(past._least[0]), FAR * others / algebraic) if algebraic else 1.0
    if own >= 1:
        return int(order)
    out[~differential] *= own
    return -int(order)
