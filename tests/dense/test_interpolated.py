"""A run at times of one's own: its points where it has them, elsewhere its method's interpolant and what follows."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest
from closed_forms import hiskens_pai
from short_segments import POINTS

import gridcore as gc
from gridcore.errors import CaseError, NotRecorded

pytestmark = pytest.mark.usefixtures("short_segments")
METHODS = ["theta", "trbdf2", "bdf", "ida"]
STUDIES = {"wscc9": (0.6, 0.01), "ieee39": (1.6, 0.01), "hiskens_pai": (0.5, 0.002)}


@functools.cache
def system(name: str) -> gc.System:
    return gc.build(name)


@functools.cache
def run_of(name: str, method: str = "theta") -> gc.Run:
    if method == "ida":
        pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    return gc.simulate(system(name), *STUDIES[name], method)


def buffers(points: Any) -> np.ndarray:
    """(points, size) the system's buffer Z at each."""
    return points.read(np.arange(points.system.layout.size))


# At points ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", STUDIES)
def test_at_the_time_of_a_point_it_is_that_point(name, method):
    run = run_of(name, method)
    assert len(run.events) > 1
    Z, t = buffers(run), run.t
    for side, which in (("left", np.searchsorted(t, t, "left")), ("right", np.searchsorted(t, t, "right") - 1)):
        found = run.at(t, side=side)
        assert np.array_equal(buffers(found), Z[which])
        assert np.array_equal(found.point_settings, run.point_settings[which])


def test_at_an_event_the_side_says_whether_before_or_after():
    run = run_of("wscc9")
    strikes = run.events[0].t
    assert (run.at(strikes, side="left")["fault.on"], run.at(strikes)["fault.on"]) == (0, 1)
    assert run.at(strikes, side="left")["BUS7.Vm"] > 1.0 > 0.5 > run.at(strikes)["BUS7.Vm"]
    with pytest.raises(CaseError, match="side = 'both' must be 'left' or 'right'"):
        run.at(strikes, side="both")


def test_what_a_sum_has_rounded_is_the_time_of_the_point():
    run = run_of("wscc9")
    for t in (np.nextafter(0.1, 0), 0.1, np.nextafter(0.1, 1)):
        assert run.at(t)["fault.on"] == 1
        assert run.at(t, side="left")["fault.on"] == 0
    for t in (np.nextafter(0.6, 1), 0.6 + 1e-10):
        assert run.at(t)["GEN2.omega"] == run["GEN2.omega"][-1]


@pytest.mark.parametrize("t", [-0.1, 0.7, np.nan, [0.1, 2.0]])
def test_a_time_that_is_not_on_the_run_is_an_error(t):
    with pytest.raises(CaseError, match=r"s is not on the run, which is from 0 to 0\.6 s"):
        run_of("wscc9").at(t)


# Between points -------------------------------------------------------------------------------------

@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["wscc9", "ieee39"])
def test_the_algebraic_equations_hold_to_round_off(name, method):
    run = run_of(name, method)
    t = np.linspace(*run.t[[0, -1]], 500)
    between = run.at(np.setdiff1d(t, run.t))
    for Z in buffers(between):
        assert np.abs(run.system.rhs(Z)[~run.system.differential(Z)]).max() < 1e-11


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", STUDIES)
def test_it_goes_on_from_point_to_point(name, method):
    run = run_of(name, method)
    moved = np.flatnonzero(np.diff(run.t) > 1e-6)
    step = 1e-4 * np.diff(run.t)[moved]
    for near, k, side in ((run.t[moved] + step, moved, "right"), (run.t[moved + 1] - step, moved + 1, "left")):
        X = buffers(run.at(near))[:, : run.system.n]
        slope = np.abs(run.X[moved + 1] - run.X[moved]).max(axis=0)
        assert (np.abs(X - run.X[k]) <= 0.02 * slope + 1e-8).all(), side


@pytest.mark.parametrize(("method", "options", "order"), [
    ("theta", {}, 3), ("trbdf2", {}, 3), ("theta", {"theta": 0.7}, 2), ("theta", {"theta": 1.0}, 2)])
