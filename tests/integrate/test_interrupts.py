"""What was computed before a run was stopped is kept, whatever stopped it."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from devices_for_tests import Clockwork, system

import gridcore as gc
from gridcore.integrate import Held

pytestmark = pytest.mark.usefixtures("small_devices")


def at(time, act):
    """A progress callback that acts once, at that time."""
    def tell(t):
        if abs(t - time) < 1e-9:
            act()
    return tell


def fail():
    raise ZeroDivisionError("of a device")


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(("act", "error", "reached"), [(fail, ZeroDivisionError, 0.5), (press, KeyboardInterrupt, 0.6)])
def test_any_error_carries_the_run_up_to_it(act, error, reached):
    clock = system(Clockwork(id="C", threshold=0.321))
    whole = gc.simulate(clock, 1.0, 0.1)
    with pytest.raises(error) as stopped:
        gc.simulate(clock, 1.0, 0.1, progress=at(0.5, act))
    run = stopped.value.run
    assert run.t[-1] == pytest.approx(reached)
    np.testing.assert_array_equal(run.X, whole.X[: len(run.t)])
    assert [str(event) for event in run.events] == [str(event) for event in whole.events]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_at_the_end_of_a_run_is_not_lost():
    with pytest.raises(KeyboardInterrupt) as stopped:
        gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, progress=at(1.0, press))
    assert stopped.value.run.t[-1] == 1.0


def test_the_second_signal_does_not_wait():
    def insist():
        press()
        press()

    with pytest.raises(KeyboardInterrupt) as stopped:
        gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, progress=at(0.5, insist))
    assert not hasattr(stopped.value, "run")


def test_signals_without_a_handler_of_python_are_left_alone():
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    with Held():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler


def test_blocks_in_each_other_hold_a_signal_to_the_end_of_the_outer_one():
    seen = []

    def blocks():
        with Held():
            with Held():
                press()
                seen.append("inner")
            seen.append("outer")

    with pytest.raises(KeyboardInterrupt):
        blocks()
    assert seen == ["inner", "outer"]


def test_other_threads_are_simulated_without_handlers():
    found = []
    thread = threading.Thread(target=lambda: found.append(gc.simulate(system(Clockwork(id="C")), 1.0, 0.1)))
    thread.start()
    thread.join()
    assert found[0].t[-1] == 1.0


def test_signals_of_two_kinds_are_one_stop():
    """As a service manager sends them: SIGTERM, and SIGHUP at once."""
    def both():
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.raise_signal(number)

    def stop(number, frame):
        raise KeyboardInterrupt(number)

    before = [signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)]
    try:
        with pytest.raises(KeyboardInterrupt) as stopped:
            gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, progress=at(0.5, both))
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGHUP), before, strict=True):
            signal.signal(number, handler)
    assert stopped.value.args == (signal.SIGTERM,)
    assert stopped.value.run.t[-1] == pytest.approx(0.6)


@pytest.mark.parametrize("before", [True, False])
def test_a_run_stops_for_a_signal_also_in_a_block_around_it(before):
    """Whether it comes before the run has begun, or while it runs; what comes behind its end waits for the block's."""
    kept = []

    def kept_whole():
        with Held():
            if before:
                press()
            try:
                gc.simulate(system(Clockwork(id="C")), 1e3, 0.1, progress=None if before else at(0.5, press))
            except KeyboardInterrupt as stopped:
                press()
                kept.append(stopped.run.t[-1])
                raise

    with pytest.raises(KeyboardInterrupt):
        kept_whole()
    if before:
        assert 0.0 < kept[0] < 100.0  # after the steps that are made at once
    else:
        assert kept == [pytest.approx(0.6)]


def test_what_comes_with_the_last_point_waits_for_the_end_of_a_block_around_the_run():
    kept = []
    with pytest.raises(KeyboardInterrupt), Held():
        kept.append(gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, progress=at(1.0, press)).t[-1])
    assert kept == [1.0]
