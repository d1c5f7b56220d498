"""Reference D: parameters of a hybrid system with a delayed trip, from one voltage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from scripts import script

import gridcore as gc
from gridcore_estimation import Unidentifiable

d = script("reference_d")
STUDIES = d.studies()


@pytest.fixture(scope="module", params=["4.1", "4.2", "4.3"])
def study(request):
    return STUDIES[request.param]


def test_gauss_newton_finds_the_printed_values_in_no_more_than_the_printed_iterations(study):
    fit = study.fit()
    (parameter, printed), = study.printed.items()
    assert fit.iterates[0].x[0] == study.start[parameter]
    assert d.digits(fit[parameter], printed) == printed
    assert fit.converged
    assert fit.iterations <= study.iterations


def test_the_line_trips_after_its_delay_before_the_samples_begin():
    fit = STUDIES["4.1"].fit()
    armed, acted = (event for event in fit.runs[0].events if event.device == "RELAY14")
    assert (armed.kind, acted.kind) == ("delay started", "switch")
    assert acted.t - armed.t == pytest.approx(0.01, abs=1e-12)
    assert 30.0 < acted.t < STUDIES["4.1"].window[0]
    first = fit.problem.trial(fit.iterates[0].x).runs[0]
    assert next(event.t for event in first.events if event.device == "RELAY14") > armed.t + 0.05


def test_the_trips_time_is_part_of_the_derivative():
    """The derivative is that of a trip at a fixed time, and the motion of the trip on top: a good part of it."""
    study = STUDIES["4.1"]
    system, name = study.systems[0], "LINE14.b"
    run = study.fit().runs[0]
    exact, delay = (gc.analyses.tsa(run, [p], [("BUS6", "Vm")], fixed_time=True).values[:, 0, 0]
                    for p in (name, "RELAY14.delay"))
    later, sooner = (tripped(system.with_values({name: study.truth[0] + h})) for h in (1e-3, -1e-3))
    motion = (later - sooner) / 2e-3  # of the trip with the susceptance (s/pu)
    case = system.case.copy()
    case.remove("RELAY14")
    case.add_event(gc.BranchTrip(branch="LINE14", t=tripped(system)))
    planned = gc.simulate(gc.build(case), run.t[-1], d.GRID)
    still = gc.analyses.tsa(planned, [name], [("BUS6", "Vm")], fixed_time=True).values[:, 0, 0]
    times = study.exact[0].time
    exact, delay, still = (np.interp(times, of.t, values) for of, values in
                           ((run, exact), (run, delay), (planned, still)))
    np.testing.assert_allclose(exact, still + motion * delay, rtol=0, atol=2e-3 * np.abs(exact).max())
    assert np.abs(motion * delay).max() > 0.5 * np.abs(exact).max()


def tripped(system):
    """When the line is tripped (s)."""
    run = gc.simulate(system, 31.0, d.GRID)
    return next(event.t for event in run.events if event.device == "RELAY14" and event.kind == "switch")


def test_where_the_overload_is_over_within_the_delay_the_susceptance_is_found_without_a_trip():
    fit = d.cancelled().fit()
    assert f"{fit['LINE14.b']:.4f}" == "-17.3604"
    assert fit.iterations <= 5
    for iterate in (fit.iterates[0], fit.iterates[-1]):
        kinds = [e.kind for e in fit.problem.trial(iterate.x).runs[0].events if e.device == "RELAY14"]
        assert kinds == ["delay started", "cancelled"]


def test_with_noise_the_truth_is_within_three_standard_errors(study):
    fit = study.fit(d.NOISE, d.SEED)
    assert fit.converged
    assert abs(fit.values[0] - study.truth[0]) < 3 * fit.standard_errors[0]
    assert min(white.p_value for white in fit.whiteness.values()) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("4.1", 12), ("4.2", 30), ("4.3", 40)])
def test_intervals_have_the_truth_as_often_as_they_say(name, count):
    """The page has 200 of each; here as many as CI can bear, within what chance allows once in a thousand."""
    made = d.repeat(STUDIES[name], count)
    assert made.failed == 0
    for level, inside in zip(d.LEVELS, made.inside[:, 0], strict=True):
        low, high = binom.ppf([5e-4, 1 - 5e-4], count, level)
        assert low <= inside <= high, level
    assert 0.6 < made.z.std() < 1.6


def test_threshold_and_delay_are_found_from_two_events_and_refused_from_one():
    study = STUDIES["relay"]
    fit = study.fit()
    np.testing.assert_allclose(fit.values, study.truth, rtol=1e-6)
    noisy = study.fit(d.NOISE, d.SEED)
    assert (np.abs(noisy.values - study.truth) < 3 * noisy.standard_errors).all()
    with pytest.raises(Unidentifiable, match=r"RELAY14.threshold by .*RELAY14.delay by|delay by .*threshold by"):
        gc.analyses.estimate(fit.problem.recordings[:1], wrt=study.wrt)
