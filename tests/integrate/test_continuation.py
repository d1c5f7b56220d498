"""Where Newton's iteration finds no solution behind a switch it is followed from before, with the guards on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, guard, timer
from gridcore.errors import ConvergenceError


class Folded(Device):
    """``y² - 4 + u = 0``, with a fold at y = 0; below the `edge`, where `slope` is more than zero, a straight line.

    Where u jumps from 0 to 7, the root 2 is lost on the way: the parabola lacks 7 then, and at the fold still 3.
    """

    at, slope, edge, jump = Param("s", 0.1), Param("", 4.0), Param("", 1.2), Param("", 7.0)
    flips = Param("", 0.0, doc="1: below the edge y is above it")
    y = Algebraic("", init=2.0)
    u, low = Mode(0), Mode(0)

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


def folded(**values: float) -> gc.System:
    case = gc.Case("folded")
    case.add("Folded", id="F", **values)
    return gc.build(case)


@pytest.fixture(autouse=True)
def registered() -> Any:
    with gc.registered(Folded):
        yield


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_a_guard_that_fires_on_the_way_acts_with_the_switch(method: str) -> None:
    run = gc.simulate(folded(), 0.3, 0.05, method)
    assert [(event.t, event.item) for event in run.events] == [(0.1, "strikes"), (0.1, "falls")]
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
    with pytest.raises(ConvergenceError, match=r"no solution .* F\.strikes .* F\.falls .* at 0\.0%, they end"):
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
                    ("REPC_REEC_GEN37", "low_below"), ("GEN33", "gain_below_2")}
    at = near.t > 0.1
    assert near["BUS2", "Vm"][at].max() < 0.01 < far["BUS2", "Vm"][far.t > 0.1].min()
    assert np.all(near["BUS37", "Vm"][at] < 0.4)
    ws, k = near.system.workspace(), len(near.t) - 1
    ws.load(np.concatenate([near.X[k], near.tape.settings[near.tape.point_settings()[k]], near.t[k:]]))
    assert np.abs(ws.rhs()[~near.system.differential(ws.Z)]).max() < 1e-9


def test_its_gradient_is_the_difference_of_runs_that_are_continued_so() -> None:
    run = gc.simulate(gc.build(converters(1e-4)), 0.12, 0.01)
    of = [gc.Terminal(lambda v: v["BUS37", "Vm"]), gc.Integral(lambda v: v["GEN36", "omega"])]
    wrt = ["fault.x", "GEN33.Lvpnt1", "GEN36.H"]
    exact, expected = gc.adjoint(run, of, wrt).values, gc.differences(run, of, wrt).values
    assert np.all(np.abs(exact[0]) > 1e-9)
    np.testing.assert_allclose(exact, expected, rtol=1e-6, atol=1e-9)
