"""The Newton iteration of a step: keeps its factors while they converge fast.

The workspace holds the equations ``R = base + c F(Z) - mass X`` and their matrix. The caller sets
`base`, `c` and `mass`; the iteration ends when the last correction is at round-off.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from .. import numerics
from ..equations import Workspace
from ..errors import ConvergenceError
from .base import SingularMatrix

_ITERATIONS = 30
# Iterations that a factorisation is worth at most (where it has many operations, they are fast ones), and at least.
_MOST_WORTH, _LEAST_WORTH = 6.0, 0.5
# Corrections that have not shrunk, after which the floor of round-off will do.
_SLOW = 2
# Iterations that are not damped; fewer if a correction is so many times as large as what it corrects.
_UNDAMPED, _LOST = 8, 1e3


class Newton:
    """Iterates the equations in a workspace to round-off.

    Attributes
    ----------
    iterations : int
        Made so far.
    """

    def __init__(self, ws: Workspace):
        self.ws, self.lu = ws, ws.factors(loose=True)
        self.iterations = 0
        self._fresh = False
        # the first correction of the last solve, and the rate at which old factors converged
        self._first = self._rate = 0.0
        # corrections that did not shrink any more: later solves need not try
        self._round_off = 0.0
        # iterations that cost as much as a factorisation, and the one that said so
        self._worth, self._searched = 1.0, 0

    def counters(self) -> Counter[str]:
        """Work done."""
        return Counter(newton_iterations=self.iterations, solves=self.lu.solves,
                       factorisations=self.lu.factorisations + self.lu.refactorisations)

    def forget(self) -> None:
        """The matrix has changed so much that its factors are of no use."""
        self._fresh = False

    def renew(self) -> None:
        """Forget all that earlier solves have left, pivots and rates too: what follows does not depend on them."""
        self._fresh, self._first, self._rate, self._round_off = False, 0.0, 0.0, 0.0
        self.lu.forget()

    def factor(self, alike: bool = False) -> None:
        """Factors of the matrix at the present Z; `alike`: much like the last ones."""
        try:
            self.lu.refactor(self.ws.matrix(), alike)
        except SingularMatrix as error:
            self._fresh = False
            raise ConvergenceError("the equations are singular", place=self.ws.place(error.column),
                                   t=self.ws.Z[-1]) from None
        self._fresh = True

    def _old_are_better(self) -> bool:
        """Whether iterations with the present factors look fewer than what a factorisation costs."""
        if not (self._fresh and self._rate):
            return self._fresh
        if self.lu.factorisations != self._searched:
            self._searched = self.lu.factorisations
            factorisation, solve = self.lu.operations()
            self._worth = max(_LEAST_WORTH, min(factorisation / solve, _MOST_WORTH) - 1)
        return self._first * self._rate**(1 + self._worth) <= numerics.NEWTON_REMAINS

    def solve(self, evaluated: bool = False) -> None:
        """Iterate from the X that stands in the workspace; leaves the solution there.

        Parameters
        ----------
        evaluated : bool
            Whether ``ws.R`` is the residual there already.

        Raises
        ------
        ConvergenceError
            Naming the variable that moved most, and the time.
        """
        ws, before, slow = self.ws, 0.0, 0
        start = ws.X.copy()
        old = self._old_are_better()
        if not old:
            self.factor(alike=True)  # if it is not, convergence will tell
        if not evaluated:
            ws.residual()
        enough = max(numerics.NEWTON_REMAINS, self._round_off)
        for iteration in range(_ITERATIONS):
            self.lu.solve(ws.R)
            norm = ws.newton(enough)
            self.iterations += 1
            if not math.isfinite(norm):
                break
            if iteration == 0:
                self._first = norm
            elif iteration == 1 and old and before > numerics.NEWTON_TELLING * max(self._round_off, numerics.NEWTON):
                self._rate = norm / before
            if norm <= enough:
                return
            # a correction this short leaves less than NEWTON_REMAINS, if the next is shorter by as much as it was
            enough = max(math.sqrt(numerics.NEWTON_REMAINS * norm), self._round_off)
            if before and norm > numerics.NEWTON_FAST * before:
                slow += 1
                if norm <= numerics.NEWTON or (norm <= numerics.NEWTON_FLOOR and slow > _SLOW):
                    self._round_off = min(2 * norm, numerics.NEWTON_ROUND_OFF)
                    return  # what no longer shrinks is round-off
                if norm >= _LOST or iteration > _UNDAMPED:
                    break
                self.factor()
            elif before:  # or if the rate stays as it is
                enough = max(enough, min(numerics.NEWTON_REMAINS * before / norm, numerics.NEWTON))
            before = norm
        ws.X[:] = start
        self.solve_damped()

    def solve_damped(self) -> None:
        """Newton with a new matrix at every iteration, and steps halved while the residual grows."""
        ws, best = self.ws, np.inf
        ws.residual()
        size = float(np.max(np.abs(ws.R), initial=0.0))
        for _ in range(_ITERATIONS):
            self.factor()
            step, X = self.lu.solve(ws.R.copy()), ws.X.copy()
            damping = 1.0
            while True:
                ws.X[:] = X + damping * step
                ws.residual()
                now = float(np.max(np.abs(ws.R), initial=0.0))
                if now <= (1 - damping / 4) * size or damping < numerics.SHORTEST_STEP or now < numerics.RESIDUAL_FLOOR:
                    break
                damping /= 2
            self.iterations += 1
            norm = float(np.max(np.abs(step) / (ws.scale + np.abs(ws.X)), initial=0.0))
            if norm <= numerics.NEWTON or (norm <= numerics.NEWTON_FLOOR and norm > numerics.NEWTON_FAST * best):
                return
            size, best = now, min(best, norm)
            if not np.isfinite(norm):
                break
        worst = int(np.argmax(np.abs(np.nan_to_num(step, nan=np.inf))))
        raise ConvergenceError("Newton's method does not converge", place=ws.place(worst), t=ws.Z[-1], advice="; there "
                               "may be a solution with a smaller step, or with loads at constant impedance (--loads Z)")

    def hold(self, differential: np.ndarray) -> None:
        """Set the algebraic equations, with the differential variables held where they are."""
        ws = self.ws
        ws.mass[:] = differential
        ws.c[:] = np.where(differential, 0.0, -1.0)
        ws.base[:] = np.where(differential, ws.X, 0.0)

    def resolve(self, differential: np.ndarray) -> None:
        """Solve the algebraic equations at the present time, with the differential variables held."""
        self.hold(differential)
        self.solve_damped()
        self.forget()

    def derivative(self, differential: np.ndarray) -> np.ndarray:
        """X' at the present Z, (n,): f, and what the derivative of ``g = 0`` says, ``g_y y' = -(g_x f + g_t)``."""
        ws = self.ws
        ws.mass[:] = differential
        ws.c[:] = np.where(differential, 0.0, 1.0)
        slope = ws.time_slope()
        right = np.where(differential, ws.rhs(), 0.0 if slope is None else slope)
        self.factor()
        self.forget()
        return np.asarray(self.lu.solve(right))
