"""Differences of the program agree with an exact gradient, and find one that is not."""

import warnings

import numpy as np
import pytest

import gridcore as gc
from gridcore.equilibrium import starting_at
from gridcore.errors import CaseError, EventError
from gridcore.sensitivity import CoincidenceWarning

X1 = gc.Terminal(lambda v: v["HP", "x1"], name="x1")
X2 = gc.Integral(lambda v: v["HP", "x2"] ** 2, name="energy")


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("hiskens_pai"), t_end=0.2, step=0.001)


def test_differences_agree_with_the_adjoint(run):
    names = ["HP.p1", "HP.p2", "HP.x10", "HP.x20", "HP.a12"]
    exact, checked = gc.adjoint(run, [X1, X2], names), gc.differences(run, [X1, X2], names)
    np.testing.assert_allclose(exact, checked, rtol=1e-7, atol=1e-10)
    assert list(checked.parameter.values) == names
    np.testing.assert_array_equal(exact.value, checked.value)


def test_differences_find_a_jump_rule_that_is_not_exact(run):
    formula, checked = gc.adjoint(run, X1, "HP.p1", jumps="continuous"), gc.differences(run, X1, "HP.p1")
    assert 4e-4 < abs(formula.item() / checked.item() - 1) < 5e-4


def test_differences_go_through_power_flow_and_initialisation():
    case = gc.load_case("wscc9")
    case.set("fault.t", 0.1037)  # off the grid: on it, the discretised program has a kink in the time of an event
    run = gc.simulate(gc.build(case), t_end=0.4, step=0.01)
    speed = gc.Terminal(lambda v: v["GEN2", "omega"])
    names = ["LINE7-8.x", "GEN3.P0", "GEN1.V0", "fault.t"]
    np.testing.assert_allclose(gc.adjoint(run, speed, names), gc.differences(run, speed, names), rtol=1e-6)


def test_what_a_case_does_not_give_cannot_be_differenced(run):
    with pytest.raises(CaseError, match=r"HP\.x1 is not a parameter that the case gives"):
        gc.differences(run, X1, "HP.x1")


@pytest.mark.parametrize("step", [0, -1e-4, np.nan, np.inf, "1e-4", None, np.ones(2)])
def test_a_step_is_a_number_above_zero(run, step):
    with pytest.raises(CaseError, match="must be a number above 0, and at most 1"):
        gc.differences(run, X1, "HP.p1", relative_step=step)


@pytest.mark.parametrize("step", [1e-17, 1e-320])
def test_a_step_that_changes_nothing_is_refused(run, step):
    with pytest.raises(CaseError, match=r"HP\.p1 = .*: a step of .* is lost in its round-off"):
        gc.differences(run, X1, "HP.p1", relative_step=step)


def test_other_events_are_no_derivative(run):
    with pytest.raises(EventError, match="other events"):
        gc.differences(run, X1, "HP.p1", relative_step=0.5)


def test_given_initial_values_stay_given():
    system = starting_at(gc.build("wscc9"), {"GEN2.omega": 1.001})
    run = gc.simulate(system, 0.3)
    end = gc.Terminal(lambda v: v["GEN2", "delta"])
    exact = gc.adjoint(run, end, ["GEN2.H", "EXC1.KA"]).values
    np.testing.assert_allclose(gc.differences(run, end, ["GEN2.H", "EXC1.KA"]).values, exact, rtol=1e-6, atol=1e-9)


def test_reactive_limits_stay_in_force():
    case = gc.load_case("wscc9")
    case.set("GEN2.Qmax", 0.03)
    run = gc.simulate(gc.build(case, enforce_q_limits=True), 0.3)
    end = gc.Terminal(lambda v: v["GEN2", "omega"])
    exact = gc.adjoint(run, end, ["GEN2.Qmax"]).values
    assert abs(exact) > 1e-6
    np.testing.assert_allclose(gc.differences(run, end, ["GEN2.Qmax"]).values, exact, rtol=1e-6)


def test_at_an_event_on_the_grid_the_mean_of_both_sides_is_warned_of():
    run = gc.simulate(gc.build("wscc9"), 0.15)  # the fault is at 0.1 s
    speed = gc.Terminal(lambda v: v["GEN2", "omega"])
    with pytest.warns(CoincidenceWarning, match="the difference in fault.t is the mean"):
        gc.differences(run, speed, "fault.t")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CoincidenceWarning)
        gc.differences(run, speed, "GEN2.H")


def test_a_run_of_two_methods_is_not_differenced():
    run = gc.simulate(gc.simulate(gc.build("hiskens_pai"), 0.02, 0.001), 0.04, method="trbdf2")
    with pytest.raises(CaseError, match="the method of this run changed on its way"):
        gc.differences(run, X1, "HP.p1")


def test_of_a_retraced_run_they_are_those_of_its_mesh_and_method():
    case = gc.load_case("wscc9")
    case.set("fault.t", 0.1037)
    run = gc.retrace(gc.simulate(gc.build(case), 0.3, method="ida"))
    speed = gc.Terminal(lambda v: v["GEN2", "omega"])
    names = ["GEN2.H", "fault.t", "LINE7-8.x"]
    checked = gc.differences(run, speed, names)
    np.testing.assert_allclose(gc.adjoint(run, speed, names), checked, rtol=1e-6)
    assert checked.value == run["GEN2", "omega"][-1]
