"""A run that has been continued already, has hardly begun, or chose its steps, goes on as it was."""

from __future__ import annotations

import numpy as np
import pytest
from devices_for_tests import registered

import gridcore as gc
from gridcore.errors import CaseError, ConvergenceError
from gridcore.integrate import Stepper
from gridcore.registry import records
from gridcore_theta import Theta


@pytest.fixture(scope="module")
def wscc9():
    return gc.build("wscc9")


@pytest.fixture(scope="module")
def of_two(wscc9):
    """By theta, then by TR-BDF2."""
    return gc.simulate(gc.simulate(wscc9, 0.1), 0.2, method="trbdf2")


def names(run: gc.Run) -> list[str]:
    return [method.name for method in run.tape.methods]


def test_a_run_of_two_methods_goes_on_with_the_second(wscc9, of_two):
    third = gc.simulate(of_two, 0.3)
    whole = gc.simulate(gc.simulate(wscc9, 0.1), 0.3, method="trbdf2")
    assert names(third) == names(whole) == ["theta", "trbdf2"]
    np.testing.assert_array_equal(third.X, whole.X)


def test_with_other_steps_it_is_the_second_method_still(of_two):
    assert names(gc.simulate(of_two, 0.3, 0.005)) == ["theta", "trbdf2"]


def test_on_the_mesh_of_such_a_run_the_second_method_goes(wscc9, of_two):
    assert names(gc.simulate(wscc9, mesh=of_two)) == ["trbdf2"]


@pytest.mark.parametrize("steps", [1, 2])
def test_a_run_of_one_step_goes_on_from_its_end(wscc9, steps):
    run = gc.simulate(gc.simulate(wscc9, 0.01 * steps), 0.05, 0.005)
    assert run.settings["step"] == [(0.0, 0.01), (0.01 * steps, 0.005)]
    np.testing.assert_array_equal(run.t, gc.simulate(wscc9, 0.05, run.settings["step"]).t)


def test_a_run_whose_first_step_failed_goes_on_from_its_beginning(wscc9):
    class Fails(Theta):
        stretch = Stepper.stretch

        def advance(self, t, target):
            raise ConvergenceError("it does not begin")

    with registered(records.Integrator("fails", Fails)):
        with pytest.raises(ConvergenceError, match="not begin") as failed:
            gc.simulate(wscc9, 0.1, method="fails")
        run = gc.simulate(failed.value.run, 0.05, 0.005, "theta")
    np.testing.assert_array_equal(run.X, gc.simulate(wscc9, 0.05, 0.005).X)


def test_spacings_that_lie_ahead_of_where_it_was_stopped_give_way_to_the_new_one(wscc9):
    def stop(t):
        if t > 0.05:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        gc.simulate(wscc9, 1.0, [(0.0, 0.02), (0.3, 0.05), (0.6, 0.1)], progress=stop)
    end = stopped.value.run.t[-1]
    run = gc.simulate(stopped.value.run, 0.4, 0.01)
    assert run.settings["step"] == [(0.0, 0.02), (end, 0.01)]
    assert np.diff(run.t[run.t > end]).max() == pytest.approx(0.01)


def test_options_of_its_method_are_shown_and_not_those_of_another(wscc9):
    run = gc.simulate(wscc9, 0.05, theta=0.7)
    assert gc.simulate(run, 0.1).settings["theta"] == 0.7
    assert "theta" not in gc.simulate(run, 0.1, method="trbdf2").settings


def test_a_run_that_chose_its_steps_is_one_spacing_of_the_grid_on_which_it_goes_on():
    case = gc.load_case("wscc9")
    for event in ("fault", "trip"):
        case.remove(event)
    run = gc.simulate(gc.simulate(gc.build(case), 1.1, "auto", t0=1.0), 1.2, 0.01)
    (begin, whole), (end, step) = run.settings["step"]
    assert (begin, end, step) == (1.0, 1.1, 0.01)
    assert whole == pytest.approx(0.1)


@pytest.mark.parametrize(("beyond", "refused"), [(1e-12, False), (5e-8, True)])
def test_an_end_within_what_counts_as_one_time_is_that_of_the_mesh(wscc9, beyond, refused):
    made = gc.simulate(wscc9, 0.1)
    if not refused:
        assert len(gc.simulate(wscc9, 0.1 + beyond, mesh=made).t) == len(made.t)
    else:
        with pytest.raises(CaseError, match=r"must not be after the end of the mesh, 0\.1 s"):
            gc.simulate(wscc9, 0.1 + beyond, mesh=made)


def test_a_failure_of_the_run_that_is_made_again_is_told_as_such(wscc9):
    class Fails(Theta):
        stretch = Stepper.stretch

        def advance(self, t, target):
            raise ConvergenceError("it does not begin")

    made = gc.simulate(wscc9, 0.05, method="trbdf2")
    with (registered(records.Integrator("fails", Fails)),
          pytest.raises(ConvergenceError, match=r"not begin; .* \(replaying a run of method 'trbdf2' on its mesh\)$")):
        gc.retrace(made, "fails")


@pytest.mark.parametrize("fault", [0.05, 0.06, 0.1])
def test_a_run_made_again_has_the_points_of_an_instant_that_the_run_had(fault):
    """Before the event, after it, and the grid's, at which the run stood still; none a hair beside it."""
    case = gc.load_case("wscc9")
    case.set("fault.t", fault)
    made = gc.simulate(gc.build(case), 0.15, method="trbdf2")
    again = gc.retrace(made, "trbdf2")
    assert np.unique(made.t, return_counts=True)[1].max() == 3  # before, after, and that point
    np.testing.assert_allclose(again.t, made.t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.X[-1], made.X[-1], rtol=0, atol=1e-9)
