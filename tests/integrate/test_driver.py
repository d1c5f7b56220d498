"""What the driver does with events, under every stepper."""

from __future__ import annotations

import importlib.util
import math

import closed_forms
import numpy as np
import pytest
from devices_for_tests import (
    Clockwork,
    Delayed,
    DelayedForGood,
    DelayedOwnCancel,
    Driven,
    Explosion,
    Limited,
    Sliding,
    registered,
    system,
)
from short_segments import POINTS

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, quantity, timer
from gridcore.integrate.driver import Driver
from gridcore.integrate.locate import Crossing
from gridcore.registry import Integrator
from gridcore.tape import Resolve, Step, Switch
from gridcore_devices.hybrid.bouncing_ball import BouncingBall
from gridcore_theta import Theta

METHODS = ["theta", *(["ida"] if importlib.util.find_spec("scikits_odes_sundials") else [])]
# Of an event: theta locates on its own discretisation, exact for what is linear in t; IDA to its tolerances.
EXACT = {"theta": 1e-14, "ida": 1e-9}

pytestmark = pytest.mark.usefixtures("small_devices", "short_segments")


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def events(run):
    return [(e.device, e.item, e.kind) for e in run.events]


def times(run):
    return [e.t for e in run.events]


# ---------------------------------------------------------------- guards


def test_a_guard_acts_once_at_its_crossing(method):
    run = gc.simulate(system(Clockwork(id="C", threshold=0.321)), 1.0, 0.1, method=method)
    assert events(run) == [("C", "rises", "switch")]
    assert times(run) == pytest.approx([0.321], abs=EXACT[method])
    assert run["C", "up"][-1] == 1


def test_two_guards_at_exactly_the_same_instant_are_both_handled_in_order(method):
    run = gc.simulate(system(*(Clockwork(id=i, threshold=0.3) for i in "ABC")), 1.0, 0.1, method=method)
    assert events(run) == [(i, "rises", "switch") for i in "ABC"]
    assert times(run) == pytest.approx([0.3] * 3, abs=EXACT[method])
    assert [run[i, "up"][-1] for i in "ABC"] == [1, 1, 1]


def test_a_guard_already_across_at_t0_acts_at_t0(method):
    run = gc.simulate(system(Clockwork(id="C", x0=1.0, threshold=0.3)), 1.0, 0.1, method=method)
    assert [(e.t, e.item) for e in run.events] == [(0.0, "rises")]


def test_a_guard_exactly_zero_at_t0_acts_when_it_leaves_zero(method):
    run = gc.simulate(system(Clockwork(id="C", x0=0.3, threshold=0.3)), 1.0, 0.1, method=method)
    assert events(run) == [("C", "rises", "switch")]
    assert times(run) == pytest.approx([0.0], abs=1e-15)


def test_a_guard_of_both_directions_exactly_zero_at_t0_acts_when_it_comes_back_to_zero(method):
    class Swings(Device):
        x0 = Param("", 0.0)
        x = State("", start_at="x0")
        passed = Mode(0)

        def rates(s):
            return np.cos(s.time)

        @guard("both", then={"passed": lambda s: s.passed + 1})
        def passes(s):
            return s.x

    with registered(Swings):
        run = gc.simulate(system(Swings(id="S")), 7.0, 0.01, method=method)
    assert times(run) == pytest.approx([math.pi, 2 * math.pi], abs=1e-3)
    assert run["S", "passed"][-1] == 2


def test_a_guard_at_the_end_of_the_run_acts(method):
    run = gc.simulate(system(Clockwork(id="C", threshold=1.0)), 1.0, 0.1, method="theta")
    assert times(run) == pytest.approx([1.0], abs=1e-14)


def test_a_reset_keeps_a_ball_bouncing(method):
    run = gc.simulate(system(BouncingBall(id="B", restitution=0.7)), 2.2, 0.01, method=method)
    assert times(run) == pytest.approx(closed_forms.impacts(1.0, 0.7, 5), rel=1e-9)
    for k in (r.k for r in run.tape.records if isinstance(r, Switch)):
        assert run["B", "speed"][k + 1] == -0.7 * run["B", "speed"][k]
        assert run["B", "height"][k + 1] == run["B", "height"][k]


