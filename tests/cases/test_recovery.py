"""Delayed line trip, and its cancellation."""

import numpy as np
import pytest

import gridcore as gc


def relay(run):
    return [(event.kind, event.t) for event in run.events if event.device == "RELAY14"]


@pytest.fixture(scope="module")
def tripped():
    return gc.simulate(gc.build(gc.load_case("wscc9_recovery_loads")), t_end=31.0, step=0.01)


@pytest.fixture(scope="module")
def cancelled():
    return gc.simulate(gc.build(gc.load_case("wscc9_recovery_cancelled")), t_end=33.0, step=0.01)


def test_overload_trips_the_line_after_the_delay(tripped):
    (first, armed), (second, acted) = relay(tripped)
    assert (first, second) == ("delay started", "switch")
    assert armed == pytest.approx(30.1, abs=0.05)  # 30.14 in the study
    assert acted - armed == pytest.approx(0.01, abs=1e-12)
    before, after = tripped["LINE14", "S1"][tripped.t < acted][-1], tripped["LINE14", "S1"][-1]
    assert before > 0.85
    assert after < 1e-12


def test_relay_starts_exactly_where_the_power_passes_the_threshold(tripped):
    (_, armed), _ = relay(tripped)
    at = np.flatnonzero(tripped.t == armed)
    np.testing.assert_allclose(tripped["LINE14", "S1"][at], 0.85, rtol=0, atol=1e-12)


def test_overload_that_ends_within_the_delay_trips_nothing(cancelled):
    (first, armed), (second, gone) = relay(cancelled)
    assert (first, second) == ("delay started", "cancelled")
    assert gone - armed < 0.5
    assert (cancelled["LINE14", "status"] == 1).all()


def test_mechanical_power_goes_up_by_a_quarter_and_back(cancelled):
    Pm, t = cancelled["GEN1", "Pm"], cancelled.t
    at = [Pm[np.argmin(abs(t - instant))] / Pm[0] for instant in (28, 29, 30, 31, 32, 33)]
    np.testing.assert_allclose(at, [1, 1.125, 1.25, 1.125, 1, 1], rtol=1e-12)
