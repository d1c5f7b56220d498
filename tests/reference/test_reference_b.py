"""Reference B (2013): the continuous adjoint on a variable-step run; the optimal trajectory touches the limit."""

from __future__ import annotations

import numpy as np
import pytest
from scripts import script

pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
b = script("reference_b")


@pytest.fixture(scope="module")
def optimum():
    problem = b.Problem()
    result = problem.optimise()
    return problem, result


def test_the_optimal_trajectory_touches_the_limit_and_does_not_cross_it(optimum):
    """To the width of a line in the figure, a tenth of a degree."""
    problem, result = optimum
    assert result.success
    highest = np.degrees(problem.run(result.x[0])["SWING", "delta"].max() - b.PHI_S)
    assert -0.1 < highest < 0.1


def test_it_is_a_minimum(optimum):
    """The value is larger on both sides by what the curvature says; the gradient changes sign."""
    problem, result = optimum
    at, left, right = (problem.gradient(result.x[0] + d) for d in (0.0, -2e-4, 2e-4))
    assert left.item() < 0 < right.item()
    assert min(left.value.item(), right.value.item()) > at.value.item()


def test_no_larger_power_is_any_better(optimum):
    problem, result = optimum
    values = [problem.gradient(pm).value.item() for pm in np.linspace(0.0, 1.1, 23)]
    assert min(values) > result.fun - 1e-6


@pytest.mark.parametrize("pm", [1.0, 1.02, 1.06])
def test_the_gradient_is_that_of_the_values(pm):
    """Central differences of IDA's values: they have its tolerance, so three digits."""
    problem = b.Problem()
    g, d = problem.gradient(pm), 2e-4
    slope = (problem.gradient(pm + d).value.item() - problem.gradient(pm - d).value.item()) / (2 * d)
    assert g.item() == pytest.approx(slope, rel=5e-3)
    assert g.attrs["approximate"] == "yes"
    assert g.attrs["discrepancy"] < 1e-3


def test_in_radians_the_same_penalty_lets_it_pass_by_four_degrees():
    problem = b.Problem(b.UNITS["radians"])
    result = problem.optimise()
    assert np.degrees(problem.run(result.x[0])["SWING", "delta"].max() - b.PHI_S) == pytest.approx(3.94, abs=0.05)


def test_with_the_limit_as_a_constraint_the_trajectory_touches_it_and_does_not_cross_it_at_all():
    found = b.within()
    assert found.success
    highest = b.Problem().run(found.x.item())["SWING", "delta"].max()
    assert -1e-6 < highest - b.PHI_S < 1e-9
    assert found.x.item() == pytest.approx(1.0058, abs=5e-4)
