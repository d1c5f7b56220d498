"""The continuous adjoint: the backward equations integrated by IDA along the stored solution.

    M lambda' = -F_X^T lambda - r_X^T,   dJ/dp = integral of (r_p + lambda^T F_p) dt + lambda(t0)^T M dX0/dp

semi-explicit and of index 1, as the forward equations are; at events the jump rule ``continuous``. Between
stored points the solution is the cubic Hermite polynomial of states and slopes. Gradients are those of the
continuous system, to the tolerances and to the accuracy of what is stored: approximate, for any run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gridcore import Run
from gridcore.errors import ConvergenceError
from gridcore.sensitivity import Evaluation, Objective, Replay, ReverseSweep, Sum, evaluate, joint_function
from gridcore.tape import Step

from .sundials import NearIdentity, solver_class

# Nodes and weights of Gauss's rule on [0, 1]; of degree 5, as IDA's interpolant.
_GAUSS = tuple(zip(0.5 + 0.5 * np.sqrt(0.6) * np.array([-1.0, 0.0, 1.0]), np.array([5.0, 8.0, 5.0]) / 18, strict=True))
RTOL, ATOL = 1e-8, 1e-10


class ContinuousSweep(ReverseSweep):
    """The reverse sweep with the steps between two events integrated backwards as one.

    Parameters
    ----------
    replay : Replay
    run : Run
    objectives : sequence of Objective
    weights : Evaluation
        Of all objectives, points not moving with their clocks.
    rule : Continuous
    """

    def __init__(self, replay: Replay, run: Run, objectives: Sequence[Objective], weights: Evaluation, rule: Any):
        super().__init__(replay, _without_integrals(run, objectives, weights), rule)
        self.densities = [Density(replay, o) for o in objectives]
        self.ida = BackwardIda(replay, run.settings.get("rtol", RTOL), run.settings.get("atol", ATOL))
        self._high = self._low = -1

    def step(self, record: Step) -> None:
        """A step: joined to those after it, unless something happens between."""
        if record.guard >= 0:
            self.integrate()
            in_x, in_p, across = self.rule.crossing(self.replay, record)
            s = self.T[record.end] / across
            self.P -= np.outer(s, in_p)
            self.X = self.X - np.outer(s, in_x)
            self.T[record.end] = 0.0
        if record.h > 0:
            self._high, self._low = max(self._high, record.k + 1), record.k
        if self.weights.nonzero[record.k] or record.k == 0:
            self.integrate()
        self.objectives(record.k)

    def resolve(self, record: Any) -> None:
        """The algebraic equations solved again."""
        self.integrate()
        super().resolve(record)

    def switch(self, record: Any) -> None:
        """The changes of a switch."""
        self.integrate()
        super().switch(record)

    def arm(self, record: Any) -> None:
        """A delay."""
        self.integrate()
        super().arm(record)

    def integrate(self) -> None:
        """Back over the steps that wait for it."""
        if self._high < 0:
            return
        replay = self.replay
        solution = Solution(replay, self._low, self._high)
        self.X, _ = replay.resolve(self._high - 1).transpose(self.X, self.P)  # algebraic variables follow
        for i, density in enumerate(self.densities):
            self.X[i] = self.ida.back(solution, density, self.X[i], self.P[i])
        self._high = -1


def _without_integrals(run: Run, objectives: Sequence[Objective], weights: Evaluation) -> Evaluation:
    """Only what objectives take at points; values, and the bounds of integrals, of all."""
    rest = evaluate(run, [Sum([(f, o) for f, o in objective.terms() if o.integrand() is None])
                          for objective in objectives], moving=False)
    return replace(weights, row=rest.row, at=rest.at, points=rest.points, nonzero=rest.nonzero)


class Density:
    """The sum of an objective's integrands, differentiated: ``r_X`` and ``r_p`` at any Z."""

    def __init__(self, replay: Replay, objective: Objective):
        terms = [(factor, integrand) for factor, o in objective.terms() if (integrand := o.integrand()) is not None]
        n = replay.system.n
        self.empty = not terms
        if self.empty:
            return
        self._function, self._read, rows, columns = joint_function(
            replay.system, [integrand for _, integrand in terms])
        self._factors = np.array([factor for factor, _ in terms])[rows]
        at = self._read[columns]
        self._in_x = np.flatnonzero(at < n)
        self._in_p = np.flatnonzero(replay.column_of[at] >= 0)
        self._x, self._p = at[self._in_x], replay.column_of[at[self._in_p]]

    def add(self, Z: np.ndarray, in_x: np.ndarray, in_p: np.ndarray, weight: float = 1.0) -> None:
        """Add the partial derivatives at Z, times `weight`, to (n,) and (n_c,) arrays."""
        if not self.empty:
            gradient = weight * self._factors * np.asarray(self._function(Z[self._read])[1]).ravel()
            np.add.at(in_x, self._x, gradient[self._in_x])
            np.add.at(in_p, self._p, gradient[self._in_p])


class Solution:
    """The stored solution between two points under one setting: Hermite polynomials of states and slopes."""

    def __init__(self, replay: Replay, low: int, high: int):
        ks = range(low, high + 1)
        self.first, self.last = replay.point(low), replay.point(high)
        self.t = replay.tape.t[low: high + 1].copy()
        self.X = np.array([replay.tape.states.row(k).copy() for k in ks])
        self.slopes = np.array([replay.slope(k) for k in ks])
        self.Z = replay.buffer(low)
        self.differential, self.high = self.last.differential, high

    def at(self, t: float) -> np.ndarray:
        """Z at a time; straight on beyond the ends, where IDA looks ahead."""
        n, times = self.X.shape[1], self.t
        if t <= times[0] or t >= times[-1]:
            k = 0 if t <= times[0] else -1
            self.Z[:n] = self.X[k] + (t - times[k]) * self.slopes[k]
        else:
            k = int(np.searchsorted(times, t, side="right")) - 1
            h = times[k + 1] - times[k]
            s = (t - times[k]) / h
            r = 1 - s
            self.Z[:n] = (r * r * (1 + 2 * s) * self.X[k] + s * s * (1 + 2 * r) * self.X[k + 1]
                          + h * s * r * (r * self.slopes[k] - s * self.slopes[k + 1]))
        self.Z[-1] = t
        return self.Z


