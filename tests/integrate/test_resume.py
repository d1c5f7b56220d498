"""A run that is continued from its end is the run that was simulated in one go."""

from __future__ import annotations

import dataclasses
import pickle
import signal

import numpy as np
import pytest
from devices_for_tests import Clockwork, Delayed, DelayedForGood, DelayedOwnCancel, Driven, Explosion, system
from short_segments import POINTS
from two_islands import two_islands

import gridcore as gc
from gridcore.errors import CaseError, ConvergenceError, NetworkError
from gridcore.tape import Checkpoint

pytestmark = pytest.mark.usefixtures("small_devices", "short_segments")
LEAST = POINTS + 26  # states: a segment with events, and a few checkpoints


def assert_same(a, b):
    """Two runs with nothing different between them but the time they took."""
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.X, b.X)
    for of_tape in ("records", "clocks", "point_clock", "methods"):
        assert list(getattr(a.tape, of_tape)) == list(getattr(b.tape, of_tape)), of_tape
    assert [s.tobytes() for s in a.tape.settings] == [s.tobytes() for s in b.tape.settings]
    assert (a.settings, a.counters, a.events) == (b.settings, b.counters, b.events)
    for field in dataclasses.fields(Checkpoint):
        there, here = (getattr(run.tape.last, field.name) for run in (a, b))
        assert np.array_equal(there, here) if isinstance(there, np.ndarray) else there == here, field.name


@pytest.fixture(scope="module")
def wscc9():
    """The 9-bus fault study."""
    return gc.build("wscc9")


@pytest.mark.parametrize("method", ["theta", "trbdf2"])
@pytest.mark.parametrize("kept", [{}, {"checkpoint": "disk"}, {"memory": 1e4}, {"checkpoint": 8 * 48 * LEAST}])
def test_it_is_the_run_of_one_go_wherever_it_is_split(wscc9, method, kept):
    whole = gc.simulate(wscc9, 2.0, method=method, **kept)
    for split in (0.05, 0.1, 0.19, 0.7, 1.5):
        first = gc.simulate(wscc9, split, method=method, **kept)
        points, X = len(first.t), first.X.copy()
        assert_same(whole, gc.simulate(first, 2.0))
        assert_same(whole, gc.simulate(gc.simulate(first, 1.7), 2.0))
        assert len(first.t) == points  # it stays as it is
        assert np.array_equal(first.X, X)


def test_limits_that_act_go_on_acting():
    limited = gc.build("ieee39")
    whole = gc.simulate(limited, 1.5)
    assert len(whole.events) > 6
    for split in (0.3, 1.0, 1.2):
        assert_same(whole, gc.simulate(gc.simulate(limited, split), 1.5))


@pytest.mark.parametrize("device", [
    Clockwork(id="C", threshold=0.321, at=0.777), Driven(id="D", at=0.9), Delayed(id="D", threshold=0.5, delay=0.4),
    Delayed(id="D", threshold=0.99, delay=0.9), DelayedOwnCancel(id="D", threshold=0.5, safe=0.95, delay=0.9),
    DelayedForGood(id="D")])
@pytest.mark.parametrize("split", [0.3, 0.45, 0.6, 0.7, 0.8, 1.45])
def test_what_is_pending_happens_and_what_happened_stays(device, split):
    small = system(device)
    whole = gc.simulate(small, 2.0, 0.005)
    assert whole.events
    assert_same(whole, gc.simulate(gc.simulate(small, split, 0.005), 2.0))


def test_from_a_file_a_pickle_and_a_few_quantities(wscc9, tmp_path):
    for kept in ({}, {"record": "GEN*.omega"}):
        whole, first = gc.simulate(wscc9, 2.0, **kept), gc.simulate(wscc9, 1.3, **kept)
        first.save(tmp_path / "first.nc")
        for again in (gc.load_run(tmp_path / "first.nc"), pickle.loads(pickle.dumps(first))):
            run = gc.simulate(again, 2.0)
            assert np.array_equal(run["GEN2.omega"], whole["GEN2.omega"])
            assert (run.counters, run.tape.records) == (whole.counters, whole.tape.records)
            if not kept:
                assert_same(whole, run)


