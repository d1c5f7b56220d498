"""IDA of SUNDIALS, by scikits.odes: variable step and order, events located on its dense output.

IDA makes one internal step at a time; what lies inside the last one is interpolated by IDA itself.
Grid points and events are read from that interpolant, so the grid does not cut IDA's steps.

Its own rootfinder and its stop time are not used: it stops at any sign change of any function, and
scikits.odes keeps a copy of every state at which it stopped, which each later step stacks anew. An
event restarts IDA in place (``reinit_IC``); a new solver would leak a dense matrix.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CaseError, ConvergenceError, MissingDependency
from .driver import Outcome
from .newton import Newton
from .watch import Watch

if TYPE_CHECKING:
    from ..dae import System

_HALVINGS = 200


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


class Ida:
    """Stepper over IDA, for up to a few hundred unknowns (its Jacobian is dense).

    Parameters
    ----------
    system : System
    step : float
        Spacing of results (s).
    rtol, atol : float
        Tolerances of the local error, of all variables.
    max_step, first_step : float, optional
        Bound of IDA's steps, and the length of the first one after each restart (s).

    Raises
    ------
    MissingDependency
        If scikits.odes is not installed.
    """

    theta: float | None = None

    def __init__(self, system: System, step: float, rtol: float = 1e-8, atol: float = 1e-10,
                 max_step: float = 0.0, first_step: float = 0.0):
        for name, value in (("rtol", rtol), ("atol", atol)):
            if not 0 < value < np.inf:
                raise CaseError(f"{name} = {value!r} must be a number greater than 0")
        for name, value in (("max_step", max_step), ("first_step", first_step)):
            if not 0 <= value < np.inf:
                raise CaseError(f"{name} = {value!r} must be a number, 0 for none")
        self.system, self.span = system, step
        assembly = system.assembly
        self._work: Counter[str] = Counter()
        self._rows, self._columns = assembly.indices, assembly.columns
        self._newton = Newton(system)
        self._mass = np.zeros(system.n)
        self._X, self._Xp, self._defect = (np.zeros(system.n) for _ in range(3))
        self._raised: BaseException | None = None
        self._t_raised = self._tn = 0.0
        self._stale, self._begun = True, False
        self._solver = solver_class()(
            self._residual, jacfn=self._jacobian, rtol=rtol, atol=atol, max_step_size=max_step,
            first_step_size=first_step, one_step_compute=True, old_api=False, err_handler=_silent)

    @property
    def counters(self) -> Counter[str]:
        """Work done: IDA's, and that of restarts and events."""
        return self._work + self._newton.counters()

    def restart(self) -> None:
        """Modes or parameters have changed: begin anew from what stands in the assembly."""
        self._stale = True

    def step(self, t: float, target: float, watch: Watch) -> Outcome:
        """To `target`, to the end of IDA's next internal step, or to the first guard that fires before."""
        if self._stale:
            self._begin(t)
        before = self._values(watch)
        if self._tn <= t:
            self._tn = self._advance()
        reached = min(target, self._tn)
        self._load(reached)
        gamma = self._values(watch)
        # IDA's first steps are so short that what left zero in one direction may stay, by round-off, on the other side
        fired = watch.fired_by_jump(gamma) if len(watch) else np.zeros(0, dtype=int)
        if len(fired):
            gamma = self._exact(reached)
            fired = watch.fired_by_jump(gamma)
        if len(fired):
            reached, guard = min((self._locate(int(g), t, reached, before[g], gamma[g], watch), int(g)) for g in fired)
            fired, gamma = np.array([guard]), self._exact(reached)
        return Outcome(reached, fired, gamma)

    def _values(self, watch: Watch) -> np.ndarray:
        return self.system.switching.values(self.system.assembly.Z) if len(watch) else np.zeros(0)

    def _begin(self, t: float) -> None:
        """Start from the state in the assembly, with the derivative that belongs to it."""
        differential = self.system.differential(self.system.assembly.Z)
        self._mass[:] = differential
        y, yp = self.system.assembly.X.copy(), self._newton.derivative(differential)
        if self._begun:
            self._solver.reinit_IC(t, y, yp)
            self._work["restarts"] += 1
        else:
            self._solver.init_step(t, y, yp)
        self._begun, self._stale, self._tn = True, False, t

    def _advance(self) -> float:
        """One internal step; returns the time that IDA has reached then."""
        self._work["internal_steps"] += 1
        self._solver.set_options(one_step_compute=True)
        return self._call(self._tn + self.span)

    def _load(self, t: float) -> None:
        """Put the state at `t`, within the last internal step, into the assembly."""
        self._solver.set_options(one_step_compute=False)
        self._call(t)
        self.system.assembly.X[:] = self._X
        self.system.assembly.Z[-1] = t

    def _exact(self, t: float) -> np.ndarray:
        """Load the state at `t` with the algebraic equations solved to round-off; returns the guard functions.

        On IDA's interpolant they hold to its tolerances only, and an event must not look undone when they
        are solved after it.
        """
        self._load(t)
        self._newton.resolve(self._mass > 0)
        return self.system.switching.values(self.system.assembly.Z)

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

    def _locate(self, guard: int, low: float, high: float, before: float, after: float, watch: Watch) -> float:
        """The time between `low` and `high` from which on the guard is across, to round-off.

        Secants of the Illinois kind, and halving where they do not help: `before` may be zero or, by
        round-off, on the far side already, and then `low` is the crossing.
        """
        last = 0
        for k in range(_HALVINGS):
            middle = low + (high - low) * before / (before - after) if before != after else low
            if not low < middle < high or k % 8 >= 6:
                middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            gamma = self._exact(middle)
            if gamma[guard] == 0:
                return middle
            if guard in watch.fired(gamma):
                high, after, before, last = middle, gamma[guard], before / 2 if last == 1 else before, 1
            else:
                low, before, after, last = middle, gamma[guard], after / 2 if last == -1 else after, -1
        return high

    def _residual(self, t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> int:
        """``M X' - F``; 1 asks IDA to try a shorter step, -1 to give up."""
        self._work["residuals"] += 1
        try:
            assembly = self.system.assembly
            assembly.X[:], assembly.Z[-1] = y, t
            np.subtract(self._mass * yp, assembly.rhs(), out=out)
            if np.isfinite(y).all() and np.isfinite(yp).all():
                self._defect[:] = out
        except BaseException as error:  # scikits.odes would swallow it
            self._raised, self._t_raised = error, t
            return -1
        return 0 if np.isfinite(out).all() else 1

    def _jacobian(self, t: float, y: np.ndarray, yp: np.ndarray, residual: np.ndarray, cj: float,
                  out: np.ndarray) -> int:
        """``cj M - F_X``."""
        self._work["factorisations"] += 1
        try:
            assembly = self.system.assembly
            assembly.X[:], assembly.Z[-1] = y, t
            assembly.mass[:], assembly.c[:] = cj * self._mass, 1.0
            out[:] = 0.0
            out[self._rows, self._columns] = assembly.matrix()
        except BaseException as error:
            self._raised, self._t_raised = error, t
            return -1
        return 0 if np.isfinite(out).all() else 1

    def _worst(self) -> str:
        """Where IDA gave up: a variable whose equation is no number, else the one that changes fastest."""
        rates = np.abs(self._Xp) / (1 + np.abs(self._X))
        worst = np.where(np.isfinite(self._defect), np.nan_to_num(rates, nan=np.inf), np.inf)
        return self.system.layout.label(int(np.argmax(worst)))


def _silent(code: int, module: bytes, function: bytes, message: bytes) -> None:
    """IDA's messages come with the result; they need not be printed."""
