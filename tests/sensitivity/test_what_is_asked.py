"""Objectives as a user gives them: sums and differences of any kind, and in words what is none."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError

WRT = ["GEN*.H", "fault.clear"]


@pytest.fixture(scope="module")
def run():
    return gc.simulate("wscc9", 0.3)


def objectives():
    return [gc.Terminal(lambda v: v["GEN2", "omega"]), gc.Integral(lambda v: v["BUS7", "Vm"]),
            gc.Sampled([0.1, 0.155], lambda v: v["BUS5", "Vm"], [0.9, 1.0])]


def test_sums_differences_and_multiples_are_objectives(run):
    a, b, c = objectives()
    each = gc.adjoint(run, [a, b, c], WRT)
    made = gc.adjoint(run, [sum([a, b, c]), a - b, -c, b / 4, a - (b - c), 2 * a, 2 * (b / 4)], WRT)
    weights = np.array([[1, 1, 1], [1, -1, 0], [0, 0, -1], [0, 0.25, 0], [1, -1, 1], [2, 0, 0], [0, 0.5, 0]])
    np.testing.assert_allclose(made, weights @ each.values, rtol=1e-12, atol=1e-18)
    np.testing.assert_allclose(made["value"], weights @ each["value"].values, rtol=1e-12)


@pytest.mark.parametrize("number", [np.float16, np.float32, np.int8])
def test_a_factor_counts_in_full_whatever_type_it_has(run, number):
    speed = gc.Integral(lambda v: v["GEN2", "omega"] ** 2)
    once, more, less = (gc.adjoint(run, made, WRT) for made in (speed, speed * number(3), speed / number(4)))
    for of in (lambda found: found.values, lambda found: found["value"].values):
        np.testing.assert_allclose(of(more), 3 * of(once), rtol=1e-14)
        np.testing.assert_allclose(of(less), of(once) / 4, rtol=1e-14)


def test_a_sum_has_the_name_of_the_first_that_has_one():
    a, b, c = objectives()
    a.name, c.name = "angle", "deviation"
    assert [made.name for made in (a + b, b + a, a + c, b + c - a, 2 * a, b - b)] == [
        "angle", "angle", "angle", "deviation", "angle", ""]


@pytest.mark.parametrize("make", [lambda a, b: a * b, lambda a, b: a + 1, lambda a, b: 1 + a, lambda a, b: a * "2",
                                  lambda a, b: 1 / a])
def test_what_is_not_linear_is_no_objective(make):
    with pytest.raises(TypeError, match="Terminal"):
        make(*objectives()[:2])


@pytest.mark.parametrize("verb", [gc.adjoint, gc.differences, gc.analyses.forward_gradient])
def test_what_is_no_objective_no_run_or_no_address_is_said(run, verb):
    a, *_ = objectives()
    with pytest.raises(CaseError, match=r"<System of 'wscc9'.* is no run: gc\.simulate makes one of a system"):
        verb(run.system, a, WRT)
    for given in (None, [abs]):
        with pytest.raises(CaseError, match=r"is no objective: write gc\.Terminal\(function\)"):
            verb(run, given, WRT)
    for wrt in (None, [3]):
        with pytest.raises(CaseError, match="must be an address or a pattern, such as"):
            verb(run, a, wrt)
    assert verb(run, [], "GEN1.H").shape == (0, 1)


@pytest.mark.parametrize(("given", "says"), [
    ({"data": [1, 2, 3]}, "data of a sampled objective must be a number, or one for each of its 2 times"),
    ({"weights": [1, 2, 3]}, "weights of a sampled objective must be a number, or one for each of its 2 times"),
    ({"data": ["x", "y"]}, "data of a sampled objective must be a number"),
])
def test_samples_of_unequal_number_are_refused(run, given, says):
    with pytest.raises(CaseError, match=says):
        gc.adjoint(run, gc.Sampled([0.1, 0.2], lambda v: v["BUS5", "Vm"], **given), WRT)


def test_objectives_without_a_name_are_numbered_from_one(run):
    a, b, _ = objectives()
    b.name = "voltage"
    assert gc.adjoint(run, [a, b, a], WRT)["objective"].values.tolist() == ["objective 1", "voltage", "objective 3"]


@pytest.mark.parametrize("joint", [None, 3, "GEN1.H", [[]], [["GEN1.H"], ()]])
def test_what_moves_together_is_groups_of_names(run, joint):
    a, *_ = objectives()
    for derive in (gc.adjoint, gc.analyses.forward_gradient):
        with pytest.raises(CaseError, match=r"joint = .* must be groups of names: \[\('fault\.clear', 'trip\.t'\)\]"):
            derive(run, a, WRT, joint=joint)
    assert gc.adjoint(run, a, [], joint=iter([["GEN1.H", "GEN2.H"]])).shape == (1, 1)