def test_bounces_shorter_than_the_grid_are_not_missed(method):
    """A guard that its own reset sends back may fire again within the same step."""
    run = gc.simulate(system(BouncingBall(id="B", restitution=0.5)), 1.35, 0.1, method=method)
    assert times(run) == pytest.approx(closed_forms.impacts(1.0, 0.5, 8), rel=1e-9)


# ---------------------------------------------------------------- timers


@pytest.mark.parametrize("at", [0.0, 0.25, 0.3, 1.0])
def test_a_timer_acts_at_its_time_on_the_grid_off_it_and_at_the_ends(method, at):
    run = gc.simulate(system(Clockwork(id="C", at=at)), 1.0, 0.1, method=method)
    assert [(e.t, e.item) for e in run.events] == [(at, "ticks")]
    assert run["C", "x"][-1] == pytest.approx(at + 2 * (1 - at), rel=1e-9)


def test_a_timer_on_a_grid_point_adds_no_step(method):
    run = gc.simulate(system(Clockwork(id="C", at=0.3)), 1.0, 0.1)
    assert run.counters["steps"] == 10


def test_a_timer_that_never_comes_or_comes_after_the_end_does_nothing(method):
    assert gc.simulate(system(Clockwork(id="C"), Clockwork(id="D", at=1.01)), 1.0, 0.1, method=method).events == []


def test_a_timer_before_t0_is_refused():
    with pytest.raises(gc.errors.CaseError, match=r"C\.ticks is at -0\.1 s, before the start of the run at 0 s"):
        gc.simulate(system(Clockwork(id="C", at=-0.1)), 1.0, 0.1)
    with pytest.raises(gc.errors.CaseError, match=r"C\.ticks is at 0\.5 s, before the start"):
        gc.simulate(system(Clockwork(id="C", at=0.5)), 2.0, 0.1, t0=1.0)


def test_timers_that_differ_by_less_than_counts_act_in_the_order_of_their_numbers(method):
    run = gc.simulate(system(Clockwork(id="A", at=0.35 + 1e-12), Clockwork(id="B", at=0.35)), 1.0, 0.1, method=method)
    assert events(run) == [("A", "ticks", "switch"), ("B", "ticks", "switch")]


def test_a_timer_comes_before_a_guard_at_the_same_instant(method):
    run = gc.simulate(system(Clockwork(id="A", threshold=0.35), Clockwork(id="B", at=0.35)), 1.0, 0.1, method=method)
    assert events(run) == [("B", "ticks", "switch"), ("A", "rises", "switch")]


def test_a_run_may_start_at_any_time(method):
    run = gc.simulate(system(Clockwork(id="C", at=2.25)), 3.0, 0.1, t0=2.0, method=method)
    assert (run.t[0], run.t[-1]) == (2.0, 3.0)
    assert run["C", "x"][-1] == pytest.approx(0.25 + 2 * 0.75)


# ---------------------------------------------------------------- delays

RISES, FALLS = math.pi / 6, 5 * math.pi / 6  # where the sine passes 1/2
SAFE = math.asin(0.9)


def test_a_delayed_action_follows_its_trigger_by_the_delay(method):
    run = gc.simulate(system(Delayed(id="D", delay=0.7)), 4.0, 0.1, method=method)
    assert events(run) == [("D", "too_high", "delay started"), ("D", "too_high", "switch")]
    assert times(run) == pytest.approx([RISES, RISES + 0.7], abs=EXACT[method])
    assert run["D", "acted"][-1] == 1
    assert [run.counters.get(name) for name in ("delays", "cancellations", "switches", "events")] == [1, None, 1, 1]


def test_crossing_back_cancels_and_the_next_crossing_starts_again(method):
    run = gc.simulate(system(Clockwork(id="C"), Delayed(id="D", delay=2.5)), 9.0, 0.1, method=method)
    assert [kind for _, _, kind in events(run)] == ["delay started", "cancelled"] * 2
    assert times(run) == pytest.approx([RISES, FALLS, RISES + 2 * math.pi, FALLS + 2 * math.pi], abs=2 * EXACT[method])
    assert run["D", "acted"][-1] == 0
    assert [run.counters.get(name) for name in ("delays", "cancellations", "switches", "events")] == [2, 2, None, None]


