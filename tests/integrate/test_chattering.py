"""Events without end, of which time passes between any two."""

from __future__ import annotations

import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, guard


@pytest.mark.parametrize("method", ["theta", "trbdf2"])
def test_what_switches_more_often_than_a_hundred_times_a_step_is_chattering(method):
    class Narrow(Device):
        """A relay with a hysteresis of a ten-thousandth of a step."""

        x0, width = Param("", 0.0), Param("", 1e-5)
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

    with registered(Narrow), pytest.raises(gc.errors.EventError, match=r"chattering: N\..* times\), N\.") as caught:
        gc.simulate(system(Narrow(id="N")), 0.05, 0.1, method=method)
    assert 1e-3 - 1e-5 < caught.value.t < 2e-3
