"""The simulation's side of a solution strategy: theta steps made again, by a Newton that keeps its factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from gridcore.linear import Newton

from .work import Work

if TYPE_CHECKING:
    from gridcore.equations import Workspace

# The iteration of a step also ends when the next correction, at the present rate, is below this part of the tolerance.
_REMAINS = 1e-2
# Corrections below this, relative to scale + abs(x), that no longer shrink are round-off.
_FLOOR = 1e-9
# A correction above this, relative to scale + abs(x), is divergence: the damped iteration takes over.
_DIVERGED = 1e3
_ITERATIONS = 60


class Corrector(Newton):
    """A Newton iteration that keeps its factors from step to step for as long as they converge.

    Attributes
    ----------
    beside : callable or None
        Called before each correction, with the present X in the workspace; returns the size of the correction that
        it made to whatever is iterated beside the state, relative to `tolerance`.
    made : int
        Iterations of the last solve.
    patience : int
        Iterations after which factors are renewed: those that gain less than a digit each are too old.
    """

    def __init__(self, ws: Workspace, tolerance: float):
        super().__init__(ws, loose=False)  # its factors serve sensitivities, too
        self.tolerance, self.work = tolerance, Work(ws, self.lu)
        self.patience = math.ceil(-math.log10(tolerance))
        self.beside: Callable[[], float] | None = None
        self.made = 0

    def adopt(self) -> None:
        """The factors now are those of the step's matrix."""
        self._now.fresh = True

    def factor(self, alike: bool = False) -> None:
        super().factor(alike)
        self.work.jacobian()
        self.work.factor()

    def solve(self, evaluated: bool = False) -> None:
        ws, work, before = self.ws, self.work, 0.0
        start = ws.X.copy()
        if not self._now.fresh:
            self.factor()
        if not evaluated:
            ws.residual()
        work.residual()
        for self.made in range(1, _ITERATIONS + 1):
            beside = self.beside() if self.beside is not None else 0.0
            self.lu.solve(ws.R)
            norm = ws.newton(0.0)
            work.counters["newton_iterations"] += 1
            # what remains after this correction, if the next one is shorter by as much as this one was
            still = (norm <= self.tolerance or norm * norm <= _REMAINS * self.tolerance * (before - norm)
                     or (norm <= _FLOOR and norm > 0.5 * before > 0))
            if still and beside <= 1.0:
                return
            work.residual()
            if not norm < _DIVERGED:
                break
            if self.made % self.patience == 0:
                self.factor()
            before = norm
        ws.X[:] = start
        self.solve_damped()

    def solve_damped(self) -> None:
        before = self.iterations
        super().solve_damped()
        made = self.iterations - before
        self.work.counters["newton_iterations"] += made
        self.work.residual(made)