def test_the_error_that_the_interpolant_adds_falls_with_the_step(method, options, order):
    """To the solution through both ends of a step, where a straight line is of order two."""
    def added(step: float) -> float:
        run = gc.simulate(system("hiskens_pai"), 0.08, step, method, **options)
        part = np.array([0.25, 0.5, 0.8])
        error = np.array([[run.at(t)["HP.x1"] - exact(t) for t in run.t[k] + step * part] for k in (1, 2)])
        ends = np.array([run["HP.x1"][k] - exact(run.t[k]) for k in (1, 2, 3)])
        return float(np.abs(error - (ends[:2, None] * (1 - part) + ends[1:, None] * part)).max())

    exact = functools.lru_cache(lambda t: hiskens_pai(t)[1][0])
    coarse, fine = added(2e-3), added(1e-3)
    assert np.log2(coarse / fine) > order - 0.3


@pytest.mark.parametrize(("method", "ratio"), [("theta", 4), ("trbdf2", 4)])
def test_through_events_it_is_as_accurate_between_points_as_at_them(method, ratio):
    t = np.linspace(0.0, 0.6, 301)
    fine = gc.simulate(system("wscc9"), 0.6, 2.5e-4, "trbdf2").at(t)
    coarse, halved = (gc.simulate(system("wscc9"), 0.6, step, method).at(t) for step in (0.01, 0.005))
    for name in ("GEN2.omega", "GEN3.delta", "BUS5.Vm", "EXC1.Efd"):
        errors = [np.abs(run[name] - fine[name]).max() for run in (coarse, halved)]
        assert errors[0] > 0.75 * ratio * errors[1], name


def test_of_backward_euler_it_is_a_straight_line():
    run = gc.simulate(system("hiskens_pai"), 0.05, 1e-3, theta=1.0)
    middle = run.at((run.t[:-1] + run.t[1:]) / 2)
    np.testing.assert_allclose(middle["HP.x1"], (run["HP.x1"][:-1] + run["HP.x1"][1:]) / 2, rtol=1e-12)


def test_of_tr_bdf2_it_passes_through_the_stage():
    from gridcore_trbdf2.coefficients import ALPHA, GAMMA

    run = gc.simulate(system("hiskens_pai"), 0.05, 1e-3, "trbdf2")
    F = np.array([run.system.rhs(Z) for Z in buffers(run)])
    steps = run.tape.records.steps()
    stages = run.at(run.t[steps.k] + GAMMA * steps.h)
    f = np.array([run.system.rhs(Z) for Z in buffers(stages)])
    trapezoidal = run.X[steps.k] + ALPHA * steps.h[:, None] * (F[steps.k] + f)
    np.testing.assert_allclose(buffers(stages)[:, : run.system.n], trapezoidal, rtol=1e-10, atol=1e-12)


# What it gives --------------------------------------------------------------------------------------

def test_of_one_time_it_is_a_number_and_of_several_an_array():
    run = run_of("wscc9")
    assert isinstance(run.at(0.25)["GEN2.omega"], float)
    assert run.at([0.25])["GEN2", "omega"].shape == (1,)
    assert run.at([])["GEN2", "omega"].shape == (0,)
    assert "3 instants" in repr(run.at([0.2, 0.1, 0.3]))


def test_a_time_may_have_a_unit():
    run = run_of("wscc9")
    assert run.at("55 ms")["GEN2.omega"] == run.at(0.055)["GEN2.omega"]
    with pytest.raises(CaseError, match="unit 'kV' is not understood here; accepted: s, min"):
        run.at("55 kV")


def test_times_may_stand_in_any_order_and_twice():
    run, t = run_of("wscc9"), np.array([0.2345, 0.4, 0.4321, 0.2345, 0.0, 0.6])
    found = run.at(t)
    assert np.array_equal(found.t, t)
    assert [*found["GEN3.omega"]] == [run.at(x)["GEN3.omega"] for x in t]


def test_quantities_follow_from_the_state_there():
    found = run_of("wscc9").at(np.linspace(0, 0.6, 77))
    np.testing.assert_allclose(found["BUS7.Vm"], np.hypot(found["BUS7.Vr"], found["BUS7.Vi"]), rtol=1e-15)
    assert np.array_equal(found["GEN2.Efd"], found["EXC2.Efd"])
    assert found.of(["GEN1", "GEN3"], "Pe").shape == (77, 2)


