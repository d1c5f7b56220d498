"""Sensitivities together with the simulation: the four strategies to solve for both.

D. Chaniotis, M. A. Pai, I. A. Hiskens, Sensitivity analysis of differential-algebraic systems using the GMRES
method: application to power systems, ISCAS 2001. Every step of a tape is made again, by a Newton iteration
that keeps its factors for as long as they converge, and the sensitivity equations ``A dX+ = b``, whose matrix A is
that of the converged step, are solved

* *staggered direct*: with factors of A, which then serve the next step's iteration (Caracotsios, Stewart 1985);
* *simultaneous corrector*: within the Newton iteration, by its factors (Maly, Petzold 1996);
* *staggered corrector*: after it, by an iteration of their own with its factors (Feehery, Tolsma, Barton 1997);
* *staggered hybrid*: after it, by GMRES preconditioned by its factors.

The last three iterate to a tolerance. Steps that end on a located event, and what happens at an
instant of switching, are solved by the exact operators of :mod:`gridcore.sensitivity.operators`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import CaseError
from gridcore.integrate import Operator, Point
from gridcore.linear import Coefficients, Factors
from gridcore.sensitivity import Replay, ResolveOperator
from gridcore.tape import Step
from gridcore_theta import Theta, ThetaOperator, weights

from .corrector import Corrector
from .gmres import gmres

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.tape import Tape

# A correction is measured against the largest sensitivity of its parameter, or against this where that is smaller:
# before anything has happened sensitivities are zero but for round-off.
_SMALL = 1e-3


class Strategy(Replay):
    """A replay that makes every step of the tape again, with its sensitivities.

    Parameters
    ----------
    system : Equilibrium
    tape : Tape
        Of a theta run.
    carried : sequence of int
        As of :class:`gridcore.sensitivity.operators.Replay`.
    tolerance : float
        Of what is iterated: the last correction of the state, relative to one plus its size; and the last
        correction, or the preconditioned residual, of the sensitivities, relative to the largest of the parameter.
    """

    def __init__(self, system: Equilibrium, tape: Tape, carried: Sequence[int] | np.ndarray, tolerance: float):
        super().__init__(system, tape, carried)
        stepper, *others = self.steppers
        if others or not isinstance(stepper, Theta):
            made_by = ", then ".join(f"'{method.name}'" for method in tape.methods)
            raise CaseError(f"strategies are of the theta method from end to end, and this is a run of {made_by}")
        longest = float(tape.records.steps().h.max(initial=0.0))
        self.theta, self.stepper = stepper.theta, Theta(longest, stepper.theta)
        self.steps = system.workspace()  # in which steps are made
        self._setting_at, self._there = tape.point_settings(), -1
        self._put(0)
        self.stepper.restart(self.steps, float(tape.t[0]))
        self.tolerance, self.newton = tolerance, Corrector(self.steps, tolerance)
        self.work, self.stepper.newton = self.newton.work, self.newton
        self._read = np.flatnonzero(np.diff(self.C.indptr))
        self._history: list[tuple[float, np.ndarray]] = []

    def linearised(self, X: np.ndarray, t: float, k: int) -> Point:
        self.work.jacobian()
        return super().linearised(X, t, k)

    def factors(self, point: Point, of: Coefficients) -> Factors:
        """One set of factors, for the steps and for their sensitivities."""
        self.newton.forget()
        self.refactor(self.newton.lu, point, of)
        self.work.factor()
        return self.newton.lu

    def give_back(self, factors: Factors) -> None:
        """Nothing: there is one set."""

    def step(self, record: Step) -> Any:
        """A step, which is made when its tangent is asked for."""
        if record.h > 0:
            self.work.counters["steps"] += 1
        if record.guard >= 0 or record.h == 0:
            self._history.clear()
            self.make(record)
            self.work.counters["direct_solves"] += 1
            return super().step(record)
        return _Together(self, record)

    def resolve(self, k: int) -> ResolveOperator:
        """The algebraic equations solved again, and the operator of that."""
        self._put(k + 1)
        rows, X = self.steps.differential, self.steps.X
        X[~rows] = self.tape.states.row(k)[~rows]
        self.newton.resolve(rows, self.system.Z0[: self.system.n])
        self.stepper.restart(self.steps, float(self.tape.t[k]))
        self._history.clear()
        self.work.counters["direct_solves"] += 1
        return super().resolve(k)

    def _put(self, k: int) -> None:
        """Put a point of the tape into the workspace of the steps."""
        settings, ws = int(self._setting_at[k]), self.steps
        if settings != self._there:
            ws.Z[self.n:-1] = self.tape.settings[settings]
            ws.refresh()
            ws.differential[:] = self.differential(settings)
            self._there = settings
        ws.X[:], ws.Z[-1] = self.tape.states.row(k), self.tape.t[k]

    def make(self, record: Step) -> None:
        """Make a step again, from the state on the tape."""
        if record.h > 0:
            self._put(record.k)
            t = float(self.tape.t[record.k])
            self.stepper.advance(t, t + record.h)

    def together(self, record: Step, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        """Make a step and find the tangent at its end."""
        tangents = (dX, dP, dT0, dT1)
        if not (dX.any() or dT0.any() or dT1.any() or dP[:, self._read].any()):  # nothing has moved so far
            self.make(record)
            return np.zeros_like(dX)
        found = self.solve(record, tangents)
        self._history = [*self._history[-1:], (record.h, (found - dX) / record.h)]
        return found

    def solve(self, record: Step, tangents: tuple[np.ndarray, ...]) -> np.ndarray:
        """The same where not all tangents are zero: here the strategies differ."""
        raise NotImplementedError

    def guess(self, record: Step, dX: np.ndarray) -> np.ndarray:
        """Extrapolated through the last three points."""
        out, latest = dX.copy(), self._history[::-1]
        for weight, (_, slope) in zip(weights(record.h, [h for h, _ in latest]), latest, strict=True):
            out += weight * slope
        return out

    def right(self, operator: ThetaOperator, tangents: tuple[np.ndarray, ...]) -> np.ndarray:
        """Right-hand sides of the sensitivity equations."""
        count = len(tangents[0])
        self.work.counters["right_hand_sides"] += count
        self.work.multiply(len(self.B.indices) + 2 * len(self.C.indices), count)
        return operator.right(*tangents)

    def residual(self, matrix: np.ndarray, right: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """``b - A x`` of all rows."""
        self.work.multiply(len(matrix), len(rows))
        return right - self.A.product(matrix, rows)

    def precondition(self, rows: np.ndarray) -> np.ndarray:
        """Solve with the factors that there are."""
        solved: np.ndarray = self.newton.lu.solve(np.ascontiguousarray(rows))
        return solved

    def direct(self, operator: ThetaOperator, right: np.ndarray) -> np.ndarray:
        """Solve with factors of the converged step's matrix; they serve the next step."""
        self.factors(operator.p1, operator.of)
        self.newton.adopt()
        self.work.counters["direct_solves"] += 1
        return self.precondition(right)

    def size(self, correction: np.ndarray, rows: np.ndarray) -> float:
        """Of a correction against what it corrects, in units of the tolerance: the worst of all rows."""
        largest = np.maximum(np.abs(rows).max(axis=1), _SMALL)
        return float((np.abs(correction).max(axis=1) / largest).max()) / self.tolerance


