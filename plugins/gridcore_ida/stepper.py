"""IDA of SUNDIALS, by scikits.odes: variable step and order, events located on its dense output.

IDA makes one internal step at a time; what lies inside the last one is interpolated by IDA itself.
Grid points and events are read from that interpolant, so the grid does not cut IDA's steps.

Its stop time is not used: scikits.odes keeps a copy of every state at which IDA stopped, which each later step stacks
anew. An event restarts IDA in place (``reinit_IC``); a new solver would leak the old one's memory.

With ``rootfinding="sundials"`` IDA looks for the first guard that fires within its step, and the advance ends just
beyond; the driver decides there, and locates the crossing between as it does for any method. IDA stops at any sign
change of any function, and checks for one whenever it is asked for a state. So its functions are the margins of the
guards, which change sign only where one fires; and they are held while it interpolates.

Its linear systems are solved by sparse factors: see :mod:`.sundials`.
"""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import numpy as np

from gridcore.equations import Workspace
from gridcore.errors import CaseError, ConvergenceError
from gridcore.integrate import Advance, Stepper
from gridcore.linear import Newton, all_finite

from .sundials import NearIdentity, solver_class

ROOTFINDING = ("interpolant", "sundials")
# IDA's flag: it stopped at a root.
_ROOT_RETURN = 2
# Of the length of a step: beyond a root a guard is across by more than tolerances and round-off.
_BEYOND = 1e-3
_EPS = float(np.finfo(float).eps)


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
    rootfinding : {"interpolant", "sundials"}
        Who looks for guards that fire within a step: the driver, at the points of the grid and at the end of the step;
        or IDA, whose steps then have a point just beyond the first.

    Raises
    ------
    CaseError
        If one of them is not a positive number, or there is no such root finding.
    """

    name = "ida"
    order = 5
    exact_ends = False
    one_step = False

    def __init__(self, step: float, rtol: float = 1e-8, atol: float = 1e-10, max_step: float = 0.0,
                 first_step: float = 0.0, rootfinding: str = "interpolant"):
        for name, value in (("rtol", rtol), ("atol", atol)):
            if not 0 < value < np.inf:
                raise CaseError(f"{name} = {value!r} must be a number greater than 0")
        for name, value in (("max_step", max_step), ("first_step", first_step)):
            if not 0 <= value < np.inf:
                raise CaseError(f"{name} = {value!r} must be a number, 0 for none")
        if rootfinding not in ROOTFINDING:
            raise CaseError(f"rootfinding = {rootfinding!r} must be {' or '.join(map(repr, ROOTFINDING))}")
        self._own_roots = rootfinding == "sundials"
        self.span, self._tolerances = step, (rtol, atol)
        self._bounds = {"max_step_size": max_step, "first_step_size": first_step}
        self._work: Counter[str] = Counter()
        self._ws: Workspace | None = None
        self._raised: BaseException | None = None
        self._t_raised = self.tn = self._stop = self._tried = 0.0
        self._searching = False

    def _bind(self, ws: Workspace) -> None:
        """Make the solver, for a workspace."""
        (rtol, relative), scales = self._tolerances, np.unique(ws.scale)
        # a vector costs IDA more, and rounds otherwise
        atol: float | np.ndarray = relative * (float(scales[0]) if len(scales) == 1 else ws.scale)
        self._ws, self._lu, self._newton = ws, ws.factors(), Newton(ws)
        self.near = NearIdentity(ws.n, rtol, atol, self._factor, self._lu.solve)
        self.mass = np.zeros(ws.n)
        self._X, self._Xp, self._defect = (np.zeros(ws.n) for _ in range(3))
        self._begun = False
        self._margins = ws.guards(ws.Z) if self._own_roots else np.zeros(0)
        roots = {"rootfn": self._root, "nr_rootfns": len(self._margins)} if len(self._margins) else {}
        self.solver = solver_class()(
            self.residual, linsolver="spgmr", jac_times_vecfn=self.product, rtol=rtol, atol=atol,
            one_step_compute=True, old_api=False, err_handler=_silent, **self._bounds, **roots)

    @property
    def counters(self) -> Counter[str]:
        """Work done: IDA's, and that of restarts and events."""
        if self._ws is None:
            return Counter()
        return self._work + self._newton.counters() + Counter(
            products=self.near.products, solves=self._lu.solves,
            factorisations=self._lu.factorisations + self._lu.refactorisations)

    def restart(self, ws: Workspace, t: float) -> None:
        """Modes or parameters have changed: begin anew from what stands in the workspace."""
        if ws is not self._ws:
            self._bind(ws)
        self._stale = True

    def advance(self, t: float, target: float) -> Advance:
        """To `target`, to the end of IDA's next internal step, or just beyond the root that IDA found in it."""
        if self._stale:
            self.begin(t)
        if self.tn <= t:
            self._internal()
        reached = min(target, self._stop if t < self._stop else self.tn)
        self._load(reached)
        return Advance(reached)

    def state_at(self, t: float) -> None:
        """The interpolant at `t`, with the algebraic equations solved to round-off.

        On IDA's interpolant they hold to its tolerances only, and an event must not look undone when they
        are solved after it.
        """
        self._load(t)
        self._newton.resolve(self.mass > 0)

    def begin(self, t: float) -> None:
        """Start from the state in the workspace, with the derivative that belongs to it."""
        ws = self._ws
        assert ws is not None
        self.mass[:] = ws.differential
        y, yp = ws.X.copy(), self._newton.derivative(ws.differential)
        if self._begun:
            self.solver.reinit_IC(t, y, yp)
            self._work["restarts"] += 1
        else:
            self.solver.init_step(t, y, yp)
        self._begun, self._stale, self.tn, self._stop = True, False, t, t
        self.near.begin(t, self.mass)
        self._lu.forget()

    def _internal(self) -> None:
        """One internal step, with or without a root in it."""
        self._work["internal_steps"] += 1
        self.solver.set_options(one_step_compute=True)
        begun, self._searching = self.tn, True
        found, self.tn = self._call(self.tn + self.span)
        self._stop = self.tn
        if found:
            at, self.tn = self.tn, self._tried  # IDA says where the root is; its step ends where it was solved last
            self._stop = min(at + _BEYOND * (self.tn - begun), self.tn)
            for kept in gc.get_referents(self.solver):  # the copies of scikits.odes, of this root
                if isinstance(kept, list):
                    kept.clear()
        # while IDA interpolates no margin is negative: a guard that stays across changes its sign in the next step, and
        # is found there
        self._margins = np.where(self._margins > 0, self._margins, 1.0)
        self.near.reached = self.tn

    def _root(self, t: float, y: np.ndarray, _yp: np.ndarray, out: np.ndarray) -> int:
        """Margins of the guards; while IDA only interpolates, as they were."""
        try:
            if self._searching:
                ws = self._ws
                assert ws is not None
                self._work["root_evaluations"] += 1
                ws.X[:], ws.Z[-1] = y, t
                margins = ws.guards(ws.Z)
                self._margins = np.where(np.abs(margins) < _EPS, _EPS, margins)  # at zero it has not fired
            out[:] = self._margins
        except BaseException as error:  # scikits.odes would swallow it
            self._raised, self._t_raised = error, t
            return -1
        return 0

    def _load(self, t: float) -> None:
        """Put the state at `t`, within the last internal step, into the workspace."""
        self.solver.set_options(one_step_compute=False)
        self._searching = False
        self._call(t)
        assert self._ws is not None
        self._ws.X[:], self._ws.Z[-1] = self._X, t

    def _call(self, t: float) -> tuple[bool, float]:
        """Let IDA go on to a time, or beyond it by one step: whether it stopped at a root, and the time it reached."""
        self._raised = None
        result = self.solver.step(t, self._X, self._Xp)
        if self._raised is not None:
            error, self._raised = self._raised, None
            if not isinstance(error, Exception):
                raise error
            place = getattr(error, "place", "")
            raise ConvergenceError(f"IDA: {type(error).__name__}: {error}", place=place, t=self._t_raised) from error
        if result.flag < 0:
            raise ConvergenceError(f"IDA: {result.message}", place=self._worst(), t=float(result.errors.t))
        return result.flag == _ROOT_RETURN, float(result.values.t)

    def residual(self, t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> int:
        """``P^-1 (M X' - F)``; 1 asks IDA to try a shorter step, -1 to give up."""
        self._work["residuals"] += 1
        try:
            ws = self._ws
            assert ws is not None
            ws.X[:], ws.Z[-1] = y, t
            self._tried = t
            if not self.near.prepare(t):
                return 1
            np.multiply(self.mass, yp, out=out)
            out -= ws.rhs()
            fine = all_finite(out)
            if fine or (all_finite(y) and all_finite(yp)):  # otherwise it does not say where it failed
                self._defect[:] = out
            if fine:
                self.near.multiply(y, out)
        except BaseException as error:  # scikits.odes would swallow it
            self._raised, self._t_raised = error, t
            return -1
        return 0 if all_finite(out) else 1

    def _factor(self, cj: float) -> None:
        """Factors of ``cj M - F_X`` at what stands in the workspace."""
        ws = self._ws
        assert ws is not None
        ws.mass[:], ws.c[:] = cj * self.mass, 1.0
        self._lu.refactor(ws.matrix(), alike=True)

    def product(self, _t: Any, _y: np.ndarray, _yp: np.ndarray, _residual: np.ndarray, v: np.ndarray,
                 out: np.ndarray, cj: float) -> int:
        try:
            self.near.product(v, out, cj)
        except BaseException as error:
            self._raised, self._t_raised = error, self.tn
            return -1
        return 0

    def _worst(self) -> str:
        """Where IDA gave up: a variable whose equation is no number, else the one that changes fastest."""
        assert self._ws is not None
        rates = np.abs(self._Xp) / (self._ws.scale + np.abs(self._X))
        worst = np.where(np.isfinite(self._defect), np.nan_to_num(rates, nan=np.inf), np.inf)
        return self._ws.place(int(np.argmax(worst)))


def _silent(code: int, module: bytes, function: bytes, message: bytes) -> None:
    """IDA's messages come with the result; they need not be printed."""
