"""The conformance check of integrators: the built-in ones are well; one that is wrong in one way is told so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.integrate import Advance, Stepper
from gridcore.registry import integrators, registered
from gridcore.testing import integrator_checks
from gridcore_conformance.integrators import STEP, T_END, Fading, solution
from gridcore_theta import Theta, ThetaOperator
from gridcore_trbdf2.stepper import TrBdf2

EVERY = ("stepper", "run", "order", "state within a step", "between points", "restart", "transpose", "derivatives")


@pytest.mark.parametrize(("make", "options", "order"), [
    (Theta, {}, None), (Theta, {"theta": 0.6}, 1), (Theta, {"theta": 1.0}, 1), (TrBdf2, {}, None)])
def test_what_is_shipped_is_well_and_the_report_says_what_was_checked(
        make: Callable[..., Stepper], options: dict[str, Any], order: float | None) -> None:
    before = integrators["theta"]
    report = integrator_checks.report(make, order=order, **options)
    assert report.ok, report
    assert tuple(line.partition(":")[0] for line in report.passed) == EVERY
    assert not [line for line in report.passed if "not examined" in line]
    assert integrators["theta"] is before  # it was checked, not registered


def test_the_solution_of_the_problem_is_one() -> None:
    with registered(Fading):
        case = gc.Case("fading")
        case.add(gc.Record("Fading", {"id": "fading"}))
        run = gc.simulate(gc.build(case), T_END, STEP / 50)
    times, x = solution()
    np.testing.assert_allclose([e.t for e in run.events], times, rtol=1e-6)
    np.testing.assert_allclose(run["fading", "x"][-1], x, rtol=1e-6)
    part = solve_ivp(lambda t, x: -x * x * (1 + t), (0, times[0]), [1.0], rtol=1e-10, atol=1e-12)
    assert part.y[0, -1] == pytest.approx(0.6, rel=1e-8)


class Remembering(Theta):
    """What it solves is known worse and worse, restart or not."""

    count = 0

    def advance(self, t: float, target: float) -> Advance:
        self.count += 1
        found = super().advance(t, target)
        self.ws.X[:] *= 1 + 1e-12 * self.count
        return found


class Stubborn(Theta):
    """It moves the end of its steps, but not quite."""

    advancing = False

    def advance(self, t: float, target: float) -> Advance:
        self.advancing = True
        found = super().advance(t, target)
        self.advancing = False
        return found

    def state_at(self, t: float) -> None:
        super().state_at(t)
        self.ws.X[:] *= 1 + 1e-6 * (not self.advancing)


class Boastful(Theta):
    """Backward Euler."""

    def __init__(self, step: float, theta: float = 1.0):
        super().__init__(step, theta)
        self.order = 2


class Nameless(Theta):
    name = None  # type: ignore[assignment]


class Short(Theta):
    """It never arrives."""

    def advance(self, t: float, target: float) -> Advance:
        if target > 1.0:
            raise gc.errors.ConvergenceError("it is tired", t=t)
        return super().advance(t, target)


class _Untransposed(ThetaOperator):
    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        aX, aT0, aT1 = super().transpose(adjoint, aP)
        return 1.001 * aX, aT0, aT1


class Untransposed(Theta):
    def operator(self, record: Any, points: Any) -> ThetaOperator:
        return _Untransposed(record, points, self.theta)


class _Still(ThetaOperator):
    """Whose end does not move: tangent and transpose agree."""

    @property
    def end(self) -> np.ndarray:
        return 0.9 * self.phi + self.of.c * self.p1.Ft


class Still(Theta):
    def operator(self, record: Any, points: Any) -> ThetaOperator:
        return _Still(record, points, self.theta)


class Straight(Theta):
    """Between its points the first half of each step stands still."""

    def interpolate(self, record: Any, points: Any, t: np.ndarray) -> np.ndarray:
        found = super().interpolate(record, points, t)
        found[t < points.tape.t[record.k] + record.h / 2] = points.state(record.k)
        return found


class Astray(Theta):
    """Its interpolant does not end where the step does."""

    def interpolate(self, record: Any, points: Any, t: np.ndarray) -> np.ndarray:
        return super().interpolate(record, points, t) + 1e-6


class Plain(Theta):
    """Not to be differentiated."""

    operator = Stepper.operator


@pytest.mark.parametrize(("make", "wrong", "words"), [
    (Remembering, "restart", "depends on what was before"), (Stubborn, "state within a step", "off by"),
    (Boastful, "order", "in place of 2"), (Nameless, "stepper", "name"), (Short, "run", "it is tired"),
    (Straight, "between points", "where at the points it is 1.98"), (Astray, "between points", "ends of steps"),
    (Untransposed, "transpose", "differ"), (Still, "derivatives", "by differences")])
def test_what_is_wrong_is_said_in_words(make: type[Theta], wrong: str, words: str) -> None:
    report = integrator_checks.report(make)
    assert not report.ok
    assert any(line.startswith(f"{wrong}: ") and words in line for line in report.problems), report
    if make in (Boastful, Untransposed, Still):
        others = [line for line in report.problems if not line.startswith(f"{wrong}: ")]
        assert all(line.startswith("derivatives") for line in others), report


def test_one_that_is_not_differentiated_is_no_worse() -> None:
    report = integrator_checks.report(Plain)
    assert report.ok, report
    assert sum("no operator" in line for line in report.passed) == 2
