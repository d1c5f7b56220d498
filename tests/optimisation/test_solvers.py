"""Every solver finds optima that have closed forms, steps back where a trial fails, and says how it ended."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quadratics import NAMES, START, SYSTEM, Linear, Quadratic, Wall
from scipy.optimize import lsq_linear

import gridcore as gc
from gridcore_optimisation import Constraint, optimise

HAS_IPOPT = importlib.util.find_spec("cyipopt") is not None
IPOPT = pytest.param("ipopt", marks=pytest.mark.skipif(not HAS_IPOPT, reason="cyipopt is not installed"))
BOUNDED = ["L-BFGS-B", "SLSQP", "trust-constr", IPOPT]
CONSTRAINED = BOUNDED[1:]
CENTRE = START * [1.05, 0.8, 1.2]
BOUNDS = {"SWING.Pm": (0.5, 1.5), "SWING.H": (2.0, 9.0), "SWING.D": (1.0, 9.0)}

# what they need to come nearer to an optimum than by default
ENDS = {"ipopt": {"max_iter": 300}, "SLSQP": {"ftol": 1e-14}}


@pytest.mark.parametrize("method", BOUNDED)
def test_the_centre_of_a_quadratic(method):
    found = optimise(SYSTEM, Quadratic(CENTRE), NAMES, method=method)
    assert found.success
    np.testing.assert_allclose(found.x, CENTRE, rtol=2e-5)
    assert found.optimality < 1e-6


@pytest.mark.parametrize("method", BOUNDED)
@settings(max_examples=8, deadline=None)
@given(centre=st.tuples(*[st.floats(0.6, 1.5)] * 3), skew=st.floats(-0.6, 0.6))
def test_a_skew_quadratic_within_bounds(method, centre, skew):
    """Against the bounded least squares of scipy, which needs no gradient.

    An interior-point method stays off a bound that hardly holds, at no cost: there the values are compared.
    """
    root = np.array([[1.0, skew, 0.0], [0.0, 0.4, skew], [0.0, 0.0, 0.3]])
    at = START * centre
    low, high = START * 0.9, START * 1.1
    expected = lsq_linear(root, root @ at, bounds=(low, high), method="bvls", tol=1e-14).x
    found = optimise(SYSTEM, Quadratic(at, root.T @ root), NAMES, method=method,
                     bounds=dict(zip(NAMES, zip(low, high))), options=ENDS.get(method))
    if method in ("L-BFGS-B", "SLSQP"):
        np.testing.assert_allclose(found.x, expected, rtol=1e-5)
    assert found.value - 0.5 * np.sum((root @ (expected - at)) ** 2) <= 1e-6 * max(found.start, 1e-3)
    assert (found.x.values >= low).all()
    assert (found.x.values <= high).all()


@pytest.mark.parametrize("method", CONSTRAINED)
@settings(max_examples=8, deadline=None)
@given(normal=st.tuples(*[st.floats(0.2, 1.0)] * 3), below=st.floats(0.05, 0.5))
def test_a_limit_that_holds_is_met_and_its_multiplier_is_the_price(method, normal, below):
    """The point of a plane next to the centre, and the distance as the multiplier."""
    normal = np.array(normal)
    limit = normal @ CENTRE - below
    price = below / (normal @ normal)
    found = optimise(SYSTEM, Quadratic(CENTRE), NAMES, constraints=Constraint(Linear(normal), high=limit),
                     method=method, scale=1.0)
    np.testing.assert_allclose(found.x, CENTRE - price * normal, rtol=1e-5, atol=1e-6)
    assert found.constraints.multiplier.item() == pytest.approx(price, rel=1e-3, abs=1e-5)
    assert found.violation < 1e-6


@pytest.mark.parametrize("method", CONSTRAINED)
def test_limits_on_both_sides_and_an_equality(method):
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    low, sums = START[0] * 1.1, START[1] + START[2]
    found = optimise(SYSTEM, Quadratic(CENTRE), NAMES, method=method, scale=1.0, constraints=[
        Constraint(Linear(A[0]), low=low, high=low + 0.3), Constraint(Linear(A[1]), low=sums, high=sums)])
    middle = 0.5 * (CENTRE[1] - CENTRE[2] + sums)
    np.testing.assert_allclose(found.x, [low, middle, sums - middle], rtol=1e-5)
    assert found.constraints.multiplier.values[0] == pytest.approx(low - CENTRE[0], rel=1e-3)


@pytest.mark.parametrize("method", BOUNDED)
@pytest.mark.parametrize("seed", range(6))
def test_a_trial_that_fails_is_stepped_back_from(method, seed):
    """The optimum is a little before a wall behind which nothing has a value; the first steps run into it.

    A trust region shrinks there until the steepest descent is all that it sees, which may lead into the wall: it does
    not always find the optimum, and says so.
    """
    rng = np.random.default_rng(seed)
    normal, centre = rng.uniform(0.1, 1.0, 3), START * rng.uniform(1.02, 1.3, 3)
    wall = Wall(centre, normal, normal @ centre + 0.02)
    found = optimise(SYSTEM, wall, NAMES, method=method, scale=START * 2 @ np.ones(3))
    if found.success or method != "trust-constr":
        np.testing.assert_allclose(found.x, centre, rtol=1e-4)
    else:
        assert found.message.startswith("trials fail right beside")
    assert wall.hits == sum(trial.failed == "nothing behind the wall at SWING at t = 0.3 s" for trial in found.trials)
    assert max(wall.hits, 1) <= found.failures  # where Pm is more than the line carries, initialisation fails


def test_a_trust_region_finds_the_optimum_before_a_wall_that_its_steps_do_not_follow():
    """No step that it accepts is one that failed, however much its barrier has to gain there."""
    centre, normal = START * [1.3, 1.2, 1.1], np.array([1.0, 0.0, 0.0])
    wall = Wall(centre, normal, normal @ centre + 0.02)
    found = optimise(SYSTEM, wall, NAMES, method="trust-constr", scale=START * 2 @ np.ones(3))
    assert found.success
    np.testing.assert_allclose(found.x, centre, rtol=1e-4)


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr"])
@pytest.mark.parametrize("behind", [0.02, 0.1])
def test_a_search_that_ends_at_a_wall_is_no_success(method, behind):
    """There the gradient is whole: the optimum is behind it."""
    wall = Wall(START * [1.3, 1.2, 1.1], [1.0, 0.0, 0.0], START[0] * 1.3 - behind)
    ample = Constraint(Linear([0.0, 1.0, 0.0]), low=0.5 * START[1])
    found = optimise(SYSTEM, wall, NAMES, constraints=ample, method=method)
    assert found.failures > 10
    assert found.optimality > 1e-3
    assert not found.success
    assert found.message.startswith("trials fail right beside")


def test_an_optimum_at_a_limit_right_before_a_wall_is_one():
    """Steps that run into the wall get small, but the limit takes all of the gradient."""
    class Square(Linear):
        def value_and_gradient(self, system, parameters):
            values, slopes = super().value_and_gradient(system, parameters)
            return values**2, 2 * values[:, None] * slopes

    limit, first = START[0] * 1.23, np.array([1.0, 0.0, 0.0])
    wall = Wall([100.0, START[1], START[2]], first, limit + 1e-7)
    found = optimise(SYSTEM, wall, NAMES, constraints=Constraint(Square(first), high=limit**2))
    failed = [np.abs(trial.x - found.x.values).max() for trial in found.trials if trial.failed]
    assert min(failed) < 1e-6
    assert found.optimality < 1e-6
    assert found.success


@pytest.mark.parametrize("method", BOUNDED)
def test_each_point_is_evaluated_once(method):
    measure = Quadratic(CENTRE)
    found = optimise(SYSTEM, measure, NAMES, method=method)
    points = {trial.x.tobytes() for trial in found.trials}
    assert measure.calls == len(found.trials) == len(points)


def test_constraints_are_not_for_l_bfgs_b():
    with pytest.raises(gc.errors.CaseError, match="L-BFGS-B has no constraints but bounds: use SLSQP"):
        optimise(SYSTEM, Quadratic(CENTRE), NAMES, constraints=Constraint(Linear([1, 0, 0]), high=1), method="L-BFGS-B")


def test_ipopt_that_is_not_there_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cyipopt", None)
    with pytest.raises(gc.errors.MissingDependency, match="pip install cyipopt"):
        optimise(SYSTEM, Quadratic(CENTRE), NAMES, method="ipopt")


def test_a_method_of_ones_own():
    from gridcore_optimisation.solvers import Ended

    def newton(problem, options):
        hessian = options["hessian"] * problem.value_scale * np.diag(problem.parameters.scale) ** 2
        z = problem.z0 - np.linalg.solve(hessian, problem.gradient(problem.z0))
        return Ended(z, True, "one step", [problem.z0, z])

    found = optimise(SYSTEM, Quadratic(CENTRE), NAMES, method=newton, options={"hessian": np.eye(3)})
    np.testing.assert_allclose(found.x, CENTRE, rtol=1e-12)
    assert (found.method, found.iterations, found.message) == ("newton", 1, "one step")


def test_a_solver_that_gives_up_says_so():
    found = optimise(SYSTEM, Quadratic(CENTRE), NAMES, options={"maxiter": 1})
    assert not found.success
    assert "not converged" in repr(found)
    assert found.value < found.start


class Rounded(Quadratic):
    """A quadratic whose value, not whose gradient, is lost in a large constant."""

    def value_and_gradient(self, system, parameters):
        value, gradient = super().value_and_gradient(system, parameters)
        return 1e6 + value, gradient


def test_l_bfgs_b_goes_on_where_values_are_round_off():
    """Values are known to 1e-10, so a line search ends at gradients of 1e-5; the exact gradient takes it to 1e-14."""
    found = optimise(SYSTEM, Rounded(CENTRE), NAMES, options={"gtol": 1e-13})
    assert found.success
    np.testing.assert_allclose(found.x, CENTRE, rtol=1e-12)
