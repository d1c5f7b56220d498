"""IDA of SUNDIALS, by scikits.odes: variable step and order, events located on its dense output.

IDA makes one internal step at a time; what lies inside the last one is interpolated by IDA itself.
Grid points and events are read from that interpolant, so the grid does not cut IDA's steps.

Its own rootfinder and its stop time are not used: it stops at any sign change of any function, and
scikits.odes keeps a copy of every state at which it stopped, which each later step stacks anew. An
event restarts IDA in place (``reinit_IC``); a new solver would leak the old one's memory.

Of IDA's linear solvers that scikits.odes offers none is sparse, and its hook for a preconditioner does not
work (its issue #201). So IDA is given the equations already multiplied by the inverse of a sparse matrix,
``P^-1 (M X' - F) = 0``, and SPGMR sees a matrix near the identity. IDA measures errors and convergence on X, in
the norm of its tolerances, which this does not touch. ``P = cj M - F_X`` is made anew at the state that IDA
predicts for a step. Its cj, the derivative of X' in X, IDA tells with the first product only: before, it is that
of the order which the last step had. The products that SPGMR asks for hold the true cj, so a P with another costs a
few of them, no accuracy.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..equations.workspace import Workspace
from ..errors import CaseError, ConvergenceError, MissingDependency
from ..linear import SingularMatrix
from ..linear.newton import Newton
from .base import Advance, Stepper

if TYPE_CHECKING:
    from collections.abc import Callable


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
    rtol : float
    atol : float or (n,) array
        IDA's tolerances.
    factor : callable
        Called with cj: makes factors of ``P = cj M - J`` at the time and state that the residual is asked for.
    solve : callable
        Overwrites a vector (n,) with the solution of ``P x = b``, and returns it.

    Attributes
    ----------
    products : int
        Made so far.
    """

    def __init__(self, n: int, rtol: float, atol: float | np.ndarray, factor: Callable[[float], object],
                 solve: Callable[[np.ndarray], np.ndarray]):
        self._rtol, self._atol, self._scale = rtol, atol, 1.0
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
        out *= self._scale

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
        self._scale = _SIZE / size if 0 < size < np.inf else 1.0
        residual *= self._scale


