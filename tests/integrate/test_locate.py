from __future__ import annotations

from types import SimpleNamespace

import closed_forms
import numpy as np
import pytest
from devices_for_tests import Clockwork, Delayed, Limited, registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard
from gridcore.integrate.locate import interpolated
from gridcore.tape import Step
from gridcore_devices.hybrid.bouncing_ball import BouncingBall
from gridcore_devices.hybrid.switched_linear import SwitchedLinear


def residuals_at_events(run):
    """|gamma| at the end of every step that ends on a guard, before anything is switched."""
    s, out = run.system, []
    for record in run.tape.records:
        if isinstance(record, Step) and record.guard >= 0:
            settings = run.tape.settings[run.tape.point_settings()[record.k + 1]]
            Z = np.concatenate([run.X[record.k + 1], settings, [run.t[record.k + 1]]])
            out.append(abs(s.switching.values(Z)[record.guard]))
    return out


@pytest.mark.parametrize("record", [SwitchedLinear(id="S"), BouncingBall(id="B")], ids=["lines", "floor"])
@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_events_are_located_to_round_off(record, theta):
    found = residuals_at_events(gc.simulate(system(record), 2.0, 1e-3, theta=theta))
    assert len(found) >= 2
    assert max(found) < 2e-14


def test_events_of_algebraic_variables_and_of_time_are_located_to_round_off(small_devices):
    run = gc.simulate(system(Delayed(id="D", delay=2.5), Limited(id="L")), 9.0, 0.01)
    found = residuals_at_events(run)
    assert len(found) == 4 + 6
    assert max(found) < 2 * np.finfo(float).eps * run.t[-1]  # of times, which are known to that, at speed one
    cancelled = [e.t for e in run.events if e.kind == "cancelled"]
    np.testing.assert_allclose(cancelled, [5 * np.pi / 6, 17 * np.pi / 6], rtol=1e-15)


def test_the_located_step_satisfies_the_equations_of_a_theta_step(small_devices):
    """An event-ended step is a step like any other: the same residual, with the length that was found."""
    s = system(SwitchedLinear(id="S"))
    run = gc.simulate(s, 0.1, 1e-3)
    ended = [r for r in run.tape.records if isinstance(r, Step) and r.guard >= 0]
    assert ended
    for r in ended:
        before, after = run.X[r.k], run.X[r.k + 1]
        defect = after - before - r.h / 2 * closed_forms.A1 @ (before + after)
        assert np.abs(defect).max() < 1e-15
        assert run.t[r.k + 1] - run.t[r.k] == pytest.approx(r.h, abs=1e-16)


def test_the_first_of_several_guards_in_a_step_ends_it(small_devices):
    s = system(Clockwork(id="late", threshold=0.38), Clockwork(id="early", threshold=0.32), Clockwork(id="never"))
    run = gc.simulate(s, 1.0, 0.1)
    assert [(e.device, round(e.t, 12)) for e in run.events] == [("early", 0.32), ("late", 0.38)]


class Hump(Device):
    """``x`` falls at speed one from where time comes within `width` of `middle`."""

    middle, width, x0 = Param("s", 0.35), Param("s", 0.03), Param("", 1.0)
    x = State("", start_at="x0")
    begun = Mode(0)

    def rates(s):
        return -s.begun

    @guard("up", then={"begun": 1})
    def near(s):
        return s.width**2 - (s.time - s.middle) ** 2


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf", "ida"])
def test_a_guard_that_is_across_only_where_another_ends_the_step_acts_where_it_crosses(method, small_devices):
    """Within a step of 0.1 s it is across and is not again: ``x(1) = middle - width``."""
    with registered(Hump):
        s = system(Clockwork(id="clock", threshold=0.36), Hump(id="H"))
        run = gc.simulate(s, 1.0, 0.1, method=method)
        assert [(e.device, round(e.t, 12)) for e in run.events] == [("H", 0.32), ("clock", 0.36)]
        again = gc.retrace(run) if method == "ida" else run
        found = gc.adjoint(again, gc.Terminal(lambda v: v["H", "x"]), wrt=["H.middle", "H.width"]).values
        np.testing.assert_allclose(found, [[1.0, -1.0]], rtol=1e-12)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**-500, 2.0**500, 2.0**1000])