def test_an_own_cancel_function_takes_the_place_of_crossing_back(method):
    run = gc.simulate(system(DelayedOwnCancel(id="D", delay=0.7)), 4.0, 0.1, method=method)
    assert [kind for _, _, kind in events(run)] == ["delay started", "cancelled"]
    assert times(run) == pytest.approx([RISES, SAFE], abs=EXACT[method])
    late = gc.simulate(system(DelayedOwnCancel(id="D", delay=2.5, safe=1.1)), 4.0, 0.1, method=method)
    assert times(late) == pytest.approx([RISES, RISES + 2.5], abs=EXACT[method])  # fell back at 5 pi/6: no matter


def test_an_action_without_cancellation_comes_whatever_happens(method):
    run = gc.simulate(system(DelayedForGood(id="D", delay=2.5)), 4.0, 0.1, method=method)
    assert times(run) == pytest.approx([RISES, RISES + 2.5], abs=EXACT[method])


@pytest.mark.parametrize("device", [Delayed, DelayedOwnCancel, DelayedForGood])
def test_a_delay_of_zero_acts_at_once(method, device):
    run = gc.simulate(system(device(id="D", delay=0.0)), 2.0, 0.1, method=method)
    assert [kind for _, _, kind in events(run)] == ["delay started", "switch"]
    assert times(run) == pytest.approx([RISES, RISES], abs=EXACT[method])


def test_a_delay_that_ends_on_a_grid_point_or_after_the_end(method):
    on = gc.simulate(system(Delayed(id="D", delay=1 - RISES)), 2.0, 0.1, method="theta")
    assert times(on)[-1] == pytest.approx(1.0, abs=1e-14)
    assert on.counters["steps"] == 21  # the trigger adds one, the action none
    for beside in (-5e-12, 5e-12):  # less than counts as another time
        assert times(gc.simulate(system(Delayed(id="D", delay=1 - RISES + beside)), 2.0, 0.1))[-1] - 1 == pytest.approx(
            beside, abs=1e-12)
    after = gc.simulate(system(Delayed(id="D", delay=1.7)), 2.0, 0.1, method=method)
    assert [kind for _, _, kind in events(after)] == ["delay started"]


def test_guards_are_evaluated_at_t0_at_each_step_and_after_each_switch(method):
    for record, switches in ((Clockwork(id="C"), 0), (Clockwork(id="C", at=0.5), 1)):
        counted = gc.simulate(system(record), 2.0, 0.1, method=method).counters
        assert counted["guard_evaluations"] == 1 + counted["steps"] + switches


def test_a_guard_that_is_located_at_the_very_end_of_its_step_fires_there_the_first_of_equal_ones_first(monkeypatch):
    def at_the_end(crossing, begun, end, *_):
        crossing.driver.end_at(end)
        return end

    monkeypatch.setattr(Crossing, "locate", at_the_end)
    run = gc.simulate(system(*(Clockwork(id=i, threshold=0.32) for i in "ABC")), 1.0, 0.1)
    assert [(e.device, e.t) for e in run.events] == [(i, run.t[4]) for i in "ABC"]
    assert [r.guard for r in run.tape.records if isinstance(r, Step) and r.guard >= 0] == [0]
    switches = [r.triggers for r in run.tape.records if isinstance(r, Switch)]
    assert switches == [(("guard", 0),), (("guard", 1), ("guard", 2))]


# ---------------------------------------------------------------- limited states


def test_a_limited_state_enters_and_leaves_its_limits(method):
    tight = {"rtol": 1e-11, "atol": 1e-13} if method == "ida" else {}
    run = gc.simulate(system(Limited(id="L")), 6.5, 0.01, method=method, **tight)
    assert [e.item for e in run.events] == ["x_at_high", "x_off_high", "x_at_low", "x_off_low", "x_at_high"]
    # theta reaches a limit late by the error of the trapezoidal rule, h^2 / 12 of what was integrated
    assert times(run) == pytest.approx(closed_forms.LIMITED_TIMES, abs=1e-9 if tight else 1e-5)
    at = run["L", "x_limit"]
    assert np.all(run["L", "x"][at == 1] == pytest.approx(0.5, abs=1e-12))
    assert np.all(run["L", "x"][at == -1] == pytest.approx(-0.5, abs=1e-12))
    assert np.abs(run["L", "x"]).max() < 0.5 + 1e-9
    np.testing.assert_allclose(run["L", "y"], 2 * run["L", "x"], atol=1e-9)