class StaggeredDirect(Strategy):
    """New factors at every step."""

    def solve(self, record: Step, tangents: tuple[np.ndarray, ...]) -> np.ndarray:
        self.make(record)
        operator = _Linearised(self, record, self.point(record.k + 1))
        return self.direct(operator, self.right(operator, tangents))


class StaggeredCorrector(Strategy):
    """An iteration with the factors of the Newton iteration; new ones where those have become slow."""

    def solve(self, record: Step, tangents: tuple[np.ndarray, ...]) -> np.ndarray:
        self.make(record)
        operator = _Linearised(self, record, self.point(record.k + 1))
        right = self.right(operator, tangents)
        if self.newton.made < self.newton.patience:
            matrix = self.matrix(operator.p1, operator.of)
            before = self.newton.lu.solves
            found, made, converged = self.iterate(matrix, right, self.guess(record, tangents[0]))
            self.work.counters["iterations"] += made
            self.work.counters["inner_solves"] += self.newton.lu.solves - before
            if converged:
                self.work.counters["iterative_solves"] += 1
                return found
        return self.direct(operator, right)

    def iterate(self, matrix: np.ndarray, right: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, int, bool]:
        """Solve with old factors: the solution, the iterations made, and whether they converged."""
        found, before = guess, np.inf
        for made in range(1, self.newton.patience + 1):
            correction = self.precondition(self.residual(matrix, right, found))
            found = found + correction
            size = self.size(correction, found)
            if size <= 1.0:
                return found, made, True
            if size > before:
                break
            before = size
        return found, made, False


