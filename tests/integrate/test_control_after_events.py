"""Chosen steps after an event: the method is told what it was, and says how they go on."""

from __future__ import annotations

import pytest
from devices_for_tests import Clockwork, Driven, system
from test_control import Told, made

import gridcore as gc
from gridcore.registry import Integrator, registered

pytestmark = pytest.mark.usefixtures("small_devices")


@pytest.mark.parametrize("step", ["auto", 0.1])
def test_a_method_is_told_of_a_tick_that_moves_no_variable(step):
    with registered(Integrator("told", Told)):
        gc.simulate(system(Clockwork(id="C", at=0.5)), 1.0, step, "told")
    assert made[-1].switched == [False]


@pytest.mark.parametrize("goes_on", [True, False])
def test_after_an_event_steps_begin_small_unless_the_method_says_that_they_may_be_as_long(goes_on):
    class Goes(Told):
        def switch(self, ws, t, jumped):
            super().switch(ws, t, jumped)
            self.before = len(self.lengths)
            return goes_on

    with registered(Integrator("told", Goes)):
        gc.simulate(system(Driven(id="D", at=5.0)), 1e4, "auto", "told", errors=[1e-3] * 100)
    h, k = made[-1].lengths, made[-1].before
    assert sum(h[:k]) == pytest.approx(5.0, rel=1e-12)
    assert (h[k] > h[k - 1]) == goes_on
    assert (h[k] < 0.1 * h[k - 1]) != goes_on
