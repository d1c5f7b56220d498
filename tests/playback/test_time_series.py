"""Signals in time: linear between samples, with jumps where two samples have one time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_playback import samples
from gridcore_playback.time_series import TimeSeries

PROFILE = [0.0, 1.03, 1.03, 2.0, 4.0], [8.0, 9.0, 11.0, 11.0, 5.0]


class Tank(gc.Device):
    """What flows in adds up."""

    attaches = gc.Port("signal", TimeSeries)
    naming = "TANK"
    zero = gc.Param("", 0.0)
    gain = gc.Param("", 1.0)
    x = gc.State("", start_at="zero")

    def rates(s, signal):
        return s.gain * signal.value


def tank(time, values):
    case = gc.Case("tank")
    gc.analyses.add_time_series(case, "in", time, values)
    case.add(Tank(signal="in"))
    return gc.build(case)


@pytest.fixture(autouse=True)
def _devices():
    with gc.registered(Tank):
        yield


def wave(n):
    t = np.linspace(0.0, 5.0, n)
    return t, np.sin(3 * t) + 0.1 * t


def test_it_is_linear_between_samples_and_constant_before_and_after_them():
    t, v = wave(200)
    run = gc.simulate(tank(t[20:] - 0.1, v[20:]), 6.0, 0.013)
    assert not run.events
    assert_allclose(run["in", "value"], np.interp(run.t, t[20:] - 0.1, v[20:]), rtol=0, atol=1e-14)


def test_two_samples_at_one_time_are_a_jump():
    run = gc.simulate(tank(*PROFILE), 5.0, 0.1)
    t, v = PROFILE
    before = run.t <= 1.03
    assert_allclose(run["in", "value"][~before], np.interp(run.t[~before], t[2:], v[2:]), rtol=0, atol=1e-14)
    at = np.flatnonzero(run.t == 1.03)
    assert_allclose(run["in", "value"][at[[0, -1]]], [9.0, 11.0], rtol=1e-15)


@pytest.mark.parametrize("step", [0.1, 0.37, "auto"])
def test_steps_end_at_the_corners_of_a_profile_so_its_integral_is_exact(step):
    t, v = PROFILE
    run = gc.simulate(tank(t, v), 5.0, step)
    assert [event.t for event in run.events] == [1.03, 2.0, 4.0]
    assert_allclose(run["TANK", "x"][-1], np.trapezoid(v, t) + 5.0, rtol=1e-13)


def test_corners_of_a_recording_cost_what_is_of_second_order_in_the_step():
    t, v = wave(samples.CORNERS + 50)
    t = t + 0.003 * np.sin(np.arange(len(t)))  # no step falls on them
    t, exact, error = t - t[0], 0.0, []
    exact = np.trapezoid(v, t)
    for n in (40, 80, 160, 320, 640, 1280):
        run = gc.simulate(tank(t, v), t[-1], t[-1] / n)
        assert not run.events
        error.append(abs(run["TANK", "x"][-1] - exact))
    order = -np.polyfit(np.log([40, 80, 160, 320, 640, 1280]), np.log(error), 1)[0]
    assert 1.7 < order < 2.7


def test_a_step_that_falls_on_every_sample_of_a_recording_is_exact():
    t, v = wave(251)
    run = gc.simulate(tank(t, v), 5.0, 0.01)
    assert_allclose(run["TANK", "x"][-1], np.trapezoid(v, t), rtol=1e-12)


def test_the_derivative_in_a_sample_is_its_weight():
    t, v = PROFILE
    run = gc.simulate(tank(t, v), 5.0, 0.1)
    end = gc.adjoint(run, gc.Terminal(lambda v: v["TANK", "x"]),
                     ["in_0.v", "in_1.v", "in_1.jump", "in_2.v", "in_3.v", "TANK.gain"]).values[0]
    first, second, third = np.diff([0.0, 1.03, 2.0, 4.0])
    assert_allclose(end, [first / 2, first / 2 + second / 2, second / 2, (second + third) / 2, third / 2 + 1.0,
                          np.trapezoid(v, t) + 5.0], rtol=1e-12)


def test_a_run_is_saved_and_loaded_with_its_signals(tmp_path):
    run = gc.simulate(tank(*PROFILE), 2.0, 0.1)
    run.save(tmp_path / "run.nc")
    again = gc.load_run(tmp_path / "run.nc")
    assert np.array_equal(again.X, run.X)


def test_what_was_before_the_run_does_not_matter():
    t, v = wave(300)
    whole, part = tank(t - 2.0, v), tank((t - 2.0)[t > 1.98], v[t > 1.98])
    assert len(whole.instances) == len(part.instances)
    assert_allclose(gc.simulate(whole, 3.0, 0.1).X[-1], gc.simulate(part, 3.0, 0.1).X[-1], rtol=1e-14)


def test_of_several_samples_at_one_time_the_first_and_the_last_count():
    run = gc.simulate(tank([0.0, 1.0, 1.0, 1.0, 2.0], [0.0, 1.0, 7.0, 3.0, 3.0]), 2.0, 0.1)
    assert_allclose(run["TANK", "x"][-1], 0.5 + 3.0, rtol=1e-13)


@pytest.mark.parametrize(("time", "values", "said"), [
    ([0, 2, 1], [0, 0, 0], "must be in order: see 2 s"), ([0, 1], [0], "2 times and 1 values"),
    ([0, np.nan], [0, 1], "not a finite number"), ([], [], "0 times and 0 values")])
def test_what_is_no_signal_is_refused(time, values, said):
    with pytest.raises(CaseError, match=said):
        gc.analyses.add_time_series(gc.Case("x"), "s", time, values)


def test_neighbours_are_on_either_side_of_a_sample():
    case = gc.Case("x")
    case.add("TimeSeries", id="s")
    case.add("Sample", signal="s", t=1.0, v=2.0, before=1.5)
    with pytest.raises(CaseError, match="must be on either side of t"):
        gc.build(case)


def test_a_signal_without_samples_is_an_error_that_names_it():
    case = gc.Case("x")
    case.add("TimeSeries", id="s")
    case.add(Tank(signal="s"))
    with pytest.raises(gc.GridcoreError, match="island without a voltage source: s"):
        gc.build(case)
