"""Steps of the backward differentiation formulas, each through the points of those before it.

    x1 = sum(beta_i x_i) + b f(t1, x1, y1),        0 = g(t1, x1, y1)

The coefficients (:mod:`.formula`) are those of the points as they lie, so that steps may have any length: K. E. Brenan,
S. L. Campbell, L. R. Petzold, Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations, 1996,
chapter 5. A run begins with order one or two, at t0 and after each event; it is one higher with each point more that
there is, up to the highest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gridcore.equations import Batches, Workspace
from gridcore.errors import CaseError, ConvergenceError
from gridcore.integrate import Advance, Between, Crossing, Linearised, Stretched
from gridcore.linear import Newton
from gridcore.tape import Resolve, Step, Steps, Tape
from gridcore_stretch import Summed, Sums, following, on_bent_path

from .between import polynomials
from .operator import BdfOperator, Chain
from .orders import HIGHEST, Orders
from .past import Past, loops


class Bdf(Summed):
    """Stepper of the backward differentiation formulas.

    Parameters
    ----------
    step : float
        The grid's step (s), of which it needs to know nothing.
    order : int or sequence of (float, int)
        The highest, from 1 to 5; or pairs (from time, order) where others follow it, each until the next one or the
        next event, as where steps are chosen.
    start : int
        That of the first step: 1, backward Euler, which damps what is faster than the step; or 2, the trapezoidal rule,
        which does not, and without that is much more accurate.

    Raises
    ------
    CaseError
        If `order` or `start` is not.
    """

    name = "bdf"
    one_step = False
    growth = 2.0
    share = 0.06  # an error goes on in the points of the next steps
    chosen: Mapping[str, Any] = {"start": 2}

    def __init__(self, step: float, order: int | Sequence[Sequence[float]] = HIGHEST, start: int = 1):
        if start not in (1, 2):
            raise CaseError(f"start = {start!r} must be 1 (backward Euler) or 2 (trapezoidal rule)")
        self.orders = Orders(order)
        self.order = self.orders.highest
        self.start = min(int(start), self.order)
        self._ws: Workspace | None = None
        self._chain: Chain | None = None
        self.options: dict[str, Any] = {}

    def restart(self, ws: Workspace, t: float) -> None:
        """No history, no factors."""
        if ws is not self._ws:
            self._ws, self.newton, self.past = ws, Newton(ws), Past(ws, self.orders, self.start)
        self.orders.begin(t)
        self.newton.renew()
        self.past.stretch.renew()
        self.switch(ws, t, jumped=True)

    def switch(self, ws: Workspace, t: float, jumped: bool) -> bool:
        """Slopes jump at events also where variables do not: of what was before only pivots are kept."""
        ws.mass[:] = ws.differential
        self.newton.jumped()
        self.past.stretch.jumped()
        self.past.forget()
        return False

    def begins(self, bend: np.ndarray) -> int:
        """Where the trapezoidal rule leads is compared with a parabola."""
        self.past.bend[:] = bend
        return self.start

    def advance(self, t: float, target: float) -> Advance:
        """One step to `target`, from where the points before it lead."""
        self.past.begin(t)
        self._solve(target, lead=True)
        return Advance(target)

    def stretch(self, t: float, ends: np.ndarray, most: int, guards: Batches, sides: np.ndarray,
                choice: dict[str, float] | None = None) -> Stretched | None:
        """Several steps in which nothing happens; of small systems, whose factors go with the length of a step."""
        if choice is not None:
            self.orders.choose(t, most)
            self.past.tolerate(choice["share"] * choice["rtol"])
        made = None if self.newton.keeps else self.past.stretch.go(t, ends, most, guards, sides, choice)
        self.order = self.past.order
        self._tell()
        return made

    def _tell(self) -> None:
        """What steps are repeated with, in the option that the tape has."""
        if (pairs := self.orders.news()) is not None:
            self.options["order"] = pairs

    def state_at(self, t: float) -> None:
        """The step from where it began to `t`."""
        self._solve(t)

    def _solve(self, t: float, lead: bool = False) -> None:
        """Solve the equations of the step to `t`."""
        self.newton.at(self.past.equations(t, lead))
        self.order = self.past.order
        self.newton.solve(evaluated=True)

    def between(self, tape: Tape, k: np.ndarray) -> Between:
        """Polynomials of the degree of the highest order."""
        switched = [record.k for record in tape.records.others if isinstance(record, Resolve)]
        return polynomials(tape.t, switched, k, self.orders.highest)

    def end_at_zero(self, t: float, guard: Crossing, low: float, high: float, side: float) -> float | None:
        """The step from where it began, to where a guard is zero."""
        def equations(t: float) -> None:
            self.past.equations(t, lead=False)

        if self.newton.keeps:  # an iteration costs more than a better guess
            t = on_bent_path(self.past.ws, t, guard, lambda t: self.past.curve(low, t, high))
        elif (found := self.past.stretch.end_at_zero(t, guard, low, high, side)) is not None:
            self.order = self.past.order
            return found
        self.newton.at(self.past.equations(t, lead=False))
        try:
            return self.newton.solve_with_time(t, equations, guard, low, high, side)
        except ConvergenceError:  # the guess may be where the equations are singular, and the crossing elsewhere
            return None

    def local_error(self) -> np.ndarray:
        """By what the step is off where it was led to; of algebraic variables what follows from it, if that is more."""
        past = self.past
        self.orders.choose(past.begun, 1)
        self._tell()
        error, follow = past.error()
        return following(self.newton, error) if follow else error

    def operator(self, record: Step, points: Linearised) -> BdfOperator:
        """The step of a record, linearised."""
        made_of, begun, order = self._of(points.tape).before(record)
        return BdfOperator(record, points, made_of, begun and self.start == 2, order)

    def _of(self, tape: Tape) -> Chain:
        """The steps of a tape, one after the other."""
        if self._chain is None or self._chain.tape is not tape:
            self._chain = Chain(tape, self.orders)
        return self._chain

    def sums(self, steps: Steps, sweep: Any) -> Sums:
        """But for the first step after an event."""
        return self._of(sweep.replay.tape).sums(steps, self.start, loops(sweep.replay.ws.runtime))

    @property
    def iterations(self) -> int:
        """Of Newton's method, so far."""
        return self.newton.iterations + self.past.stretch.iterations if self._ws is not None else 0

    @property
    def counters(self) -> Counter[str]:
        """Work done."""
        return self.newton.counters() + self.past.stretch.counters if self._ws is not None else Counter()