def test_three_points_are_interpolated_by_a_parabola_of_the_guard_two_by_a_line(count, scale):
    """``t = 0.3 + 2 gamma + curved gamma^2``, whose zero is at 0.3; whatever the guard's unit."""
    curved = 0.5 * (count == 3)
    last = [SimpleNamespace(t=0.3 + 2 * g + curved * g * g, gamma=scale * g) for g in (-0.4, 0.9, 0.2)[-count:]]
    assert interpolated(last) == pytest.approx(0.3, abs=1e-15)
    assert np.isnan(interpolated([last[0], last[0]]))


@pytest.mark.parametrize("level", np.linspace(0.03, 0.8, 5))
def test_a_smooth_guard_is_located_in_a_dozen_evaluations(level):
    class Bends(Device):
        level, x0 = Param(""), Param("", 0.0)
        x = State("", start_at="x0")
        hit = Mode(0)

        def rates(s):
            return np.cos(s.time)

        @guard("up", when={"hit": 0}, then={"hit": 1})
        def crosses(s):
            return np.exp(s.x) - np.exp(s.level)

    with registered(Bends):
        run = gc.simulate(system(Bends(id="B", level=level)), 1.0, 0.1)
    assert run["B", "hit"][-1] == 1
    assert run.counters["guard_evaluations"] - run.counters["steps"] <= 12


@pytest.mark.parametrize("levels", [(0.9, 0.6), (0.9, 0.95), (0.5, 0.6)])
def test_the_first_is_the_first_also_where_straight_lines_say_another(levels):
    """A step from x = 0 to 1: the straight line of x^8 crosses early."""

    class Curves(Device):
        curved, straight = Param("", 0.0), Param("", 0.0)
        x0 = Param("", 0.0)
        x = State("", start_at="x0")
        a, b = Mode(0), Mode(0)

        def rates(s):
            return 1.0

        @guard("up", then={"a": lambda s: s.a + 1})
        def power(s):
            return s.x**8 - s.curved**8

        @guard("up", then={"b": lambda s: s.b + 1})
        def line(s):
            return s.x - s.straight

    with registered(Curves):
        run = gc.simulate(system(Curves(id="C", curved=levels[0], straight=levels[1])), 2.0, 1.0)
    expected = sorted(zip(levels, ("power", "line")))
    assert [(pytest.approx(e.t, abs=1e-13), e.item) for e in run.events] == expected


def test_a_strongly_curved_guard_is_found_by_halving():
    """Tanh far from its zero sends Newton out of the step; the bracket brings it back."""

    class Curved(Device):
        zero = Param("")
        steepness = Param("", 1e3)
        x0 = Param("", 0.0)
        x = State("", start_at="x0")
        y = Algebraic("")
        hit = Mode(0)

        def rates(s):
            return 1.0

        def residuals(s):
            return s.y - np.tanh(s.steepness * (s.x - s.zero))

        @guard("up", then={"hit": 1})
        def crosses(s):
            return s.y

    with registered(Curved):
        for zero in (0.01234, 0.0499, 0.0977):
            run = gc.simulate(system(Curved(id="C", zero=zero)), 0.2, 0.1)
            assert [e.t for e in run.events] == pytest.approx([zero], rel=1e-12)


@pytest.mark.parametrize("t0", [0.0, -4.0])
@pytest.mark.parametrize("noise", [1e-12, 1e-15, 0.0, -1e-15, -1e-12])
def test_what_begins_at_a_line_but_for_round_off_and_comes_back_crosses_it_there_and_not_where_it_began(noise, t0):
    class Thrown(Device):
        x0, v0, noise = Param("", 0.0), Param("", 1.0), Param("")
        v, x = State("", start_at="v0"), State("", start_at="x0")
        fell = Mode(0)

        def rates(s):
            return -200.0, s.v

        @guard("down", when={"fell": 0}, then={"fell": 1})
        def falls(s):
            return s.x + s.noise

    with registered(Thrown):
        for early in (1e-8, 1e-6, 1e-4, 1e-2):  # as part of the step, in which it is back just before the end
            step = 0.01 * (1 + early)
            run = gc.simulate(system(Thrown(id="T", noise=noise)), t0 + 2 * step, step, t0=t0)
            assert [e.t - t0 for e in run.events] == pytest.approx([0.01], abs=1e-11)