class StaggeredHybrid(StaggeredCorrector):
    """GMRES preconditioned with the factors of the Newton iteration."""

    def iterate(self, matrix: np.ndarray, right: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, int, bool]:
        nothing = np.zeros_like(right)
        found, made, converged = gmres(lambda rows: -self.residual(matrix, nothing, rows), self.precondition,
                                       right, guess, self.tolerance, self.newton.patience, _SMALL)
        self.work.operations += (2 * made * (made + 3) + 2) * right.size
        return found, made, converged


class SimultaneousCorrector(Strategy):
    """State and sensitivities corrected in the same iteration, each linearised at the state it has reached."""

    def solve(self, record: Step, tangents: tuple[np.ndarray, ...]) -> np.ndarray:
        found, last = self.guess(record, tangents[0]), np.inf
        start = self.point(record.k)

        def beside() -> float:
            nonlocal found, last
            reached = _Reached(self, record.k + 1, start.differential)
            operator = _Linearised(self, record, reached)
            correction = self.precondition(self.residual(reached.matrix, self.right(operator, tangents), found))
            found = found + correction
            last = self.size(correction, found)
            return last

        self.newton.beside = beside
        self.make(record)
        self.newton.beside = None
        if last > 1.0:  # the iteration was given up, and the state found otherwise
            operator = _Linearised(self, record, self.point(record.k + 1))
            return self.direct(operator, self.right(operator, tangents))
        self.work.counters["iterative_solves"] += 1
        self.work.counters["iterations"] += self.newton.made
        return found


STRATEGIES: dict[str, type[Strategy]] = {
    "simultaneous corrector": SimultaneousCorrector, "staggered direct": StaggeredDirect,
    "staggered corrector": StaggeredCorrector, "staggered hybrid": StaggeredHybrid}


class _Together:
    """A step whose tangent is found together with its state; what a jump rule uses of an operator."""

    def __init__(self, strategy: Strategy, record: Step):
        self.points, self.record = strategy, record

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        return self.points.together(self.record, dX, dP, dT0, dT1)


class _Linearised(ThetaOperator):
    """The equations of a step to a given end, not factored."""

    def __init__(self, strategy: Strategy, record: Step, end: Any):
        Operator.__init__(self, strategy)
        self.record, self.theta = record, strategy.theta
        self.p0, self.p1 = strategy.point(record.k), end
        self.of = strategy.coefficients(end, record.h * self.theta, record.h * (1 - self.theta))


class _Reached:
    """The system at the X that an iteration has reached, in the workspace of the steps."""

    def __init__(self, strategy: Strategy, k: int, differential: np.ndarray):
        self.k, self.differential, self._ws = k, differential, strategy.steps
        self.matrix = strategy.steps.matrix().copy()
        self.Fp = strategy.parameter_map.values(strategy.steps.Z)
        strategy.work.jacobian()

    @cached_property
    def F(self) -> np.ndarray:
        """F, (n,)."""
        return self._ws.rhs().copy()

    @cached_property
    def Ft(self) -> np.ndarray:
        """Partial derivative of F in time, (n,)."""
        slope = self._ws.time_slope()
        return np.zeros(self._ws.n) if slope is None else slope
