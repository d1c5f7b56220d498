"""What a switch has changed is all that is looked at after it: nothing is missed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, quantity, timer
from gridcore.equations import Workspace
from gridcore.integrate.guards import Watch
from gridcore.tape import Settings


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


class Cover(Lid):
    """A lid that events alone lift: linear, and evaluated anew only where its parameters and modes are others."""

    y = Algebraic("", equals=lambda s: 2 * s.x)

    @quantity("")
    def high(s):
        return s.lid


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with registered(Lid, Cover):
        yield


RUNS: dict[str, Callable[[], gc.Run]] = {
    "a fault, limits": lambda: gc.simulate("wscc9_paper", 1.0, 2e-3),
    "limits, a line out": lambda: gc.simulate("ieee39", 3.0, 0.01),
    "delays, cancelled": lambda: gc.simulate("wscc9_recovery_cancelled", 32.0, 0.05),
    "thyristors": lambda: gc.simulate("kundur_lcc", 1.0, 0.01),
    "computed again": lambda: gc.simulate(case := gc.build("hiskens_pai"), 1.4, 1e-3, checkpoint=8 * case.n * 600),
    "continued": lambda: gc.simulate(gc.simulate("hiskens_pai", 0.5, 1e-3), 1.0),
    "limits that jump away": lambda: gc.simulate(system(Lid(id="L", rests=1.0), Cover(id="C", rests=1.0)), 1.5, 0.1),
    "and before the run": lambda: gc.simulate(system(Lid(id="L", rests=1.0, lifts=9.0)), 4.0, 0.1, t0=2.0)}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_the_same_to_the_last_bit_where_all_is_looked_at_after_each_switch(name, monkeypatch):
    told, times = RUNS[name](), list[bool]()

    def of_all(plain: Callable[..., None], first: int) -> Callable[..., None]:
        def whole(self: Any, *given: Any) -> None:
            times.append(len(given) > first)
            plain(self, *given[:first])

        return whole

    for of, method, first in ((Workspace, "refresh", 0), (Watch, "refresh", 2), (Settings, "append", 1)):
        monkeypatch.setattr(of, method, of_all(getattr(of, method), first))
    run = RUNS[name]()
    assert sum(times) >= 3 * run.counters["switches"] > 0
    assert run.X.tobytes() == told.X.tobytes()
    assert run.t.tobytes() == told.t.tobytes()
    assert np.array(run.tape.settings).tobytes() == np.array(told.tape.settings).tobytes()
    assert run.tape.records == told.tape.records
    assert run.counters == told.counters


@pytest.mark.parametrize("t0", [0.0, 2.0])
def test_a_state_that_a_lid_lets_go_is_stopped_where_it_meets_it_again_also_if_that_is_how_the_run_begins(t0):
    """At two seconds the lid is no longer where the state rests: that is found by the first solution of the run."""
    run = gc.simulate(system(Lid(id="L", rests=1.0, lifts=t0 + 0.5)), t0 + 2.0, 0.1, t0=t0)
    assert run["L.x"].max() == pytest.approx(0.9, abs=1e-12)
    assert run["L.x"][-1] == pytest.approx(0.9, abs=1e-12)
    assert run["L.x_limit"][-1] == 1
