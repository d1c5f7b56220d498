"""The theta method: fixed steps, events located on the discretised path itself.

    R_x = x+ - x - h [(1 - theta) f(t, X) + theta f(t + h, X+)] = 0
    R_y = g(t + h, X+) = 0

theta = 1/2 is the trapezoidal rule, theta = 1 backward Euler. Algebraic equations are collocated at
the end of the step, not averaged.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ...errors import CaseError, ConvergenceError
from ...linear.newton import Newton
from ..driver import Outcome
from ..guards import Watch
from ..locate import locate
from ..round_off import visible
from .predictor import Path

if TYPE_CHECKING:
    from ...system.system import System

# Factors serve a step whose length differs by less than this fraction: they only precondition.
_SAME_H = 1e-3
# Attempts to find an event before the end of a step where Newton's method does not converge.
_HALVINGS = 20


class Theta:
    """Stepper of the theta method.

    Parameters
    ----------
    system : System
    step : float
        The grid's step (s); a step is shorter where an event ends or begins it.
    theta : float
        Between 0.5 and 1.
    """

    def __init__(self, system: System, step: float, theta: float = 0.5):
        if not 0.5 <= theta <= 1:
            raise CaseError(f"theta = {theta!r} must be from 0.5 (trapezoidal) to 1 (backward Euler)")
        self.system, self.h_grid, self.theta = system, step, theta
        self.newton = Newton(system)
        n = system.n
        self.path = Path(system.assembly)
        self._h_factored = 0.0
        self._differential = np.zeros(n, dtype=bool)
        self._gamma: np.ndarray | None = None
        self._stale = True

    @property
    def counters(self) -> Counter[str]:
        """Work done."""
        return self.newton.counters()

    def restart(self) -> None:
        """Modes or parameters have changed: no history, no factors."""
        self._stale = True

    def step(self, t: float, target: float, watch: Watch) -> Outcome:
        """One step to `target`, or to the first guard that fires before it."""
        assembly, h = self.system.assembly, target - t
        if self._stale:
            self._begin(watch)
        self.path.begin(h, self.theta < 1)
        h = self._solve_or_shorten(t, h, watch)
        gamma, fired = self._gamma, np.zeros(0, dtype=int)
        if len(watch):
            gamma = self.system.switching.values(assembly.Z)
            fired = watch.fired(gamma)
            if len(fired):  # what rests at zero but for round-off has not crossed it
                assert self._gamma is not None
                size = np.maximum(np.abs(gamma), np.abs(self._gamma))[fired]
                fired = fired[visible(self.newton, fired, size, relative=True)]
            if len(fired):
                h, fired, gamma = self._first(t, h, fired, gamma, watch)
        self._remember(h)
        self._gamma = gamma
        reached = target if h == target - t else t + h
        assembly.Z[-1] = reached
        return Outcome(reached, fired, gamma if gamma is not None else np.zeros(0))

    def _solve_or_shorten(self, t: float, h: float, watch: Watch) -> float:
        """Solve a step of length `h`, or a part of it in which a guard fires; returns its length.

        Where there is no solution at the end of a step, an event may come before.
        """
        try:
            self.solve(t, h)
            return h
        except ConvergenceError:
            X, low, high = self.path.X0.copy(), 0.0, h
            for _ in range(_HALVINGS if len(watch) else 0):
                part = 0.5 * (low + high)
                self.system.assembly.X[:] = X
                try:
                    self.solve(t, part)
                except ConvergenceError:
                    high = part
                    continue
                if len(watch.fired(self.system.switching.values(self.system.assembly.Z))):
                    return part
                low, X = part, self.system.assembly.X.copy()
            raise

    def _begin(self, watch: Watch) -> None:
        self._differential = self.system.differential(self.system.assembly.Z)
        self.system.assembly.mass[:] = self._differential
        self.path.forget()
        self._h_factored = 0.0
        self._gamma = self.system.switching.values(self.system.assembly.Z) if len(watch) else None
        self.newton.renew()
        self._stale = False

    def _remember(self, h: float) -> None:
        """Keep the slope of the step; a tiny one says nothing, and ends what is remembered."""
        if h <= 1e-3 * self.h_grid:
            self.path.forget()
        else:
            self.path.end(h)

    def prepare(self, t: float, h: float) -> np.ndarray:
        """Set the equations of a step of length `h`; returns ``phi = -dR/dh`` and R at the present X, (2, n)."""
        assembly = self.system.assembly
        assembly.Z[-1] = t + h
        self._set(h)
        assembly.residual()
        out = np.empty((2, assembly.n))
        self.path.phi(self.theta, out[0])
        slope = self.system.time_slope()
        if slope is not None:  # the equations at the end of the step move with it
            out[0] += assembly.c * slope
        out[1] = assembly.R
        return out

    def _set(self, h: float) -> None:
        self.path.equations(h, self.theta)

    def solve(self, t: float, h: float) -> None:
        """Solve a step of length `h` from the X that stands in the assembly."""
        self.system.assembly.Z[-1] = t + h
        self._set(h)
        if abs(h - self._h_factored) > _SAME_H * h:
            self.newton.forget()
            self._h_factored = h
        self.newton.solve()

    def _first(self, t: float, h: float, fired: np.ndarray, gamma: np.ndarray,
               watch: Watch) -> tuple[float, np.ndarray, np.ndarray]:
        """End the step at the first of the guards that fired within it.

        The one that is first on straight lines is located; then those that are across there already.
        """
        assembly, values = self.system.assembly, self.system.switching.values
        assert self._gamma is not None
        before, first, X = self._gamma, -1, assembly.X.copy()
        while len(fired):
            guard = int(fired[np.argmin(before[fired] / (before[fired] - gamma[fired]))])
            found = locate(self, t, h, guard, float(before[guard]), float(gamma[guard]))
            if found < h or first < 0:
                h, first, X = found, guard, assembly.X.copy()
                assembly.Z[-1] = t + h
                now = values(assembly.Z)
                fired, gamma = fired[(fired != guard) & (now[fired] * gamma[fired] > 0)], now
                if len(fired):
                    fired = fired[visible(self.newton, fired, now[fired])]
            else:  # what round-off took for earlier
                fired = fired[fired != guard]
                assembly.X[:] = X
        assembly.X[:] = X
        assembly.Z[-1] = t + h
        self._h_factored = 0.0
        return h, np.array([first]), values(assembly.Z)