class BackwardIda:
    """IDA on ``M lambda' = -F_X^T lambda - r_X^T``, in the time left to where it began.

    Raises
    ------
    MissingDependency
        If scikits.odes is not installed.
    """

    def __init__(self, replay: Replay, rtol: float, atol: float):
        self.replay = replay
        system = replay.system
        self._rows, self._columns, n = replay.ws.indices, replay.ws.columns, system.n
        self._y, self._yp, self._none = np.zeros(n), np.zeros(n), np.zeros(len(replay.carried))
        self._raised: BaseException | None = None
        self._begun, self._last = False, np.nan
        self._lu = system.system.factors()
        self._near = NearIdentity(n, rtol, atol, self._factor, self._lu.tsolve)
        self._solution: Any = None
        self._density: Any = None
        self._solver = solver_class()(self._residual, linsolver="spgmr", jac_times_vecfn=self._product, rtol=rtol,
                                      atol=atol, old_api=False, one_step_compute=True, max_steps=100_000,
                                      # an integrand that is zero for most of the time must not be stepped over
                                      max_step_size=float(replay.tape.records.steps().h.max()))

    def back(self, solution: Solution, density: Density, adjoint: np.ndarray, aP: np.ndarray) -> np.ndarray:
        """The adjoint of X at the first point from that at the last, (n,); the parameters' is added to `aP`."""
        self._solution, self._density, self._last = solution, density, np.nan
        self.replay.at(solution.high)
        self._mass = solution.differential
        span = float(solution.t[-1] - solution.t[0])
        y, yp = self._start(adjoint)
        (self._solver.reinit_IC if self._begun else self._solver.init_step)(0.0, y, yp)
        self._near.begin(0.0, self._mass)
        self._lu.forget()
        self._begun, reached = True, 0.0
        while reached < span:
            self._solver.set_options(one_step_compute=True)
            ahead = self._near.reached = self._call(reached + span)
            self._solver.set_options(one_step_compute=False)
            upto = min(ahead, span)
            for node, weight in _GAUSS:
                self._call(reached + node * (upto - reached))
                self._quadrature(reached + node * (upto - reached), weight * (upto - reached), aP)
            self._call(upto)
            reached = upto
        return np.where(solution.differential, self._y, 0.0)

    def _start(self, adjoint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Algebraic adjoints that satisfy their equations, and the slopes of the differential ones."""
        replay, solution = self.replay, self._solution
        J, r = self._linearise(0.0)
        y = np.where(self._mass, adjoint, 0.0)
        known = np.where(self._mass, 0.0, -(r + self._times(J, y)))
        factors = replay.factors(solution.last, replay.coefficients(solution.last, 0.0))
        w = factors.tsolve(known[None].copy())[0]
        replay.give_back(factors)
        y = np.where(self._mass, y, w)
        return y, np.where(self._mass, self._times(J, y) + r, 0.0)

    def _times(self, J: np.ndarray, y: np.ndarray) -> np.ndarray:
        """``F_X^T y``."""
        return np.bincount(self._columns, J * y[self._rows], len(y))

    def _linearise(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Entries of F_X, and r_X, at the time left `s`; the last are kept."""
        if s != self._last:
            Z, ws = self._solution.at(float(self._solution.t[-1]) - s), self.replay.ws
            ws.Z[:] = Z
            r = np.zeros(len(self._y))
            self._density.add(Z, r, self._none)
            self._kept, self._last = (ws.jacobian(), r), s
        return self._kept

    def _quadrature(self, s: float, weight: float, aP: np.ndarray) -> None:
        replay = self.replay
        Z = self._solution.at(float(self._solution.t[-1]) - s)
        replay.C.transposed(replay.parameter_map.values(Z), weight * self._y[None], aP[None])
        self._density.add(Z, np.zeros(len(self._y)), aP, weight)

    def _call(self, s: float) -> float:
        self._raised = None
        result = self._solver.step(s, self._y, self._yp)
        if self._raised is not None:
            raise self._raised
        if result.flag < 0:
            raise ConvergenceError(f"IDA, backwards: {result.message}",
                                   t=float(self._solution.t[-1] - result.errors.t))
        return float(result.values.t)

    def _residual(self, s: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> int:
        """``P^-1 (M d lambda/ds - F_X^T lambda - r_X)``."""
        try:
            J, r = self._linearise(s)
            if not self._near.prepare(s):
                return 1
            out[:] = self._mass * yp - self._times(J, y) - r
            if np.isfinite(out).all():
                self._near.multiply(y, out)
        except BaseException as error:  # scikits.odes would swallow it
            self._raised = error
            return -1
        return 0 if np.isfinite(out).all() else 1

    def _factor(self, cj: float) -> None:
        """Factors of ``cj M - F_X``, of which P is the transpose, where it was linearised last."""
        values = -self._kept[0]
        values[self.replay.ws.diagonal] += cj * self._mass
        self._lu.refactor(values, alike=True)

    def _product(self, _s: Any, _y: np.ndarray, _yp: np.ndarray, _residual: np.ndarray, v: np.ndarray,
                 out: np.ndarray, cj: float) -> int:
        try:
            self._near.product(v, out, cj)
        except BaseException as error:
            self._raised = error
            return -1
        return 0
