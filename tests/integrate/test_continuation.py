"""Where Newton's iteration finds no solution behind a switch it is followed from before, with the guards on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, timer
from gridcore.errors import ConvergenceError


class Folded(Device):
    """``y² - 4 + u = 0``, with a fold at y = 0; below the `edge`, where `slope` is more than zero, a straight line.

    Where u jumps from 0 to 7, the root 2 is lost on the way: the parabola lacks 7 then, and at the fold still 3. On the
    way x, at its limit, begins to fall; how often y has fallen below 1.4 is counted.
    """

    at, slope, edge, jump = Param("s", 0.1), Param("", 4.0), Param("", 1.2), Param("", 7.0)
    flips = Param("", 0.0, doc="1: below the edge y is above it")
    wait, x0 = Param("s", 0.0625), Param("", 1.0)
    x = State("", start_at="x0", limits=(None, "x0"), rate=lambda s: s.y - 1.3)
    y = Algebraic("", init=2.0)
    u, low, noted, times = Mode(0), Mode(0), Mode(0), Mode(0)

    def residuals(s: Any) -> Any:
        u = s.u * s.jump - 4.0
        line = s.edge**2 + u + s.slope * (s.y - s.edge)
        return np.where(s.low == 1, np.where(s.flips == 1, s.y - 1.5, line), s.y**2 + u)

    strikes = timer("at", then={"u": 1}, doc="strikes")

    @guard("down", when={"low": 0}, then={"low": lambda s: np.where(s.slope > 0, 1, 0)})
    def falls(s: Any) -> Any:
        """The value falls."""
        return s.y - s.edge

    @guard("up", when={"low": 1}, then={"low": lambda s: np.where(s.flips == 1, 0, 1)})
    def rises(s: Any) -> Any:
        """The value rises."""
        return s.y - s.edge

    @guard("down", then={"times": lambda s: s.times + 1})
    def counts(s: Any) -> Any:
        """The value falls below 1.4."""
        return s.y - 1.4

    @guard("down", when={"noted": 0}, then={"noted": 1}, delay="wait")
    def notes(s: Any) -> Any:
        """The value has been below 1.5 for a while."""
        return s.y - 1.5


def folded(**values: float) -> gc.System:
    case = gc.Case("folded")
    case.add("Folded", id="F", **values)
    return gc.build(case)


@pytest.fixture(autouse=True)
def registered() -> Any:
    with gc.registered(Folded):
        yield


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_a_guard_that_fires_on_the_way_acts_with_the_switch_but_for_one_with_a_delay(method: str) -> None:
    run = gc.simulate(folded(), 0.3, 0.05, method)
    assert [(event.t, event.item, event.kind) for event in run.events] == [
        (0.0, "x_at_x0", "switch"), (0.1, "strikes", "switch"), (0.1, "counts", "switch"), (0.1, "x_off_x0", "switch"),
        (0.1, "falls", "switch"), (0.1, "notes", "delay started"), (0.1625, "notes", "switch")]
    assert run["F", "x"][-1] == pytest.approx(1.0 + 0.2 * (run["F", "y"][-1] - 1.3), abs=1e-13)
    assert run["F", "times"][-1] == 1.0
    assert run["F", "y"][[0, -1]] == pytest.approx([2.0, 1.2 - (1.2**2 + 3.0) / 4.0], abs=1e-13)


def test_derivatives_are_those_of_the_solution_that_was_reached() -> None:
    """``y = edge - (edge² - 4 + u) / slope`` has them in closed form."""
    run, end = gc.simulate(folded(), 0.3, 0.05), gc.Terminal(lambda v: v["F", "y"])
    found = gc.adjoint(run, end, wrt=["F.edge", "F.jump", "F.slope", "F.at"]).values.ravel()
    assert found == pytest.approx([1.0 - 2 * 1.2 / 4.0, -0.25, (1.2**2 + 3.0) / 16.0, 0.0], abs=1e-13)
    swept = gc.analyses.tsa(run, ["F.edge", "F.jump", "F.slope"], [("F", "y")]).values[-1].ravel()
    assert swept == pytest.approx(found[:3], abs=1e-13)


def test_how_far_solutions_go_is_told_where_they_end() -> None:
    """At the fold, where 3 of the 7 are still lacking."""
    with pytest.raises(ConvergenceError, match=r"F\.strikes \(strikes\), .*, at 57\.1%, they end at F\.y") as caught:
        gc.simulate(folded(slope=0.0, edge=-9.0), 0.3, 0.05)
    assert caught.value.run.t[-1] == 0.1
    assert caught.value.run["F", "y"] == pytest.approx(2.0, abs=1e-13)


def test_guards_that_undo_each_other_end_the_way() -> None:
    with pytest.raises(ConvergenceError, match=r" F\.falls \(The value falls\), F\.rises \(The value rises\), from "):
        gc.simulate(folded(flips=1.0), 0.3, 0.05)


def converters(x: float) -> gc.Case:
    case = gc.load_case("ieee39_converters")
    for id in ("fault", "trip"):
        case.remove(id)
    case.add(gc.BusFault(id="fault", bus=2, t=0.1, clear=0.2, x=x))
    return case


def test_a_bolted_fault_near_a_plant_is_survived_as_one_behind_an_impedance_is() -> None:
    """Its current gives way with the voltage, by gain and reactive control: there is no solution where it does not."""
    near, far = (gc.simulate(gc.build(converters(x)), 0.15, 0.01) for x in (1e-4, 1e-3))
    told = {(event.device, event.item) for event in near.events if event.t == 0.1}
    assert told == {("fault", "strikes"), ("GEN37", "gain_below_2"), ("GEN37", "gain_below_1"),
                    ("REEC_GEN37", "dip_below"), ("REPC_REEC_GEN37", "low_below"), ("GEN33", "gain_below_2"),
                    ("REEC_GEN33", "dip_below")}
    at = near.t > 0.1
    assert near["BUS2", "Vm"][at].max() < 0.01 < far["BUS2", "Vm"][far.t > 0.1].min()
    assert np.all(near["BUS37", "Vm"][at] < 0.4)
    assert unbalance(near) < 1e-9


def unbalance(run: gc.Run) -> float:
    """How far algebraic equations are from zero at the end."""
    ws, k = run.system.workspace(), len(run.t) - 1
    ws.load(np.concatenate([run.X[k], run.tape.settings[run.tape.point_settings()[k]], run.t[k:]]))
    return float(np.abs(ws.rhs()[~run.system.differential(ws.Z)]).max())


def test_a_relay_without_a_delay_trips_its_line_behind_a_solution_that_was_continued() -> None:
    case = converters(1e-4)
    case.add("OverCurrentRelay", id="relay", branch="LINE1-2", threshold=5.0)
    run = gc.simulate(gc.build(case), 0.12, 0.01)
    assert ("relay", "overload") in {(event.device, event.item) for event in run.events if event.t == 0.1}
    assert run["LINE1-2", "status"][-1] == 0.0
    assert unbalance(run) < 1e-9


def test_its_gradient_is_the_difference_of_runs_that_are_continued_so() -> None:
    run = gc.simulate(gc.build(converters(1e-4)), 0.12, 0.01)
    of = [gc.Terminal(lambda v: v["BUS37", "Vm"]), gc.Integral(lambda v: v["GEN36", "omega"])]
    wrt = ["fault.x", "GEN33.Lvpnt1", "GEN36.H"]
    exact, expected = gc.adjoint(run, of, wrt).values, gc.differences(run, of, wrt).values
    assert np.all(np.abs(exact[0]) > 1e-9)
    np.testing.assert_allclose(exact, expected, rtol=1e-6, atol=1e-9)


class Opener(Device):
    """Opens a line at once where the voltage of a bus falls."""

    attaches = ("bus", "branch")
    done = Mode(0)

    @guard("down", when={"done": 0}, then={"done": 1, "branch.status": 0})
    def opens(s: Any, bus: Any) -> Any:
        """The voltage falls below one half."""
        return bus.Vm - 0.5


def test_an_island_that_is_left_on_the_way_is_told_with_its_time_and_what_acted() -> None:
    with gc.registered(Opener):
        case = converters(1e-4)
        case.add("Opener", bus=2, branch="LINE1-2")
        case.add("Opener", bus=2, branch="LINE1-39")
        with pytest.raises(gc.errors.NetworkError, match=r"^at t = 0\.1 s, after .*opens.*: island .*BUS1") as caught:
            gc.simulate(gc.build(case), 0.15, 0.01)
    assert caught.value.run.t[-1] == 0.1