@pytest.mark.parametrize("noise", [1e-12, 1e-15])
def test_what_begins_across_a_line_by_round_off_and_departs_without_speed_crosses_it_there(noise):
    class Rising(Device):
        x0, noise = Param("", 0.0), Param("")
        x, v = State("", start_at="x0"), State("", start_at="x0")
        above = Mode(0)

        def rates(s):
            return s.v, 1.0

        @guard("up", when={"above": 0}, then={"above": 1})
        def rises(s):
            return s.x + s.noise

    with registered(Rising):
        run = gc.simulate(system(Rising(id="R", noise=noise)), 0.02, 0.01)
    assert [e.t for e in run.events] == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize("zeros", [(0.02, 0.05, 0.09), (0.045, 0.05, 0.055), (0.001, 0.002, 0.099), (0.01, 0.04, 0.05)])
@pytest.mark.parametrize("steepness", [1.0, 1e3])
def test_of_the_zeros_of_a_guard_that_is_not_monotone_one_in_its_direction_is_found(zeros, steepness):
    class Wave(Device):
        x0, a, b, c, steepness = (Param("", 0.0), Param(""), Param(""), Param(""), Param(""))
        x = State("", start_at="x0")
        y = Algebraic("")
        hit = Mode(0)

        def rates(s):
            return 1.0

        def residuals(s):
            return s.y - np.tanh(s.steepness * (s.x - s.a) * (s.x - s.b) * (s.x - s.c) * 1e4)

        @guard("up", when={"hit": 0}, then={"hit": 1})
        def rises(s):
            return s.y

    with registered(Wave):
        run = gc.simulate(system(Wave(id="W", **dict(zip("abc", zeros, strict=True)), steepness=steepness)), 0.2, 0.1)
    (event,) = run.events
    assert min(abs(event.t - zeros[0]), abs(event.t - zeros[2])) < 1e-12


def test_where_the_equations_have_no_solution_half_way_the_crossing_is_found_beside_it():
    """``y³ - y`` folds back: from the upper branch y falls to the lower one between two points of the grid."""

    class Fold(Device):
        x0, zero = Param("", -0.5), Param("")
        x = State("", start_at="x0")
        y = Algebraic("", init=1.2)
        hit = Mode(0)

        def rates(s):
            return 1.0

        def residuals(s):
            return s.y * s.y * s.y - s.y + s.x + 10.0 * s.hit

        @guard("up", when={"hit": 0}, then={"hit": 1})
        def passes(s):
            return s.x - s.zero

    with registered(Fold):
        for zero in (-0.3, 0.2, 0.38, 0.39, 0.7):
            run = gc.simulate(system(Fold(id="F", zero=zero)), 1.6, 0.8)
            assert [e.t for e in run.events] == pytest.approx([zero + 0.5], abs=1e-12)


@pytest.mark.parametrize("far", [1.0, 2.0, 0.3, 50.0])
def test_a_guard_that_cannot_be_located_is_named(far):
    """A jump through zero has no crossing to be found."""

    class Jump(Device):
        x0, far = Param("", 0.0), Param("")
        x = State("", start_at="x0")
        hit = Mode(0)

        def rates(s):
            return 1.0

        @guard("up", then={"hit": 1})
        def jumps(s):
            return np.where(s.x > 0.05, s.far, -1.0)

    with registered(Jump), pytest.raises(gc.errors.EventError, match=r"J\.jumps cannot be located.* smaller") as caught:
        gc.simulate(system(Jump(id="J", far=far)), 0.2, 0.1)
    assert caught.value.t == pytest.approx(0.05)
    assert caught.value.run.t[-1] == 0.0


def test_a_step_ends_where_it_began_if_the_guard_is_zero_there(small_devices):
    s = system(Clockwork(id="C", x0=0.25, threshold=0.25))
    run = gc.simulate(s, 0.1, 0.1)
    first = run.tape.records[0]
    assert first.h == pytest.approx(0.0, abs=1e-16)
    assert first.guard == 0
    assert run.X[1, 0] == pytest.approx(0.25, abs=1e-16)


@pytest.mark.parametrize("x0", [5e-324, 3e-323, 1e-310, 1e-308, 1e-300])
@pytest.mark.parametrize("speed", [1e-300, 1e-308, 3e-307])
def test_a_guard_of_the_smallest_numbers_is_located_or_at_rest(x0, speed, small_devices):
    """Products of its values are zero, their differences are not."""
    run = gc.simulate(system(Clockwork(id="C", x0=-x0, speed=speed, threshold=0.0)), 1.0, 0.1)
    assert all(0 <= event.t <= 1.0 for event in run.events)
