"""Guards and timers that act at one instant, or close behind each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from devices_for_tests import Clockwork, registered, system

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, guard, timer

pytestmark = pytest.mark.usefixtures("small_devices")


class Twice(Device):
    """Two guards that reach zero together, whatever round-off says: what one changes, the other changes, too."""

    at = Param("", 0.3)
    factor = Param("", 1.0)
    x0 = Param("", 0.0)
    x = State("", start_at="x0")
    one, both = Mode(0), Mode(0)

    def rates(s):
        return 1.0 + 0.3 * s.x

    @guard("up", when={"one": 0}, then={"one": 1})
    def first(s):
        return s.x - s.at

    @guard("up", when={"both": 0}, then={"one": 1, "both": 1})
    def second(s):
        return s.factor * s.x - s.factor * s.at

    @guard("down", when={"one": 0}, then={"one": 1})
    def third(s):
        return s.factor * s.at - s.factor * s.x


@pytest.mark.parametrize("factor", [1.0, 1 / 3, 0.7, math.pi, 1e3])
@pytest.mark.parametrize("at", [0.3, 0.1234, 0.77])
def test_of_guards_that_cross_together_the_one_that_does_all_is_the_only_event(factor, at):
    with registered(Twice):
        run = gc.simulate(system(Twice(id="T", at=at, factor=factor)), 1.0, 0.1)
    assert [event.item for event in run.events] == ["second"]


def test_a_guard_that_has_just_left_zero_is_not_taken_for_one_that_comes_to_it():
    """It comes back later in the step, so it has crossed at its end; another one crosses where it is near zero."""
    class Leaves(Device):
        x0 = Param("", 0.0)
        x = State("", start_at="x0")
        begun, over, soon = Mode(0), Mode(0), Mode(0)

        def rates(s):
            return 1.0

        @guard("up", when={"begun": 0}, then={"begun": 1})
        def begins(s):
            return s.x - 0.5

        @guard("up", when={"begun": 1, "over": 0}, then={"over": 1})
        def comes_back(s):
            return (s.x - 0.5) * (s.x - 0.54)

        @guard("up", when={"begun": 1, "soon": 0}, then={"soon": 1})
        def follows(s):
            return s.x - 0.5 - 1e-14

    with registered(Leaves):
        run = gc.simulate(system(Leaves(id="L")), 1.0, 0.1)
    assert [event.item for event in run.events] == ["begins", "follows", "comes_back"]
    assert [event.t for event in run.events] == pytest.approx([0.5, 0.5, 0.54], abs=1e-12)


@pytest.mark.parametrize("count", [90, 120])
def test_more_than_a_hundred_events_that_follow_from_each_other_at_one_instant_are_chattering(count):
    """Also where each is another guard's."""
    def falls(k):
        return guard("up", then={"fallen": k + 1})(lambda s: s.x - 0.5 if k == 0 else s.fallen - k + 0.5)

    x0 = Param("", 0.0)
    dominoes = type("Dominoes", (Device,), {
        "x0": x0, "x": State("", start_at="x0"), "fallen": Mode(0), "rates": lambda s: 1.0,
        **{f"g{k}": falls(k) for k in range(count)}})
    with registered(dominoes):
        case = system(dominoes(id="D"))
        if count < 100:
            assert len(gc.simulate(case, 1.0, 0.1).events) == count
        else:
            with pytest.raises(gc.errors.EventError, match=r"chattering: D\.g0 \(1 times\)") as caught:
                gc.simulate(case, 1.0, 0.1)
            assert caught.value.t == pytest.approx(0.5)


def test_as_many_timers_as_there_are_may_come_within_one_step_and_at_one_instant():
    for at in (lambda k: 0.5 + 1e-4 * k, lambda k: 0.55):
        run = gc.simulate(system(*(Clockwork(id=f"C{k}", at=at(k)) for k in range(130))), 1.0, 0.1)
        assert len(run.events) == 130


def test_many_limits_that_are_reached_once_within_a_step_are_no_chattering():
    with registered(Twice):
        many = [Twice(id=f"T{k}", at=0.5 + 1e-4 * k) for k in range(150)]
        run = gc.simulate(system(*many), 1.0, 0.1)
    assert len(run.events) == 150


class Three(Device):
    """Three states leave zero upwards at `rise`, at rates that say how far they are off when they turn at `fall`; when
    the first is back the others change their speeds.
    """

    rise, fall = Param("s", 0.35), Param("s", 0.35)
    up1, up2, up3 = Param("1/s", 1.0), Param("1/s", 2.0), Param("1/s", 3.0)
    down2, down3, later2, later3 = Param("1/s", 1.0), Param("1/s", 2.9), Param("1/s", 1.0), Param("1/s", 0.5)
    x0 = Param("", 0.0)
    x, y, z = State("", start_at="x0"), State("", start_at="x0"), State("", start_at="x0")
    phase, first, second, third = Mode(0), Mode(0), Mode(0), Mode(0)

    def rates(s):
        down2, down3 = np.where(s.first, s.later2, s.down2), np.where(s.first, s.later3, s.down3)
        return [np.where(s.phase == 0, 0.0, np.where(s.phase == 1, up, -down))
                for up, down in ((s.up1, 1.0), (s.up2, down2), (s.up3, down3))]

    rises = timer("rise", then={"phase": 1}, doc="rises")
    falls = timer("fall", then={"phase": 2}, doc="falls")

    @guard("down", when={"first": 0, "phase": 2}, then={"first": 1})
    def one(s):
        return s.x

    @guard("down", when={"second": 0, "phase": 2}, then={"second": 1})
    def two(s):
        return s.y

    @guard("down", when={"third": 0, "phase": 2}, then={"third": 1})
    def three(s):
        return s.z


@pytest.mark.parametrize(("values", "order"), [({}, ["one", "three", "two"]), ({"up3": 0.5}, ["three", "one", "two"]),
                                               ({"later3": 0.05}, ["one", "two", "three"])])
def test_events_of_one_instant_come_in_the_order_in_which_they_come_when_they_are_apart(values, order):
    """Each is as late as the ones before have made it: of two and three that stand 1 and 0.1 off when one comes."""
    with registered(Three):
        for apart in (0.0, 1e-3):
            run = gc.simulate(system(Three(id="T", fall=0.35 + apart, **values)), 0.5, 0.1)
            assert [event.item for event in run.events] == ["rises", "falls", *order]