class Ida(Stepper):
    """Stepper over IDA, whose work and memory in a step are those of sparse factors.

    Parameters
    ----------
    step : float
        Spacing of results (s).
    rtol, atol : float
        Tolerances of the local error, of all variables; `atol` of each in parts of its scale.
    max_step, first_step : float, optional
        Bound of IDA's steps, and the length of the first one after each restart (s).

    Raises
    ------
    CaseError
        If one of them is not a positive number.
    """

    name = "ida"
    order = 5
    exact_ends = False
    one_step = False

    def __init__(self, step: float, rtol: float = 1e-8, atol: float = 1e-10, max_step: float = 0.0,
                 first_step: float = 0.0):
        for name, value in (("rtol", rtol), ("atol", atol)):
            if not 0 < value < np.inf:
                raise CaseError(f"{name} = {value!r} must be a number greater than 0")
        for name, value in (("max_step", max_step), ("first_step", first_step)):
            if not 0 <= value < np.inf:
                raise CaseError(f"{name} = {value!r} must be a number, 0 for none")
        self.span, self._tolerances = step, (rtol, atol)
        self._bounds = {"max_step_size": max_step, "first_step_size": first_step}
        self._work: Counter[str] = Counter()
        self._ws: Workspace | None = None
        self._raised: BaseException | None = None
        self._t_raised = self._tn = 0.0

    def _bind(self, ws: Workspace) -> None:
        """Make the solver, for a workspace."""
        rtol, scales = self._tolerances[0], np.unique(ws.scale)
        # a vector of tolerances costs IDA more, and rounds otherwise
        atol = self._tolerances[1] * (float(scales[0]) if len(scales) == 1 else ws.scale)
        self._ws, self._lu, self._newton = ws, ws.factors(), Newton(ws)
        self._near = NearIdentity(ws.n, rtol, atol, self._factor, self._lu.solve)
        self._mass = np.zeros(ws.n)
        self._X, self._Xp, self._defect = (np.zeros(ws.n) for _ in range(3))
        self._begun = False
        self._solver = solver_class()(
            self._residual, linsolver="spgmr", jac_times_vecfn=self._product, rtol=rtol, atol=atol,
            one_step_compute=True, old_api=False, err_handler=_silent, **self._bounds)

    @property
    def counters(self) -> Counter[str]:
        """Work done: IDA's, and that of restarts and events."""
        if self._ws is None:
            return Counter()
        return self._work + self._newton.counters() + Counter(
            products=self._near.products, solves=self._lu.solves,
            factorisations=self._lu.factorisations + self._lu.refactorisations)

    def restart(self, ws: Workspace, t: float) -> None:
        """Modes or parameters have changed: begin anew from what stands in the workspace."""
        if ws is not self._ws:
            self._bind(ws)
        self._stale = True

    def advance(self, t: float, target: float) -> Advance:
        """To `target`, or to the end of IDA's next internal step."""
        if self._stale:
            self._begin(t)
        if self._tn <= t:
            self._tn = self._near.reached = self._internal()
        reached = min(target, self._tn)
        self._load(reached)
        return Advance(reached)

    def state_at(self, t: float) -> None:
        """The interpolant at `t`, with the algebraic equations solved to round-off.

        On IDA's interpolant they hold to its tolerances only, and an event must not look undone when they
        are solved after it.
        """
        self._load(t)
        self._newton.resolve(self._mass > 0)

    def _begin(self, t: float) -> None:
        """Start from the state in the assembly, with the derivative that belongs to it."""
        ws = self._ws
        assert ws is not None
        self._mass[:] = ws.differential
        y, yp = ws.X.copy(), self._newton.derivative(ws.differential)
        if self._begun:
            self._solver.reinit_IC(t, y, yp)
            self._work["restarts"] += 1
        else:
            self._solver.init_step(t, y, yp)
        self._begun, self._stale, self._tn = True, False, t
        self._near.begin(t, self._mass)
        self._lu.forget()

    def _internal(self) -> float:
        """One internal step; returns the time that IDA has reached then."""
        self._work["internal_steps"] += 1
        self._solver.set_options(one_step_compute=True)
        return self._call(self._tn + self.span)

    def _load(self, t: float) -> None:
        """Put the state at `t`, within the last internal step, into the workspace."""
        self._solver.set_options(one_step_compute=False)
        self._call(t)
        assert self._ws is not None
        self._ws.X[:], self._ws.Z[-1] = self._X, t

    def _call(self, t: float) -> float:
        self._raised = None
        result = self._solver.step(t, self._X, self._Xp)
        if self._raised is not None:
            error, self._raised = self._raised, None
            if not isinstance(error, Exception):
                raise error
            place = getattr(error, "place", "")
            raise ConvergenceError(f"IDA: {type(error).__name__}: {error}", place=place, t=self._t_raised) from error
        if result.flag < 0:
            raise ConvergenceError(f"IDA: {result.message}", place=self._worst(), t=float(result.errors.t))
        return float(result.values.t)

    def _residual(self, t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> int:
        """``P^-1 (M X' - F)``; 1 asks IDA to try a shorter step, -1 to give up."""
        self._work["residuals"] += 1
        try:
            ws = self._ws
            assert ws is not None
            ws.X[:], ws.Z[-1] = y, t
            if not self._near.prepare(t):
                return 1
            np.multiply(self._mass, yp, out=out)
            out -= ws.rhs()
            if np.isfinite(y).all() and np.isfinite(yp).all():
                self._defect[:] = out
            if np.isfinite(out).all():
                self._near.multiply(y, out)
        except BaseException as error:  # scikits.odes would swallow it
            self._raised, self._t_raised = error, t
            return -1
        return 0 if np.isfinite(out).all() else 1

    def _factor(self, cj: float) -> None:
        """Factors of ``cj M - F_X`` at what stands in the assembly."""
        ws = self._ws
        assert ws is not None
        ws.mass[:], ws.c[:] = cj * self._mass, 1.0
        self._lu.refactor(ws.matrix(), alike=True)

    def _product(self, _t: Any, _y: np.ndarray, _yp: np.ndarray, _residual: np.ndarray, v: np.ndarray,
                 out: np.ndarray, cj: float) -> int:
        try:
            self._near.product(v, out, cj)
        except BaseException as error:
            self._raised, self._t_raised = error, self._tn
            return -1
        return 0

    def _worst(self) -> str:
        """Where IDA gave up: a variable whose equation is no number, else the one that changes fastest."""
        assert self._ws is not None
        rates = np.abs(self._Xp) / (self._ws.scale + np.abs(self._X))
        worst = np.where(np.isfinite(self._defect), np.nan_to_num(rates, nan=np.inf), np.inf)
        return self._ws.label(int(np.argmax(worst)))


def _silent(code: int, module: bytes, function: bytes, message: bytes) -> None:
    """IDA's messages come with the result; they need not be printed."""
