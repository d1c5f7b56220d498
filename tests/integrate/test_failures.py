"""A run that cannot go on says where, when, after what, and what to try; what came before is kept."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, timer
from gridcore.errors import ConvergenceError, NetworkError


def nine_bus() -> gc.Case:
    case = gc.load_case("wscc9")
    for id in ("fault", "trip"):
        case.remove(id)
    return case


def test_an_island_without_a_source_is_told_with_its_time_and_its_cause() -> None:
    case = nine_bus()
    case.add(gc.BranchTrip(id="a", branch="LINE4-5", t=0.1013))
    case.add(gc.BranchTrip(id="b", branch="LINE5-7", t=0.1513))
    with pytest.raises(NetworkError, match=r"^at t = 0\.1513 s, after b\.opens \(opened\): island .*BUS5; ") as caught:
        gc.simulate(gc.build(case), 1.0)
    assert str(caught.value).endswith("; out of service there: LINE4-5, LINE5-7")
    assert caught.value.run.t[-1] == 0.1513


def test_newtons_failure_is_told_with_device_bus_time_cause_and_what_to_try() -> None:
    case = nine_bus()
    for name, value in (("pZ", 0), ("pP", 1), ("qZ", 0), ("qP", 1), ("Vlow", 0.0)):
        for bus in (5, 6, 8):
            case.set(f"LOAD{bus}.{name}", value)
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.2, x=1e-4))
    with pytest.raises(ConvergenceError) as caught:
        gc.simulate(gc.build(case), 1.0)
    told = str(caught.value)
    assert told.startswith("no solution of the network after fault.strikes (fault), from before it or the operating "
                           "point; on the way from before, at ")
    assert re.search(r", at \d\d\.\d%, they end at \S+ \(.*\) at t = 0\.1 s; there may be one with a larger impedance "
                     r"of the fault, or with loads at constant impedance \(--loads Z\)$", told)
    device, _, near = caught.value.place.partition(" (")
    assert near
    assert device.rpartition(".")[0] in caught.value.run.system.network.graph or "BUS" in near


def test_a_place_has_what_is_near() -> None:
    system = gc.build(nine_bus())
    ws, layout = system.workspace(), system.layout
    at = {name: system.variables.index(name) for name in (("BUS5", "Vr"), ("EXC2", "VR"), ("GEN2", "delta"))}
    assert ws.place(at["BUS5", "Vr"]) == "BUS5.Vr (LINE4-5, LINE5-7, LOAD5)"
    assert ws.place(at["EXC2", "VR"]) == "EXC2.VR (GEN2, BUS2)"
    assert ws.place(at["GEN2", "delta"]) == "GEN2.delta (BUS2)"
    assert layout.label(at["EXC2", "VR"]) == "EXC2.VR"


class Kinked(Device):
    """y is 1, from `away` on -1, and from `back` on a root of a curve that has a kink, with its least value, before it.

    The curve is ``level - y`` below zero and ``level + y - bend y^2`` above, which has a root near 1, or none.
    """

    away, back = Param("s", 0.1), Param("s", 0.2)
    level, bend = Param("", 0.2), Param("", 1.0)
    y = Algebraic("", init=1.0)
    place = Mode(0)

    def residuals(s: Any) -> Any:
        curve = s.level + np.where(s.y < 0, -s.y, s.y - s.bend * s.y**2)
        return np.where(s.place == 0, s.y - 1.0, np.where(s.place == 1, s.y + 1.0, curve))

    leaves = timer("away", then={"place": 1}, doc="leaves")
    comes = timer("back", then={"place": 2}, doc="comes back")


def kinked(**values: float) -> gc.System:
    case = gc.Case("kinked")
    case.add("Kinked", id="K", **values)
    return gc.build(case)


def test_where_a_kink_is_in_the_way_the_solution_is_sought_from_the_operating_point() -> None:
    end = gc.Terminal(lambda v: v["K", "y"])
    with gc.registered(Kinked):
        run = gc.simulate(kinked(), 0.3, 0.05)
        assert run["K", "y"][[0, -1]] == pytest.approx([1.0, 0.5 + np.sqrt(0.45)], abs=1e-12)
        exact = 0.5 / np.sqrt(0.45)
        assert gc.adjoint(run, end, wrt="K.level").item() == pytest.approx(exact, abs=1e-12)
        assert gc.analyses.tsa(run, ["K.level"], [("K", "y")]).values.ravel()[-1] == pytest.approx(exact, abs=1e-12)


def test_where_there_is_none_from_there_either_the_error_says_so() -> None:
    with gc.registered(Kinked), pytest.raises(ConvergenceError, match=r"after K\.comes .* or the operating"):
        gc.simulate(kinked(bend=0.0), 0.3, 0.05)


@pytest.mark.parametrize(("pace", "x0", "step"), [(1.0, 0.0, 1.0), (0.5, 0.05, 2.0), (1.0, 0.0, 4.0)])
@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_a_step_whose_end_is_found_on_another_branch_of_solutions_ends_at_the_event_before_it(
        method: str, pace: float, x0: float, step: float) -> None:
    """``y = 1 + 3 x²`` until x = 0.1; from far away Newton's method finds the other root, -40, across a guard."""
    class Branches(Device):
        x0, pace = Param("", 0.0), Param("1/s", 1.0)
        x, y = State("", start_at="x0"), Algebraic("", init=1.0)
        held, fell = Mode(0), Mode(0)

        def rates(s: Any) -> Any:
            return s.pace

        def residuals(s: Any) -> Any:
            return np.tanh(2 * (s.y - np.where(s.held, 1.03, 1 + 3 * s.x**2))) * (1 + s.y / 40)

        @guard("up", when={"held": 0}, then={"held": 1})
        def holds(s: Any) -> Any:
            return s.x - 0.1

        @guard("down", when={"fell": 0}, then={"fell": 1})
        def falls(s: Any) -> Any:
            return s.y - 0.5

    with gc.registered(Branches):
        case = gc.Case("branches")
        case.add("Branches", id="B", pace=pace, x0=x0)
        run = gc.simulate(gc.build(case), 2 * step, step, method)
    assert [(event.item, event.t) for event in run.events] == [("holds", pytest.approx((0.1 - x0) / pace, abs=1e-15))]
    np.testing.assert_allclose(run["B", "x"], x0 + pace * run.t, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run["B", "y"][1:], 1.03, atol=1e-14)