def test_its_gradient_is_that_of_one_go(wscc9):
    wanted = {"objectives": [gc.Terminal(lambda v: v["GEN2", "omega"]), gc.Integral(lambda v: v["GEN3", "delta"] ** 2)],
              "wrt": ["GEN*.H", "fault.clear"]}
    whole, continued = gc.simulate(wscc9, 1.5), gc.simulate(gc.simulate(wscc9, 0.15), 1.5)
    for function in (gc.adjoint, gc.analyses.forward_gradient):
        assert np.array_equal(function(whole, **wanted).values, function(continued, **wanted).values)


@pytest.mark.parametrize("changed", [{"step": 0.004}, {"method": "trbdf2"}, {"theta": 0.6},
                                     {"method": "trbdf2", "step": "5 ms"}, {"step": [(1.0, 0.005), (1.2, 0.02)]}])
def test_step_and_method_may_change_and_it_is_differentiated_exactly(wscc9, changed):
    first = gc.simulate(wscc9, 1.0)
    run = gc.simulate(first, 1.5, **changed)
    assert np.array_equal(run.X[: len(first.t)], first.X)
    assert np.abs(run.X[-1] - gc.simulate(wscc9, 1.5, 0.001).X[-1]).max() < 0.02
    wanted = {"objectives": gc.Integral(lambda v: v["GEN3", "delta"] ** 2), "wrt": ["GEN2.H", "EXC1.KA"]}
    adjoint, forward = gc.adjoint(run, **wanted).values, gc.analyses.forward_gradient(run, **wanted).values
    np.testing.assert_allclose(adjoint, forward, rtol=1e-11)
    one = gc.adjoint(gc.simulate(wscc9, 1.5, 0.001), **wanted).values
    np.testing.assert_allclose(adjoint, one, rtol=0.02)
    assert_same(gc.simulate(run, 2.0), gc.simulate(gc.simulate(run, 1.8), 2.0))


def test_the_grid_of_another_step_begins_at_the_end(wscc9):
    run = gc.simulate(gc.simulate(wscc9, 1.0), 1.5, 0.05)
    assert run.settings["step"] == [(0.0, 0.01), (1.0, 0.05)]
    whole = gc.simulate(wscc9, 1.5, run.settings["step"])
    np.testing.assert_array_equal(run.t, whole.t)
    np.testing.assert_allclose(run.X, whole.X, rtol=1e-10, atol=1e-10)


def test_a_spacing_that_would_have_begun_at_the_end_gives_way_to_the_new_one(wscc9):
    first = gc.simulate(wscc9, 0.1, [(0.0, 0.02), (0.1, 0.05)])
    run = gc.simulate(first, 0.15, step=0.01)
    assert run.settings["step"] == [(0.0, 0.02), (0.1, 0.01)]
    assert np.diff(run.t[run.t > 0.1]) == pytest.approx(0.01)


def test_an_end_beside_the_grid_is_one_more_point_of_it(wscc9):
    run = gc.simulate(gc.simulate(wscc9, 0.995), 1.02)
    np.testing.assert_allclose(run.t[-4:], [0.995, 1.0, 1.01, 1.02], rtol=1e-14)
    np.testing.assert_allclose(np.delete(run.X, -4, axis=0), gc.simulate(wscc9, 1.02).X, atol=1e-4)


def stop(at, act):
    def tell(t):
        if abs(t - at) < 1e-9:
            act()
    return tell


def press():
    signal.raise_signal(signal.SIGINT)


def fail():
    raise ZeroDivisionError("of a device")


