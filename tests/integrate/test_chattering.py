"""Events without end, of which time passes between any two."""

from __future__ import annotations

import math

import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, guard, timer

pytestmark = pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])


class Narrow(Device):
    """A relay whose hysteresis is as wide as it climbs, or falls, in `width` seconds; from `at` on a narrow one."""

    x0, width, at = Param("", 0.0), Param("", 1e-5), Param("s", math.inf)
    x = State("", start_at="x0")
    falling = Mode(0)

    def rates(s):
        return 1.0 - 2.0 * s.falling

    @guard("up", when={"falling": 0}, then={"falling": 1})
    def tops(s):
        return s.x - s.width

    @guard("down", when={"falling": 1}, then={"falling": 0})
    def bottoms(s):
        return s.x

    narrows = timer("at", then={"width": 1e-5})


def test_what_switches_more_often_than_a_hundred_times_a_step_is_chattering(method):
    with registered(Narrow), pytest.raises(gc.errors.EventError, match=r"chattering: N\..* times\), N\.") as caught:
        gc.simulate(system(Narrow(id="N")), 0.05, 0.1, method=method)
    assert 1e-3 - 1e-5 < caught.value.t < 2e-3


def test_what_switches_thirty_times_a_step_is_not_however_often_it_does(method):
    with registered(Narrow):
        run = gc.simulate(system(Narrow(id="N", width=1 / 300)), 1.0, 0.1, method=method)
    assert 295 < run.counters["switches"] < 305


def test_chattering_may_begin_after_many_a_switch(method):
    with registered(Narrow), pytest.raises(gc.errors.EventError, match=r"chattering: N\..* times\), N\.") as caught:
        gc.simulate(system(Narrow(id="N", width=1 / 300, at=0.8)), 1.0, 0.1, method=method)
    assert 0.8 < caught.value.t < 0.81
    assert "narrows (" not in str(caught.value).split(", N.")[0]
    assert caught.value.run.counters["switches"] > 240


def test_sixty_that_set_off_one_another_at_one_instant_are_not(method):
    """A domino each, which the one before has made fall."""

    class Dominoes(Device):
        x0 = Param("", 1.0)
        x = State("", start_at="x0", rate=lambda s: 0.0 * s.x)
        fallen = Mode(0)
        for k in range(60):
            locals()[f"falls{k}"] = guard("up", when={"fallen": k}, then={"fallen": k + 1})(lambda s: s.x)

    with registered(Dominoes):
        run = gc.simulate(system(Dominoes(id="D")), 1.0, 0.1, method=method)
    assert [e.item for e in run.events] == [f"falls{k}" for k in range(60)]
    assert {e.t for e in run.events} == {0.0}
