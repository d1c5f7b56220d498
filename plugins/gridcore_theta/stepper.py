"""The theta method: steps of given length, events located on the discretised path itself.

    R_x = x+ - x - h [(1 - theta) f(t, X) + theta f(t + h, X+)] = 0
    R_y = g(t + h, X+) = 0

theta = 1/2 is the trapezoidal rule, theta = 1 backward Euler. Algebraic equations are collocated at
the end of the step, not averaged. The derivative of the step is in :mod:`.operator`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from gridcore.equations import Batches, Workspace
from gridcore.errors import CaseError, ConvergenceError
from gridcore.integrate import Advance, Crossing, Linearised, Stretched, parabola
from gridcore.linear import Newton
from gridcore.tape import Step, Steps
from gridcore_stretch import Summed, Sums, following, on_bent_path

from .ahead import fires_for_certain
from .operator import ThetaOperator
from .predictor import EVERY, SMALL, TINY_STEP, TOO_LARGE, Predictor


class StepWarning(UserWarning):
    """Steps are too long for what happens in them."""


class Theta(Summed):
    """Stepper of the theta method.

    Parameters
    ----------
    step : float
        The grid's step (s), of which it needs to know nothing.
    theta : float
        Between 0.5 and 1.

    Raises
    ------
    CaseError
        If `theta` is not.
    """

    name = "theta"

    def __init__(self, step: float, theta: float = 0.5):
        if not 0.5 <= theta <= 1:
            raise CaseError(f"theta = {theta!r} must be from 0.5 (trapezoidal) to 1 (backward Euler)")
        self.theta, self.end_weight, self.order = theta, theta, 2 if theta == 0.5 else 1
        self.error_estimate = 0.0
        self.ws: Workspace | None = None

    def restart(self, ws: Workspace, t: float) -> None:
        """Modes or parameters may have changed: no history, no factors."""
        if ws is not self.ws:
            self.ws, self.newton, self.predictor = ws, Newton(ws), Predictor(ws)
        self.newton.renew()
        self.predictor.stretches.renew()
        self.switch(ws, t, jumped=True)

    def switch(self, ws: Workspace, t: float, jumped: bool) -> bool:
        """Nearly all equations are as they were: of large systems history and factors are kept; else, or if variables
        jumped, pivots.
        """
        ws.mass[:] = ws.differential
        self._remembered, self._needed, self._due = -1, 3, 0  # of steps since: the one before is yet to be counted
        begins = jumped or not self.newton.keeps
        self.predictor.stretches.jumped()
        if begins:
            self.newton.jumped()
            self._begun = self._reached = t
            self._forget()
        self.predictor.kink()
        return not begins

    def advance(self, t: float, target: float) -> Advance:
        """One step to `target`; of large systems only as far as it takes to know that a guard fires on the way."""
        ws = self.ws
        assert ws is not None
        if t > self._begun and t == self._reached:
            self._remember(t - self._begun, target - t)
        self._begun = t
        self.predictor.begin(target, target - t, self.theta)
        if self.newton.keeps and (fires := fires_for_certain(ws)) and self.newton.approach(target - t, fires):
            self._reached = target
            return Advance(target, rough=True)
        self._solve(target)
        return Advance(target)

    def stretch(self, t: float, ends: np.ndarray, most: int, guards: Batches, sides: np.ndarray,
                choice: dict[str, float] | None = None) -> Stretched | None:
        """Several steps in which nothing happens; of small systems."""
        ws = self.ws
        if ws is None or self.newton.keeps:
            return None
        if t != self._reached:
            return Stretched(np.array([t]), ws.X[None])
        if t > self._begun:
            self._remember(t - self._begun, choice["h"] if choice else float(ends[0]) - t)
            self._begun = t
        due = max(self._due, self._needed - self._remembered)
        found = self.predictor.stretch(due, self.error_estimate, self.theta, t, ends, most, guards, sides, choice)
        if found is None:
            return None
        made, self._begun, remembered, self._due, self.error_estimate = found
        self._remembered += remembered
        self._reached = float(ws.Z[-1])
        return made

    def state_at(self, t: float) -> None:
        """The step from where it began to `t`."""
        assert self.ws is not None
        self.ws.Z[-1] = t
        self.predictor.equations(t - self._begun, self.theta)
        self._solve(t)

    def _solve(self, t: float) -> None:
        """Solve the equations of the step to `t`."""
        self.newton.at(t - self._begun)
        self.newton.solve(evaluated=True)
        self._reached = t

    def end_at_zero(self, t: float, guard: Crossing, low: float, high: float, side: float) -> float | None:
        """The step from where it began, to where a guard is zero."""
        ws = self.ws
        assert ws is not None

        def equations(t: float) -> None:
            ws.Z[-1] = t
            self.predictor.equations(t - self._begun, self.theta)

        def bend(t: float) -> None:
            self.predictor.bend(*(each - self._begun for each in (low, t, high)))

        if self.newton.keeps:  # an iteration costs more than a better guess
            t, found = on_bent_path(ws, t, guard, bend), None
        else:
            bend(t)
            found = self.predictor.end_at_zero(self._begun, self.theta, t, guard, low, high, side)
        if found is None:
            self.newton.at(t - self._begun)
            try:
                found = self.newton.solve_with_time(t, equations, guard, low, high, side)
            except ConvergenceError:  # the guess may be where the equations are singular, and the crossing elsewhere
                return None
        self._reached = self._reached if found is None else found
        return found

    def local_error(self) -> np.ndarray:
        """By Milne's device; algebraic variables follow the differential ones."""
        assert self.ws is not None
        error = self.ws.mass * self.predictor.local_error(self._reached - self._begun, self.theta)
        return following(self.newton, error)

    def _remember(self, h: float, ahead: float) -> None:
        """Keep the slope of the last step; a tiny one says nothing, and ends what is remembered."""
        if h <= TINY_STEP * ahead:
            self._forget()
        else:
            self._remembered += 1
            self._due -= 1
            if self._remembered >= self._needed and self._due <= 0:
                self.estimate(h)
            self.predictor.end(h)

    def _forget(self) -> None:
        """A history begins here: with its first slope the trapezoidal rule needs a step less."""
        self.predictor.forget()
        self._remembered, self._needed = 0, 2 if self.theta == 0.5 else 3

    def estimate(self, h: float) -> None:
        """The local error of the last step, relative to scale + abs(x): the largest of the run is kept."""
        ws = self.ws
        if ws is None:
            return
        error = np.abs(self.predictor.local_error(h, self.theta)) * ws.mass / (ws.scale + np.abs(ws.X))
        worst = int(error.argmax())
        if error[worst] > TOO_LARGE >= self.error_estimate:
            warnings.warn(
                f"a step of {h:g} s is too large for {ws.place(worst)} at t = {ws.Z[-1]:.6g} s: its local error is "
                f"about {100 * error[worst]:.2g} %; try a smaller step (or rtol, by which step='auto' chooses it), or "
                "method trbdf2", StepWarning, stacklevel=2)
        self.error_estimate = max(self.error_estimate, float(error[worst]))
        self._due = EVERY if error[worst] < SMALL else 1

    def interpolate(self, record: Step, points: Linearised, t: np.ndarray) -> np.ndarray:
        """The parabola that ends with the slope of the step's end; with theta = 1 it is a straight line, as the slope.

        With theta = 1/2 it has the slopes of both ends: the collocation polynomial of the trapezoidal rule as Lobatto
        IIIA. E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, section II.7.
        """
        return parabola(record, points, t)

    def operator(self, record: Step, points: Linearised) -> ThetaOperator:
        """The step of a record, linearised."""
        return ThetaOperator(record, points, self.theta)

    def sums(self, steps: Steps, sweep: Any) -> Sums:
        return Sums(self.theta * steps.h, (1 - self.theta) * steps.h, np.ones((len(steps.h), 1)))

    @property
    def iterations(self) -> int:
        """Of Newton's method, so far."""
        return self.newton.iterations + self.predictor.stretches.iterations if self.ws is not None else 0

    @property
    def counters(self) -> Counter[str]:
        """Work done, and the largest local error that was estimated, relative to scale + abs(x)."""
        estimate: Any = {"error_estimate": float(f"{self.error_estimate:.2g}")}
        if self.ws is None:
            return Counter()
        return self.newton.counters() + self.predictor.stretches.counters + Counter(estimate)