@pytest.mark.parametrize(("act", "error"), [(press, KeyboardInterrupt), (fail, ZeroDivisionError)])
@pytest.mark.parametrize("at", [0.1, 0.64, 1.0])
def test_a_run_that_was_stopped_goes_on(wscc9, act, error, at):
    with pytest.raises(error) as stopped:
        gc.simulate(wscc9, 2.0, progress=stop(at, act))
    assert stopped.value.run.t[-1] < 1.1
    assert_same(gc.simulate(wscc9, 2.0), gc.simulate(stopped.value.run, 2.0))


def test_a_run_that_is_continued_may_be_stopped_too(wscc9):
    with pytest.raises(KeyboardInterrupt) as stopped:
        gc.simulate(gc.simulate(wscc9, 1.0), 2.0, progress=stop(1.5, press))
    assert stopped.value.run.t[-1] == pytest.approx(1.51)
    assert_same(gc.simulate(wscc9, 2.0), gc.simulate(stopped.value.run, 2.0))


def test_progress_is_told_of_what_is_new(wscc9):
    seen = []
    gc.simulate(gc.simulate(wscc9, 1.0), 1.05, progress=seen.append)
    np.testing.assert_allclose(seen, [1.01, 1.02, 1.03, 1.04, 1.05])


def test_what_failed_in_an_event_between_points_of_the_grid_fails_there_again():
    case = two_islands(G2=0.1234)
    case.add(gc.Trip(device="TIE", t=0.1234))
    with pytest.raises(NetworkError) as failed:
        gc.simulate(gc.build(case), 1.0)
    partial = failed.value.run
    with pytest.raises(NetworkError) as again:
        gc.simulate(partial, 1.0)
    assert str(again.value) == str(failed.value)
    assert_same(partial, again.value.run)


def test_what_had_no_solution_goes_on_with_smaller_steps():
    small = system(Explosion(id="E"))
    with pytest.raises(ConvergenceError) as failed:
        gc.simulate(small, 1.0, 0.25)
    partial = failed.value.run
    assert partial.t[-1] == 0.5
    run = gc.simulate(partial, 0.9, 0.001)
    assert np.array_equal(run.X[: len(partial.t)], partial.X)
    assert run.t[-1] == 0.9
    x = partial["E.x"][-1]
    np.testing.assert_allclose(run["E.x"][-1], x / (1 - 0.4 * x), rtol=1e-2)


@pytest.mark.parametrize("at", [1.0, "stopped"])
def test_a_method_of_many_steps_begins_anew_at_the_end(wscc9, at):
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    if at == "stopped":
        with pytest.raises(KeyboardInterrupt) as stopped:
            gc.simulate(wscc9, 2.0, method="ida", progress=stop(1.0, press))
        first = stopped.value.run
    else:
        first = gc.simulate(wscc9, at, method="ida")
    run, whole = gc.simulate(first, 2.0), gc.simulate(wscc9, 2.0, method="ida")
    assert np.array_equal(run.X[: len(first.t)], first.X)
    assert run.settings == whole.settings
    assert [str(event) for event in run.events] == [str(event) for event in whole.events]
    assert np.abs(run.X[-1] - whole.X[-1]).max() < 1e-6
    for other in (gc.simulate(first, 2.0, method="theta"), gc.simulate(gc.simulate(wscc9, 1.0), 2.0, method="ida")):
        assert np.abs(other.X[-1] - whole.X[-1]).max() < 0.01
    assert_same(run, gc.simulate(first, 2.0))


def test_what_was_retraced_goes_on():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    small = system(Driven(id="D", at=0.5))
    exact = gc.retrace(gc.simulate(small, 1.0, 0.1, method="ida"))
    run = gc.simulate(exact, 1.5)
    assert np.array_equal(run.X[: len(exact.t)], exact.X)
    np.testing.assert_allclose(run.t[len(exact.t):], [1.1, 1.2, 1.3, 1.4, 1.5])


