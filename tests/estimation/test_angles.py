"""Angles are measured, and simulated, to the next turn: residuals and their derivatives know of no turns."""

from __future__ import annotations

import dataclasses
import functools

import matplotlib
import numpy as np
import pytest
from fabrication import CLEAR, smib
from test_problem import WRT, differences, start_of

import gridcore as gc
from gridcore.sensitivity import Sampling
from gridcore_estimation import Measurements, Recording
from gridcore_estimation.problem import Problem

matplotlib.use("Agg")

TURN = 2 * np.pi


@functools.cache
def falling():
    """A frequency that falls after a step of load: in 8 s the angles turn back more than six times."""
    case = gc.load_case("wscc9")
    for event in ("fault", "trip"):
        case.remove(event)
    case.add("ParameterStep", id="st", parameter="LOAD5.P0", t=0.2, scale=1.3)
    return gc.build(case)


@functools.cache
def recorded():
    true = gc.simulate(falling().with_values({"GEN2.H": 7.0}), t_end=8.0)
    return Measurements.of(true.t, {name: true[name] for name in ("BUS6.Va", "GEN2.delta")}).between(0.25, 8)


@pytest.mark.parametrize("start", [3.0, 6.4, 15.0])
@pytest.mark.parametrize("channel", ["BUS6.Va", "GEN2.delta"])
def test_a_fit_to_angles_that_turn_finds_the_truth_from_near_and_far(channel, start):
    """From afar the simulation is off by more than a turn at the end."""
    fit = gc.analyses.estimate(falling(), recorded().only(channel), wrt="GEN2.H", start={"GEN2.H": start})
    assert fit.converged
    assert fit["GEN2.H"] == pytest.approx(7.0, rel=1e-6)


@pytest.mark.parametrize("unit", ["rad", "deg"])
def test_residuals_do_not_depend_on_turns_of_any_sample(unit):
    """Neither on where a recorder wraps an angle, nor on how many there are between samples, nor on their order."""
    data, few = recorded(), recorded().every(40)
    x = np.array([6.4])
    expected = Problem([Recording(falling(), data)], "GEN2.H").residuals(x)
    turns = np.random.default_rng(1).integers(-9, 10, len(data))
    turned = np.round(data.value / TURN) - turns
    size = {"rad": 1.0, "deg": 180 / np.pi}[unit]
    wrapped = dataclasses.replace(data, value=size * (data.value - TURN * turned),
                                  units=dict.fromkeys(data.channels, unit))
    r = Problem([Recording(falling(), wrapped)], "GEN2.H").residuals(x)
    np.testing.assert_allclose(r, expected, rtol=0, atol=1e-11)  # of sums of turns
    thinned = [k for name in data.channels for k in np.flatnonzero(data.channel == name)[::40]]
    r = Problem([Recording(falling(), few)], "GEN2.H").residuals(x)
    np.testing.assert_allclose(np.sort(r), np.sort(expected[thinned]), rtol=0, atol=1e-12)


def test_angles_of_no_weight_tell_nothing_of_turns():
    """What a recorder gives for the angle of no voltage: left out, it leaves the others where they are."""
    data = recorded().only("BUS6.Va")
    bad = (data.time > 1) & (data.time < 1.1)
    value = np.where(bad, 2.2 * np.arange(len(data)), data.value)
    r = [Problem([Recording(falling(), dataclasses.replace(data, value=v, weight=1.0 - bad))], "GEN2.H").residuals(
        np.array([6.4])) for v in (data.value, value)]
    np.testing.assert_array_equal(*r)


@functools.cache
def turning():
    """The angle of a bus passes half a turn in the step behind the fault, whose first point moves with it."""
    run = gc.simulate(smib(), 0.3)
    after = np.flatnonzero(run.t == CLEAR)[-1]
    case = smib().case.copy()
    case.set("BUS*.Va0", np.pi - float(run["BUS1.Va"][after: after + 2].mean()))
    system = gc.build(case)
    assert np.ptp(gc.simulate(system, 0.3)["BUS1.Va"][after: after + 2]) > 6
    return system


def problem_of(times):
    data = Measurements.of(times, {"BUS1.Va": np.zeros(len(times))})
    return Problem([Recording(turning(), data)], WRT)


def test_between_two_points_an_angle_goes_the_short_way():
    times = np.array([0.1, 0.1734, 0.1788, 0.25])
    problem = problem_of(times)
    run = gc.simulate(turning(), 0.25)
    curve = Sampling.of(run, times).values(np.unwrap(run["BUS1.Va"]))
    found = problem.model(start_of(problem)) - curve
    np.testing.assert_allclose(found, TURN * np.round(found / TURN), rtol=0, atol=1e-12)


@pytest.mark.parametrize("times", [[0.1734, 0.1788], [0.05, 0.1043, 0.1678, 0.1734, 0.1788, 0.1851, 0.21, 0.25]])
def test_derivatives_of_angles_are_exact_where_a_point_moves_beside_half_a_turn(times):
    """The Jacobian by the adjoint and by the forward sweep, and the gradient."""
    problem = problem_of(np.array(times))
    x = start_of(problem)
    exact = problem.jacobian(x)
    size = np.abs(exact).max(axis=0) + 1e-9
    np.testing.assert_allclose(exact / size, differences(problem, x, 2e-5) / size, rtol=0, atol=2e-6)
    factors = np.linspace(-1, 2, problem.samples)
    np.testing.assert_allclose(problem.gradient(x, factors), factors @ exact, rtol=1e-9, atol=1e-9)


def test_the_figure_has_measured_angles_beside_the_simulated_ones(tmp_path):
    data = recorded().only("BUS6.Va")
    fit = gc.analyses.estimate(falling(), data, wrt="GEN2.H")
    curve, measured = gc.analyses.plot_fit(fit, tmp_path / "fit.svg").axes[0].get_lines()
    assert np.ptp(curve.get_ydata()) > 6 * TURN
    np.testing.assert_allclose(np.interp(measured.get_xdata(), *curve.get_data()), measured.get_ydata(), atol=1e-5)
