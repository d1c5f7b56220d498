"""The step of TR-BDF2: a trapezoidal stage, then one of the second backward differentiation formula.

    x1 = x0 + alpha h (f0 + f1),               0 = g1        at t + gamma h
    x2 = a x1 + (1 - a) x0 + alpha h f2,       0 = g2        at t + h

With ``gamma = 2 - sqrt(2)``, ``alpha = gamma / 2``, ``a = 1 / (gamma (2 - gamma))`` both stages solve with one matrix,
``m - alpha h m J``; the method is of order two, L-stable and stiffly accurate: what oscillates too fast for the step is
gone at its end, where the trapezoidal rule lets it ring. R. E. Bank et al., IEEE Trans. CAD 4(4), 1985; M. E. Hosea and
L. F. Shampine, Applied Numerical Mathematics 20, 1996, section 2.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from gridcore.equations import Batches, Workspace
from gridcore.integrate import Advance, Linearised, Stretched, parabola
from gridcore.linear import Newton
from gridcore.tape import Step, Steps
from gridcore_stretch import Summed, Sums

from .coefficients import ALPHA, ERROR, GAMMA, A
from .many import Many
from .operator import TrBdf2Operator
from .stages import Stages

# Factors serve a step whose length differs by less than this fraction: they only precondition.
_SAME_H = 1e-3
# The next step begins on the parabola through this one if it is no longer than so many of its lengths: farther out a
# fast mode, which bends the parabola, leads astray.
_FARTHEST = 4.0


class TrBdf2(Summed):
    """Stepper of TR-BDF2. It has no options."""

    name = "trbdf2"
    order = 2

    def __init__(self, step: float):
        self._ws: Workspace | None = None
        self._of_stages: Newton | None = None
        self._again: Stages | None = None

    def restart(self, ws: Workspace, t: float) -> None:
        """No history, no factors."""
        if ws is not self._ws:
            self._ws, self.newton = ws, Newton(ws)
            self._X0, self._X1, self._f0 = (np.zeros(ws.n) for _ in range(3))
            self._many = Many(ws, self._X0, self._X1, self._f0, _FARTHEST)
        self.newton.renew()
        self._many.stretch.renew()
        self.switch(ws, t, jumped=True)

    def switch(self, ws: Workspace, t: float, jumped: bool) -> bool:
        """Of history and factors only the pivots are kept; it needs none to choose its steps."""
        ws.mass[:] = ws.differential
        self.newton.jumped()
        self._many.stretch.jumped()
        self._begun = self._reached = t
        self._h_factored = 0.0
        return not jumped

    def advance(self, t: float, target: float) -> Advance:
        """One step to `target`."""
        ws = self._ws
        assert ws is not None
        X, h, last = ws.X.copy(), target - t, self._reached - self._begun
        if t == self._reached and h <= _FARTHEST * last:
            stage, end = (_extrapolated(self._X0, self._X1, X, s * h / last) for s in (GAMMA, 1.0))
            growth = _growth(h / last)
        else:
            stage, end, growth = X, X, 1 / GAMMA
        self._begun, self._X0[:], self._f0[:] = t, X, ws.rhs()
        self._solve_stage(target, stage)
        self._solve_end(target, end + growth * (self._X1 - stage))
        return Advance(target)

    def stretch(self, t: float, ends: np.ndarray, most: int, guards: Batches, sides: np.ndarray,
                choice: dict[str, float] | None = None) -> Stretched | None:
        """Several steps in which nothing happens; of small systems."""
        if self.newton.keeps:
            return None
        made, self._begun, self._reached = self._many.go(
            self._begun, self._reached, t, ends, most, guards, sides, choice)
        return made

    def state_at(self, t: float) -> None:
        """The step from where it began to `t`."""
        assert self._ws is not None
        X, before = self._ws.X.copy(), self._reached - self._begun  # which is none where it was ended at its start
        part = (t - self._begun) / before if before else 0.0
        self._solve_stage(t, self._X0 + part * (self._X1 - self._X0))
        self._solve_end(t, X)

    def _solve_stage(self, t: float, guess: np.ndarray) -> None:
        """The first stage of the step that ends at `t`."""
        ws, h = self._ws, t - self._begun
        assert ws is not None
        if abs(h - self._h_factored) > _SAME_H * h:
            self.newton.forget()
            self._h_factored = h
        ws.X[:], ws.Z[-1] = guess, self._begun + GAMMA * h
        ws.c[:] = np.where(ws.mass, ALPHA * h, -1.0)
        ws.base[:] = ws.mass * (self._X0 + ALPHA * h * self._f0)
        self.newton.solve()
        self._X1[:] = ws.X

    def _solve_end(self, t: float, guess: np.ndarray) -> None:
        """The second stage, with the matrix of the first."""
        ws = self._ws
        assert ws is not None
        ws.X[:], ws.Z[-1] = guess, t
        ws.base[:] = ws.mass * (A * self._X1 + (1 - A) * self._X0)
        self.newton.solve()
        self._reached = t

    def interpolate(self, record: Step, points: Linearised, t: np.ndarray) -> np.ndarray:
        """The parabola through start, stage and end: the second formula makes it end with the slope there."""
        return parabola(record, points, t)

    def local_error(self) -> np.ndarray:
        """By the embedded formula, with slopes as the stages have them; solved with their matrix, which damps what is
        stiff, as the method does, and lets algebraic variables follow.
        """
        ws, implicit = self._ws, ALPHA * (self._reached - self._begun)
        assert ws is not None
        stage = (self._X1 - self._X0) / implicit - self._f0
        end = (ws.X - A * self._X1 - (1 - A) * self._X0) / implicit
        a, b, c = ERROR
        return self.newton.lu.solve(ws.mass * (implicit / ALPHA * (a * self._f0 + b * stage + c * end)))

    def operator(self, record: Step, points: Linearised) -> TrBdf2Operator:
        """The step of a record, linearised; its stages are solved by one iteration for all, so that pivots serve on."""
        if self._of_stages is None or self._of_stages.ws is not points.ws:
            self._of_stages = Newton(points.ws)
        return TrBdf2Operator(record, points, self._of_stages)

    def sums(self, steps: Steps, sweep: Any) -> Sums:
        """Of the trapezoidal rule to the stage, and of the backward differentiation formula on that and the start."""
        implicit, one = ALPHA * steps.h, np.ones(len(steps.h))
        early, beta = np.stack([implicit, 0 * one], axis=1), np.stack([one, 0 * one, A * one, (1 - A) * one], axis=1)
        return Sums(implicit.repeat(2), early.ravel(), beta.reshape(-1, 2), self._stages)

    def _stages(self, ws: Workspace, t: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._again is None or self._again.ws is not ws:
            self._again = Stages(ws)
        return self._again(t, X)

    @property
    def iterations(self) -> int:
        """Of Newton's method, so far."""
        return self.newton.iterations + self._many.stretch.iterations if self._ws is not None else 0

    @property
    def counters(self) -> Counter[str]:
        """Work done."""
        return self.newton.counters() + self._many.stretch.counters if self._ws is not None else Counter()


def _extrapolated(X0: np.ndarray, X1: np.ndarray, X2: np.ndarray, s: float) -> np.ndarray:
    """The parabola through start, stage and end of a step, at `s` of its lengths beyond its end."""
    slope, early = (X2 - X1) / (1 - GAMMA), (X1 - X0) / GAMMA
    return X2 + s * slope + s * (s + 1 - GAMMA) * (slope - early)


def _growth(s: float) -> float:
    """How many times the error of this parabola at the stage of a step, `s` times as long, is that at its end."""
    def cubic(s: float) -> float:
        return s * (s + 1 - GAMMA) * (s + 1)

    return cubic(s) / cubic(GAMMA * s)
