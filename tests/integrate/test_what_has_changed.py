"""What is watched after the changes of a switch, and after the first solution of a run."""

from __future__ import annotations

import numpy as np
import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, quantity, timer


class Lid(Device):
    """``dx/dt = 1`` below a lid, which is lifted by an event, and in the course of time; some rest at it at t0."""

    x0, rests, lid, lifts = Param("", 0.5), Param("", 0.0), Param("", 0.5), Param("s", 0.3)
    x, y = State("", limits=(None, "high"), start_at="x0"), Algebraic("", equals=lambda s: s.x + s.time)
    settled = Mode(0)

    def rates(s):
        return 1.0

    @quantity("")
    def high(s):
        return np.where(s.time < 1.0, s.lid, 0.9)

    lift = timer("lifts", then={"lid": 0.7})

    @guard("up", when={"settled": 0}, then={"x_limit": 1, "settled": 1}, settles=True)
    def settle(s):
        return s.rests - 0.5


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with registered(Lid):
        yield


@pytest.mark.parametrize("t0", [0.0, 2.0])
def test_a_state_that_a_lid_lets_go_is_stopped_where_it_meets_it_again_also_if_that_is_how_the_run_begins(t0):
    """At two seconds the lid is no longer where the state rests: that is found by the first solution of the run."""
    run = gc.simulate(system(Lid(id="L", rests=1.0, lifts=t0 + 0.5)), t0 + 2.0, 0.1, t0=t0)
    assert run["L.x"].max() == pytest.approx(0.9, abs=1e-12)
    assert run["L.x"][-1] == pytest.approx(0.9, abs=1e-12)
    assert run["L.x_limit"][-1] == 1
