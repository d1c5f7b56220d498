"""Residuals and their derivatives, against differences of the whole program; trials that fail."""

from __future__ import annotations

import numpy as np
import pytest
from fabrication import CLEAR, fabricated, smib

import gridcore as gc
from gridcore.equilibrium import starting_at
from gridcore.errors import CaseError
from gridcore_estimation import Measurements, Recording
from gridcore_estimation.problem import Problem, TrialFailed

WRT = ["GEN1.H", "GEN1.Xdp", "CCT1.x", "GEN1.P0", "fault.clear", "trip.t", "GEN1.omega"]


def differences(problem, x, step=1e-4):
    columns = []
    for j in range(len(x)):
        h = np.broadcast_to(step, len(x))[j] * (1 + abs(x[j])) * np.eye(len(x))[j]
        a, b, c, d = (problem.residuals(x + s * h) for s in (1.0, -1.0, 0.5, -0.5))
        columns.append((8 * (c - d) - (a - b)) / (6 * h[j]))
    return np.column_stack(columns)


def start_of(problem):
    return np.array([p.start for p in problem.parameters])


@pytest.fixture(scope="module")
def problem():
    """Samples beside the events, on the grid and between its points, of machine, bus and line."""
    times = np.array([0.0, 0.0987, 0.1043, 0.1678, 0.1734, 0.1788, 0.1851, 0.5, 0.777])
    return Problem([Recording(smib(), fabricated(smib(), times=times))], WRT)


def test_the_jacobian_is_the_derivative_of_the_residuals_of_the_program(problem):
    x = start_of(problem)
    exact = problem.jacobian(x)
    size = np.abs(exact).max(axis=0)
    np.testing.assert_allclose(exact / size, differences(problem, x, 2e-5) / size, rtol=0, atol=2e-6)
    assert (size > 0).all()


def test_adjoint_rows_are_the_forward_ones(problem):
    """With more parameters than samples the adjoint makes the Jacobian; its rows are those of the forward sweep."""
    data = fabricated(smib(), channels=["GEN1.omega"], times=np.array([0.1043, 0.777]))
    few = Problem([Recording(smib(), data)], WRT)
    x = start_of(few)
    kept = [k for k in range(problem.samples) if problem.attached[0].time[k] in (0.1043, 0.777)
            and problem.attached[0].column[k] == 0]
    np.testing.assert_allclose(few.jacobian(x), problem.jacobian(x)[kept], rtol=1e-9, atol=1e-10)


def test_the_gradient_by_one_adjoint_is_the_sum_over_the_jacobian(problem):
    x = start_of(problem)
    factors = np.linspace(-1, 2, problem.samples)
    np.testing.assert_allclose(problem.gradient(x, factors), factors @ problem.jacobian(x), rtol=1e-9, atol=1e-9)


def test_derivatives_go_through_a_delayed_trip_and_the_power_flow():
    times = np.array([30.0, 30.0731, 30.0788, 30.0842, 30.4])
    system = gc.build("wscc9_recovery_loads")
    grid = [(0.0, 0.5), (27.5, 0.01)]
    data = fabricated(system, channels=["BUS6.Vm", "LINE4-6.Q1"], times=times, step=grid)
    problem = Problem([Recording(system, data, grid)], ["LINE14.b", "RELAY14.threshold", "RELAY14.delay", "LOAD5.P0"])
    x = start_of(problem)
    exact = problem.jacobian(x)
    size = np.abs(exact).max(axis=0)
    expected = differences(problem, x, [1e-4, 2e-6, 2e-6, 2e-6])
    np.testing.assert_allclose(exact / size, expected / size, rtol=0, atol=2e-6)


def test_residuals_are_weighted_model_less_measurement_in_the_unit_of_the_quantity():
    times = np.array([0.3, 0.4])
    run = gc.simulate(smib(), 0.4)
    data = Measurements.of(times, {"BUS1.Vm": [24.0, 23.0], "CCT1.P1": [1110.0, 0.0]}, {"BUS1.Vm": 4.0, "CCT1.P1": 1.0},
                           units={"BUS1.Vm": "kV", "CCT1.P1": "MW"})
    r = Problem([Recording(smib(), data)], "GEN1.H").residuals(np.array([3.5]))
    Vm, P = (np.interp(times, run.t, run[key]) for key in (("BUS1", "Vm"), ("CCT1", "P1")))
    np.testing.assert_allclose(r, [*(2 * (Vm - [1.0, 23 / 24])), *(P - [0.5, 0.0])], rtol=0, atol=1e-12)


@pytest.mark.parametrize("t_end", [0.4, CLEAR])
def test_of_samples_at_one_time_the_first_counts_which_is_the_value_before_what_switched(t_end):
    run = gc.simulate(smib(), t_end=t_end)
    assert np.count_nonzero(np.diff(run.t) == 0) >= 2  # the fault, and its end
    names = ["GEN1.omega", "GEN1.delta", "BUS1.Vm", "CCT1.P1"]
    data = Measurements.of(run.t, {name: run[name] for name in names})
    problem = Problem([Recording(smib(), data)], ["GEN1.H", "CCT1.x"])
    x = start_of(problem)
    assert np.abs(problem.residuals(x)).max() < 1e-13
    assert np.count_nonzero(problem.weight) == len(names) * len(np.unique(run.t))
    exact, size = problem.jacobian(x), np.abs(problem.jacobian(x)).max(axis=0)
    np.testing.assert_allclose(exact / size, differences(problem, x, 2e-5) / size, rtol=0, atol=2e-6)