@pytest.mark.parametrize(("asked", "says"), [
    ({"t_end": 0.5}, r"t_end = 0\.5 must be after the end of the run, 1 s"),
    ({"t_end": 1.0}, r"t_end = 1 must be after the end of the run, 1 s"),
    ({"t_end": 1.0, "step": 0.001}, r"t_end = 1\.0 must be a number after t0 = 1"),
    ({"step": [(0.0, 0.001)]}, r"must begin at t0 = 1"),
    ({"step": 0}, r"step = 0\.0 must be a number greater than 0"),
    ({"t0": 1.0}, "a run that is continued has its own t0, and keeps what it kept"),
    ({"record": "GEN*.omega"}, "a run that is continued has its own t0, and keeps what it kept"),
    ({"checkpoint": 10**6}, "checkpoint = 1000000: a run that is continued cannot be computed again"),
    ({"rtol": 1e-6}, "method 'theta' has no option 'rtol'"),
])
def test_what_cannot_be_is_said(wscc9, asked, says):
    with pytest.raises(CaseError, match=says):
        gc.simulate(gc.simulate(wscc9, 1.0), **{"t_end": 2.0, **asked})


def test_what_is_computed_again_is_kept_where_it_is_continued(wscc9):
    run = gc.simulate(wscc9, 1.0, checkpoint=8 * wscc9.n * LEAST)
    changed = gc.simulate(run, 2.0, method="trbdf2", checkpoint="disk")
    assert np.array_equal(changed.X, gc.simulate(gc.simulate(wscc9, 1.0), 2.0, method="trbdf2").X)


def test_where_the_states_are_kept_may_change(wscc9, tmp_path):
    first, whole = gc.simulate(wscc9, 1.0), gc.simulate(wscc9, 2.0)
    for kept in ({"checkpoint": "disk"}, {"checkpoint": tmp_path}, {"memory": 1e4}):
        run = gc.simulate(first, 2.0, **kept)
        assert isinstance(run.tape.states.columns(slice(None)), np.memmap)
        assert_same(whole, run)


def test_time_that_was_spent_before_counts(wscc9):
    first = gc.simulate(wscc9, 0.1)
    first.timings["simulate"] = 1000.0
    assert gc.simulate(first, 0.2).timings["simulate"] > 1000.0
    first.timings.clear()  # it is not known
    assert gc.simulate(first, 0.2).timings["simulate"] >= 0.0


def test_of_states_in_many_blocks_those_before_its_last_segment_are_kept(wscc9, monkeypatch):
    whole, first = gc.simulate(wscc9, 2.0), gc.simulate(wscc9, 1.0)
    assert first.tape.last.points < first.tape.points - 8
    for points in (2, 3, 4):
        monkeypatch.setattr("gridcore.tape.checkpoints.BLOCK", 8 * wscc9.n * points)
        assert_same(whole, gc.simulate(first, 2.0))


def test_a_run_that_kept_a_part_of_its_states_keeps_it_on(wscc9):
    whole = gc.simulate(wscc9, 1.0, record=["GEN2.omega", "BUS6.Vm"])
    run = gc.simulate(gc.simulate(wscc9, 0.5, record=["GEN2.omega", "BUS6.Vm"]), 1.0)
    for quantity in ("GEN2.omega", "BUS6.Vm"):
        assert np.array_equal(run[quantity], whole[quantity])


def test_a_run_of_no_driver_says_so(wscc9):
    run = gc.simulate(wscc9, 0.1)
    run.tape.last = None
    with pytest.raises(CaseError, match="was not simulated"):
        gc.simulate(run, 1.0)


def test_strategies_of_the_theta_method_refuse_a_run_of_two(wscc9):
    run = gc.simulate(gc.simulate(wscc9, 0.5), 1.0, method="trbdf2")
    with pytest.raises(CaseError, match="a run of 'theta', then 'trbdf2'"):
        gc.analyses.tsa(run, wrt=["GEN2.H"], strategy="staggered corrector")


def test_only_the_last_part_is_made_again(wscc9):
    first = gc.simulate(wscc9, 1.5)
    assert first.tape.points - first.tape.last.points < 70