def test_a_limited_state_that_starts_at_its_limit_is_held_there(method):
    run = gc.simulate(system(Limited(id="L", x0=0.5)), 2.0, 0.01, method=method)
    assert [e.item for e in run.events] == ["x_at_high", "x_off_high"]
    assert times(run) == pytest.approx([0.0, math.pi / 2], abs=1e-9)


def test_a_limited_state_without_time_constant_is_limited_too():
    """Algebraic, 0 = cos(t) would have no solution for x: it must be a follower to be limited."""

    class Follower(Device):
        T = Param("s", 0.0)
        low, high = Param("", -0.5), Param("", 0.5)
        x = State("", T="T", limits=("low", "high"))

        def rates(s):
            return np.sin(s.time) - s.x

    with registered(Follower):
        run = gc.simulate(system(Follower(id="F")), 4.0, 0.01)
    assert [e.item for e in run.events] == ["x_at_high", "x_off_high", "x_at_low"]
    assert times(run) == pytest.approx([RISES, FALLS, 7 * math.pi / 6], abs=1e-13)
    np.testing.assert_allclose(run["F", "x"], np.clip(np.sin(run.t), -0.5, 0.5), atol=1e-12)


@pytest.mark.parametrize(("side", "size", "base"), [(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (1.0, 100.0, 0.0),
                                                    (-1.0, 100.0, 0.0), (1.0, 1.0, -2.0), (-1.0, 1.0, 2.0)])
def test_a_limit_that_jumps_away_lets_its_state_go_and_one_that_jumps_into_it_takes_it_along(method, side, size, base):
    """``dx/dt = 1`` reaches the lid 0.5 at 0.5 s, stays there through a switch that does not move it, is let go by a
    lid of 0.9 at 1 s, and follows that of 0.25 at 2 s; or a hundred times that; from `base`.
    """

    class Lid(Device):
        side, size, lid = Param("", 1.0), Param("", 1.0), Param("", 0.5)
        stays, lifts, falls = Param("s", 0.7), Param("s", 1.0), Param("s", 2.0)
        other = Mode(0)
        x0 = Param("", 0.0)
        x, y = State("", limits=("low", "high"), start_at="x0"), Algebraic("")

        def rates(s):
            return s.side * s.size

        def residuals(s):  # it jumps where the state stays
            return s.y - s.other

        @quantity("")
        def low(s):
            return s.x0 + np.where(s.side < 0, -s.lid, -9.0) * s.size

        @quantity("")
        def high(s):
            return s.x0 + np.where(s.side < 0, 9.0, s.lid) * s.size

        stay = timer("stays", then={"other": 1})
        lift = timer("lifts", then={"lid": lambda s: 0.9})
        fall = timer("falls", then={"lid": lambda s: 0.25})

    with registered(Lid):
        run = gc.simulate(system(Lid(id="L", side=side, size=size, x0=base)), 2.5, 0.1, method=method)
    bound = "x_at_high" if side > 0 else "x_at_low"
    assert [e.item for e in run.events] == [bound, "stay", "lift", bound, "fall"]
    assert times(run) == pytest.approx([0.5, 0.7, 1.0, 1.4, 2.0], abs=EXACT[method])
    expected = np.interp(run.t, [0, 0.5, 1, 1.4, 2], [0, 0.5, 0.5, 0.9, 0.9])
    after = (run.t > 2) | (np.arange(len(run.t)) > np.flatnonzero(run.t == 2)[0])
    np.testing.assert_allclose(side * (run["L", "x"] - base) / size, np.where(after, 0.25, expected), rtol=0, atol=1e-9)


def test_a_switch_that_moves_nothing_but_for_round_off_is_no_jump_to_the_method():
    """What it has learnt of the steps before serves on."""
    noted = []

    class Notes(Theta):
        def switch(self, ws, t, jumped):
            noted.append(jumped)
            super().switch(ws, t, jumped)

    class Shifts(Device):
        """Timers that change what nothing reads, an algebraic variable or a state; and a limit that is reached."""

        idle, small, large, sets = (Param("s", 0.1 * k) for k in (1, 2, 3, 4))
        x0, top = Param("", 0.0), Param("", 0.55)
        w = State("", limits=(-9.0, "top"), start_at="x0")
        x = State("", start_at="x0")
        y = Algebraic("")
        unread, shift = Mode(0), Param("", 0.0)

        def rates(s):
            return 1.0, 1.0

        def residuals(s):
            return s.y - s.x - 99.0 - s.shift

        nothing = timer("idle", then={"unread": 1})
        little = timer("small", then={"shift": 2e-13})
        much = timer("large", then={"shift": lambda s: s.shift + 1e-10})
        reset = timer("sets", then={"x": lambda s: s.x + 1e-12})

    with registered(Shifts, Integrator("notes", Notes)):
        run = gc.simulate(system(Shifts(id="S")), 1.0, 0.07, method="notes")
    assert [e.item for e in run.events] == ["nothing", "little", "much", "reset", "w_at_top"]
    assert noted[-5:] == [False, False, True, True, False]


# ---------------------------------------------------------------- what goes wrong


def test_chattering_is_detected_and_named(method):
    with pytest.raises(gc.errors.EventError, match=r"chattering: S\.falls \(\d+ times\), S\.climbs") as caught:
        gc.simulate(system(Sliding(id="S"), Clockwork(id="C", threshold=0.05)), 1.0, 0.01, method=method)
    assert caught.value.t == pytest.approx(0.105, abs=1e-9)
    assert caught.value.run.t[-1] == caught.value.t
    assert "C.rises" not in str(caught.value)


def test_bounces_without_end_are_chattering():
    """The impacts of a ball accumulate at ``sqrt(2 h / g) (1 + 2 e / (1 - e))``."""
    with pytest.raises(gc.errors.EventError, match=r"chattering: B\.impact") as caught:
        gc.simulate(system(BouncingBall(id="B", restitution=0.5)), 2.0, 0.01)
    assert caught.value.t == pytest.approx(3 * math.sqrt(2 / 9.81), rel=1e-9)


def test_guards_that_trigger_each_other_without_time_passing_are_chattering():
    class Flip(Device):
        x0 = Param("", 1.0)
        x = State("", start_at="x0")
        on = Mode(0)

        def rates(s):
            return 0.0

        @guard("up", when={"on": 0}, then={"on": 1})
        def rises(s):
            return s.x

        @guard("up", when={"on": 1}, then={"on": 0})
        def sets(s):
            return s.x

    with registered(Flip), pytest.raises(gc.errors.EventError, match=r"chattering: F\.rises.* at t = 0 s"):
        gc.simulate(system(Flip(id="F")), 1.0, 0.1)


def test_no_solution_after_an_event_is_named_with_the_event():
    class Gone(Device):
        at = Param("", 0.5)
        x0 = Param("", 0.0)
        x, y = State("", start_at="x0"), gc.Algebraic("", init=1.0)
        gone = Mode(0)

        def rates(s):
            return 1.0

        def residuals(s):
            return s.y * s.y - np.where(s.gone == 1, -1.0, 1.0)

        @guard("up", then={"gone": 1})
        def leaves(s):
            """The root leaves."""
            return s.x - s.at

    with registered(Gone), pytest.raises(gc.errors.ConvergenceError, match=r"after G\.leaves \(The root leaves\)") as e:
        gc.simulate(system(Gone(id="G")), 1.0, 0.1)
    assert e.value.run.t[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(("t_end", "step"), [(0.0, 0.1), (-1, 0.1), (math.nan, 0.1), (math.inf, 0.1),
                                             (1.0, 0.0), (1.0, -0.1), (1.0, math.nan), (1.0, []),
                                             (1.0, [(0.1, 0.1)]), (1.0, [(0, 0.1), (0.5, 0)]),
                                             (1.0, [(0, 0.1), (0.5, 0.2), (0.5, 0.1)])])
def test_impossible_spans_and_steps_are_refused(t_end, step):
    with pytest.raises(gc.errors.CaseError, match=r"t_end|step"):
        gc.simulate(system(Clockwork(id="C")), t_end, step)


# ---------------------------------------------------------------- the tape


def test_the_tape_accounts_for_every_point(method):
    s = system(Clockwork(id="A", threshold=0.3, at=0.55), Delayed(id="D"), Limited(id="L"))
    run = gc.simulate(s, 3.0, 0.1, method=method)
    records = run.tape.records
    moves = [r for r in records if isinstance(r, Step | Resolve)]
    assert [r.k for r in moves] == list(range(len(run.t) - 1))
    for r in moves:
        assert run.t[r.k + 1] - run.t[r.k] == pytest.approx(r.h if isinstance(r, Step) else 0.0, abs=1e-15)
    assert min(r.guard for r in moves if isinstance(r, Step)) == -1  # of those that end at no guard
    switches = [r for r in records if isinstance(r, Switch)]
    assert [r.settings for r in switches] == list(range(1, len(run.tape.settings)))
    assert run.counters["steps"] == sum(isinstance(r, Step) and (r.h > 0 or r.guard >= 0) for r in records)
    assert run.counters["switches"] == len(switches)


def test_every_point_of_the_grid_is_met_and_the_last_step_is_shorter(method):
    run = gc.simulate(system(Driven(id="D", at=0.4321)), 1.05, 0.1, method=method)
    for t in (*(0.1 * np.arange(11)), 1.05):
        assert np.abs(run.t - t).min() < 1e-15
    assert run.t[-1] == 1.05


def test_the_spacing_of_the_grid_may_change_on_the_way(method):
    run = gc.simulate(system(Driven(id="D", at=0.4321)), 1.05, [(0, 0.1), (0.35, 0.02), (0.4, 0.3)], method=method)
    for t in (0, 0.1, 0.2, 0.3, 0.35, 0.37, 0.39, 0.4, 0.7, 1.0):
        assert np.abs(run.t - t).min() < 1e-15
    assert run.t[-1] == 1.05
    if method == "theta":
        assert len(run.t) == 11 + 2  # an event on the way: its time stands twice


def test_a_spacing_that_begins_after_the_end_does_not_matter():
    runs = [gc.simulate(system(Driven(id="D", at=0.4321)), 1.0, step) for step in (0.1, [(0, 0.1), (2, 0.01)])]
    np.testing.assert_array_equal(runs[0].X, runs[1].X)


def test_progress_is_reported_at_every_point_of_the_grid(method):
    seen = []
    gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, method=method, progress=seen.append)
    assert seen == pytest.approx(0.1 * np.arange(1, 11))


def test_a_run_leaves_the_system_as_it_was(method):
    s = system(Clockwork(id="C", at=0.5, threshold=0.2))
    before = s.Z0.copy()
    first = gc.simulate(s, 1.0, 0.1, method=method)
    second = gc.simulate(s, 1.0, 0.1, method=method)
    np.testing.assert_array_equal(s.Z0, before)
    np.testing.assert_array_equal(first.X, second.X)


def test_an_error_keeps_the_run_so_far():
    with pytest.raises(gc.errors.ConvergenceError) as caught:
        gc.simulate(system(Explosion(id="E")), 2.0, 0.01)
    run = caught.value.run
    assert run.counters["steps"] == len(run.t) - 1
    assert run["E", "x"][0] == 1.0


@pytest.mark.parametrize("at", [math.inf, 0.1, 0.105, 0.01 * (POINTS - 1), 0.01 * (POINTS - 1.5)])
def test_a_run_is_cut_into_segments_whether_its_events_fall_on_the_grid_or_not(monkeypatch, at):
    """Of so many points each; a segment does not begin between events of one instant, but soon after them."""
    begun = []
    new = Driver.new_segment
    monkeypatch.setattr(Driver, "new_segment", lambda self: begun.append(self.tape.points) or new(self))
    run = gc.simulate(system(Clockwork(id="C", at=at)), 3.5 * POINTS * 0.01, 0.01)
    assert len(run.events) == (at < math.inf)
    assert begun == pytest.approx(POINTS * np.arange(4), abs=0 if at == math.inf else 5)