def test_a_trial_of_the_true_values_fits_and_nothing_is_traced_again(monkeypatch):
    data = fabricated(smib().with_values({"GEN1.H": 4.0, "CCT1.x": 0.45}))
    problem = Problem([Recording(smib(), data)], ["GEN1.H", "CCT1.x"])
    problem.jacobian(start_of(problem))
    monkeypatch.setattr("gridcore.equations.layout.Trace", None)
    monkeypatch.setattr("gridcore.equations.native.compile_libraries", None)
    assert np.abs(problem.residuals(np.array([4.0, 0.45]))).max() == 0.0
    problem.jacobian(np.array([4.0, 0.45]))


def test_initial_values_are_parameters_and_others_stay_where_they_were_put():
    base = starting_at(smib(), {"GEN1.delta": 0.9})
    problem = Problem([Recording(base, fabricated(starting_at(base, {"GEN1.omega": 1.003})))], ["GEN1.omega", "GEN1.H"])
    assert problem.system(0, np.array([1.003, 3.5])).Z0[base.layout.address("GEN1.delta")] == 0.9
    assert np.abs(problem.residuals(np.array([1.003, 3.5]))).max() < 1e-12
    x = np.array([1.001, 3.6])
    np.testing.assert_allclose(problem.jacobian(x), differences(problem, x, 1e-5), rtol=1e-6, atol=1e-6)


def test_recordings_share_parameters_but_for_those_that_are_named_with_one():
    second = smib().with_values({"GEN1.P0": 0.8})
    recordings = [Recording(smib(), fabricated(smib()), name="monday"),
                  Recording(second, fabricated(second, channels=["BUS1.Vm"]), name="friday")]
    problem = Problem(recordings, ["GEN1.H", "friday:fault.clear"])
    assert problem.names == ["GEN1.H", "friday:fault.clear"]
    J = problem.jacobian(np.array([3.5, CLEAR]))
    assert (J[problem.rows[0], 1] == 0).all()
    assert (J[problem.rows[1], 1] != 0).any()
    np.testing.assert_allclose(J, differences(problem, np.array([3.5, CLEAR]), 2e-5), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("x", [[-1.0, 0.5], [3.5, 0.0], [np.nan, 0.5]])
def test_a_trial_that_cannot_be_is_a_failed_trial(x):
    problem = Problem([Recording(smib(), fabricated(smib()))], ["GEN1.H", "CCT1.x"])
    with pytest.raises(TrialFailed):
        problem.residuals(np.array(x))
    assert problem.failures == 1


@pytest.mark.parametrize(("wrt", "said"), [
    ("GEN1.h", "no parameter or state matches 'GEN1.h'; did you mean GEN1.H"),
    ("GEN1.Pm", "'GEN1.Pm' is found by initialisation"),
    ("trip.reclose", "trip.reclose is inf in the case"),
    ([], "wrt is empty"),
    ("base.omega_b", "base.omega_b is not a parameter that the case gives"),
    ("mondy:GEN1.H", "no recording is called 'mondy'; did you mean monday"),
    (["GEN1.H", "monday:GEN1.H"], "monday:GEN1.H and GEN1.H are the same parameter")])
def test_what_cannot_be_estimated_is_refused(wrt, said):
    with pytest.raises(CaseError) as error:
        Problem([Recording(smib(), fabricated(smib()), name="monday")], wrt)
    assert said in str(error.value)


@pytest.mark.parametrize(("columns", "options", "said"), [
    ({"GEN1.omga": [1.0, 1.0]}, {}, "channel 'GEN1.omga': no quantity matches 'GEN1.omga'; did you mean GEN1.omega"),
    ({"BUS*.Vm": [1.0, 1.0]}, {}, "is a pattern of 3 quantities"),
    ({"BUS1.Vm": [1.0, 1.0]}, {"t_end": 0.2}, "1 of 2 samples are outside the run (0 to 0.2 s), the first at 0.3 s")])
def test_channels_and_times_that_the_run_has_not_are_refused(columns, options, said):
    with pytest.raises(CaseError) as error:
        Problem([Recording(smib(), Measurements.of([0.1, 0.3], columns), **options)], "GEN1.H")
    assert said in str(error.value)


def test_the_last_digits_of_a_clock_are_not_outside_the_run():
    times = np.array([-1e-12, 0.1, 0.30000000000000004])
    problem = Problem([Recording(smib(), Measurements.of(times, {"BUS1.Vm": [1.0, 1.0, 1.0]}), t_end=0.3)], "GEN1.H")
    assert problem.attached[0].time.tolist() == [0.0, 0.1, 0.3]


def test_times_before_the_run_and_units_that_do_not_convert_are_refused():
    data = Measurements.of([0.1, 0.3], {"BUS1.Vm": [1.0, 1.0]}, units={"BUS1.Vm": "MW s"})
    with pytest.raises(CaseError, match=r"channel 'BUS1.Vm': unit 'MW s' is not understood here"):
        Problem([Recording(smib(), data)], "GEN1.H")
    with pytest.raises(CaseError, match=r"outside the run .* the first at -0.113 s"):
        Problem([Recording(smib(), fabricated(smib()).shifted(-0.15))], "GEN1.H")
