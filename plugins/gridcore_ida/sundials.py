"""IDA of SUNDIALS, as scikits.odes offers it; and what stands in for a sparse linear solver, which it does not offer.

Its hook for a preconditioner does not work (its issue #201). So IDA is given the equations already multiplied by the
inverse of a sparse matrix, ``P^-1 (M X' - F) = 0``, and SPGMR sees a matrix near the identity. IDA measures errors and
convergence on X, in the norm of its tolerances, which this does not touch. ``P = cj M - F_X`` is made anew at the state
that IDA predicts for a step. Its cj, the derivative of X' in X, IDA tells with the first product only: before, it is
that of the order which the last step had. The products that SPGMR asks for hold the true cj, so a P with another costs
a few of them, no accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore.errors import MissingDependency
from gridcore.linear import SingularMatrix

# P with a cj that differs by less than this fraction is the matrix itself, as far as Newton's method can tell.
_SAME_CJ = 1e-6
# Residuals are scaled to this many tolerances: SPGMR stops at 0.05 x 0.33, by IDA's choice.
_SIZE = 100.0


def solver_class() -> Any:
    """IDA of scikits.odes.

    Raises
    ------
    MissingDependency
        If it is not installed: says what to do.
    """
    try:
        from scikits_odes_sundials.ida import IDA
    except ImportError as error:
        raise MissingDependency("method 'ida' needs scikits-odes-sundials and SUNDIALS: run ./setup.sh ida in the "
                                f"source tree, or use method 'theta' ({error})") from None
    return IDA


class NearIdentity:
    """``P^-1`` with which residuals are multiplied, and what is left of the matrix ``cj M - J`` for SPGMR.

    Parameters
    ----------
    n : int
        Number of unknowns.
    rtol, atol : float
        IDA's tolerances.
    factor : callable
        Called with cj: makes factors of ``P = cj M - J`` at the time and state that the residual is asked for.
    solve : callable
        Overwrites a vector (n,) with the solution of ``P x = b``, and returns it.

    Attributes
    ----------
    products : int
        Made so far.
    scale : float
        With which residuals are multiplied: IDA's tolerance of the linear solves is an absolute one.
    """

    def __init__(self, n: int, rtol: float, atol: float | np.ndarray, factor: Callable[[float], object],
                 solve: Callable[[np.ndarray], np.ndarray]):
        self._rtol, self._atol, self.scale = rtol, atol, 1.0
        self.factor, self.solve, self.products = factor, solve, 0
        self._mass, self._work = np.zeros(n), np.zeros(n)

    def begin(self, t: float, mass: np.ndarray) -> None:
        """IDA (re)starts at `t`, with the first order; `mass` is the diagonal of M, (n,)."""
        self._mass[:] = mass
        # the end of the step that P is for, its cj, and cj times the length of the step, as last told
        self._end, self._cj, self._leading = np.nan, 0.0, 1.0
        self.reached = t

    def prepare(self, t: float) -> bool:
        """Make P for a step from where IDA is (`reached`) to `t`, unless it is there; false if there is none."""
        if t == self.reached:  # IDA has cut its step to nothing
            return False
        if t != self._end:
            self._end, self._cj = np.nan, self._leading / (t - self.reached)
            try:
                self.factor(self._cj)
            except SingularMatrix:
                return False
            self._end = t
        return True

    def product(self, v: np.ndarray, out: np.ndarray, cj: float) -> None:
        """``out = P^-1 (cj M - J) v = v + (cj - cj of P) P^-1 M v``, times the factor of the residual."""
        self.products += 1
        self._leading = cj * (self._end - self.reached)
        out[:] = v
        if abs(cj - self._cj) > _SAME_CJ * cj:
            np.multiply((cj - self._cj) * self._mass, v, out=self._work)
            out += self.solve(self._work)
        out *= self.scale

    def multiply(self, y: np.ndarray, residual: np.ndarray) -> None:
        """Multiply a residual by ``P^-1``, and by the factor that makes SPGMR's absolute tolerance a relative one.

        IDA asks of it a twentieth of what it asks of Newton's method. A correction shorter than that would be taken as
        it is, with the cj of P: an error that dense solvers do not make.
        """
        self.solve(residual)
        np.abs(y, out=self._work)
        self._work *= self._rtol
        self._work += self._atol
        np.divide(residual, self._work, out=self._work)
        size = math.sqrt(self._work @ self._work / len(y))
        self.scale = _SIZE / size if 0 < size < np.inf else 1.0
        residual *= self.scale