def test_resampled_no_time_stands_twice_and_all_are_on_the_grid():
    run = run_of("wscc9")
    for step in (0.01, "20 ms", 0.007, [(0.0, 0.1), (0.2, 0.003)]):
        t = run.resample(step).t
        assert (np.diff(t) > 0).all()
        assert (t[0], t[-1]) == (0.0, 0.6)
    assert np.array_equal(run.resample(0.01).t, np.append(0.0, 0.01 * np.arange(1, 61)).clip(0, 0.6))
    assert run.resample(0.1, side="left")["fault.on"][1] == 0
    with pytest.raises(CaseError, match="step = -1"):
        run.resample(-1)


def test_resampled_it_is_a_table_of_pandas():
    data = run_of("wscc9").resample("20 ms").to_xarray(["omega", "Vm"])
    assert data.indexes["time"].is_unique
    table = data["omega"].to_pandas()
    assert table.shape == (31, 3)
    assert table.loc[0.0, "GEN2"] == 1.0
    assert [str(words) for words in data["event_words"].values] == [e.words for e in run_of("wscc9").events]


def test_it_keeps_what_it_is_told_to():
    found = run_of("wscc9").at([0.15, 0.25], "GEN*.omega")
    assert np.array_equal(found["GEN2.omega"], run_of("wscc9").at([0.15, 0.25])["GEN2.omega"])
    assert found["GEN2.H"][0] == 6.4
    assert list(found.to_xarray().data_vars) == ["omega", "event_time", "event_words"]
    with pytest.raises(NotRecorded, match=r"BUS7\.Vm was not recorded"):
        found["BUS7.Vm"]


def test_it_can_be_pickled():
    found = run_of("wscc9").at([0.15, 0.25])
    assert np.array_equal(pickle.loads(pickle.dumps(found))["BUS7.Vm"], found["BUS7.Vm"])


# Wherever the states are ----------------------------------------------------------------------------

@pytest.mark.parametrize("times", [np.linspace(0.0, 2.0, 555), np.array([1.2345, 0.2])])
def test_of_a_run_that_is_recomputed_it_is_the_same(times, tmp_path):
    whole = gc.simulate(system("wscc9"), 2.0)
    light = gc.simulate(system("wscc9"), 2.0, checkpoint=8 * system("wscc9").n * (POINTS + 12))
    assert np.array_equal(buffers(light.at(times)), buffers(whole.at(times)))
    whole.save(tmp_path / "run.nc")
    assert np.array_equal(buffers(gc.load_run(tmp_path / "run.nc").at(times)), buffers(whole.at(times)))


def test_a_run_that_is_recomputed_is_replayed_once(monkeypatch):
    light = gc.simulate(system("wscc9"), 2.0, checkpoint=8 * system("wscc9").n * (POINTS + 12))
    replays, replay = [], light.tape.states.replay
    monkeypatch.setattr(light.tape.states, "replay", lambda at: replays.append(at.t) or replay(at))
    light.resample(0.003)
    assert replays == [0.0]


def test_a_run_that_kept_a_part_says_so():
    with pytest.raises(NotRecorded, match="without 'record'"):
        gc.simulate(system("wscc9"), 0.2, record="GEN*.omega").at(0.1234)


def test_a_run_of_several_methods_is_on_the_interpolant_of_each():
    first = gc.simulate(system("wscc9"), 0.3, 0.01, "trbdf2")
    both = gc.simulate(first, 0.6, 0.01, "theta")
    assert both.at(0.1234)["GEN2.omega"] == first.at(0.1234)["GEN2.omega"]
    assert both.at(0.4567)["GEN2.omega"] > 1


def test_a_run_ended_by_an_error_has_what_it_has():
    def stop(t: float) -> None:
        if t > 0.2:
            raise RuntimeError

    with pytest.raises(RuntimeError) as raised:
        gc.simulate(system("wscc9"), 0.6, progress=stop)
    run = raised.value.run
    assert run.at(0.1234)["GEN2.omega"] == run_of("wscc9").at(0.1234)["GEN2.omega"]
