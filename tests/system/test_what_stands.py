"""What events may not change in a run, what they may, and what comes back when a line is closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, DataWarning, EventError


class Follows(gc.Device):
    """A lag of one, by a time constant; and a relay with a delay."""

    T, wait, th = gc.Param("s", 0.5, ge=0), gc.Param("s", 0.1), gc.Param("", 0.5)
    u0, zero = gc.Param("", 0.3), gc.Param("", 0.0)
    u = gc.State("", T="T", start_at="u0", rate=lambda s: 1.0 - s.u)
    x, z, m = gc.State("", start_at="zero", rate=lambda s: 1.0), gc.State("", start_at="zero"), gc.Mode(0)

    def rates(s: Any) -> Any:
        return (s.m * 1.0,)

    @gc.guard("up", then={"m": 1}, delay="wait")
    def acts(s: Any) -> Any:
        return s.x - s.th


@pytest.fixture(autouse=True)
def registered() -> Any:
    with gc.registered(Follows):
        yield


def with_event(model: str, parameter: str, values: dict[str, float] | None = None, **fields: float) -> gc.Run:
    case = gc.Case("stands")
    case.add("Follows", id="F", **(values or {}))
    case.add(model, id="event", parameter=parameter, **fields)
    return gc.simulate(gc.build(case), 1.0, 0.002)


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.0), (0.0, 0.5)])
def test_whether_there_is_a_time_constant_stands(before: float, after: float) -> None:
    with pytest.raises(EventError, match=r"the time constant of F\.u becomes 0, or was: .* at t = 0\.3 s"):
        with_event("ParameterStep", "F.T", {"T": before}, t=0.3, scale=0.0, by=after)


def test_a_time_constant_changes_the_rate_from_then_on() -> None:
    """``1 - u`` falls by the time over the constant."""
    run = with_event("ParameterStep", "F.T", t=0.3, scale=0.0, by=2.0)
    assert run["F", "u"][-1] == pytest.approx(1.0 - 0.7 * np.exp(-0.3 / 0.5 - 0.7 / 2.0), abs=1e-5)


@pytest.mark.parametrize("value", [-0.3, np.nan])
def test_a_parameter_stays_within_its_bounds(value: float) -> None:
    class Sets(gc.Device):
        """Sets a time constant to what another parameter is."""

        attaches = "device"
        to = gc.Param("s", 0.1)
        at = gc.Param("s", 0.3)
        sets = gc.timer("at", then={"device.T": lambda s: s.to * value})

    with gc.registered(Sets):
        case = gc.Case("stands")
        case.add("Follows", id="F")
        case.add("Sets", id="S", device="F")
        with pytest.raises(EventError, match=r"S\.sets takes F\.T to .*; it must be at least 0 at t = 0\.3 s"):
            gc.simulate(gc.build(case), 1.0)


def test_the_inertia_of_a_machine_does_not_become_negative() -> None:
    case = gc.load_case("smib")
    case.add("ParameterStep", id="step", parameter="GEN1.H", t=0.05, by=-10.0)
    with pytest.raises(EventError, match=r"takes GEN1\.H to -6\.5; it must be greater than 0 at t = 0\.05 s"):
        gc.simulate(case, 0.1)


def test_a_delay_changes_in_steps() -> None:
    run = with_event("ParameterStep", "F.wait", t=0.1, scale=3.0)
    assert [event.t for event in run.events if event.device == "F"] == pytest.approx([0.5, 0.8], abs=1e-12)
    with pytest.raises(CaseError, match=r"field 'wait': event\.value drives it, and a delay changes in steps only"):
        with_event("Ramp", "F.wait", t0=0.1, t1=0.4, scale=3.0)


def test_no_delay_is_negative() -> None:
    with pytest.raises(EventError, match=r"F\.acts has a delay of -0\.2 s at t = 0\.5 s"):
        with_event("ParameterStep", "F.wait", t=0.1, scale=0.0, by=-0.2)


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_what_has_no_time_constant_starts_at_rest(method: str) -> None:
    case = gc.Case("stands")
    case.add("Follows", id="F", T=0.0)
    run = gc.simulate(gc.build(case), 0.1, method=method)
    np.testing.assert_allclose(run["F", "u"], 1.0, rtol=0, atol=1e-14)
    assert gc.adjoint(run, gc.Terminal(lambda v: v["F", "u"]), "F.u0").item() == 0.0


def test_what_is_out_of_service_starts_where_it_is_said_to() -> None:
    class Connects(gc.Device):
        """Puts a device in service."""

        attaches = "device"
        at = gc.Param("s", 0.0513)
        connects = gc.timer("at", then={"device.status": 1})

    with gc.registered(Connects):
        case = gc.Case("stands")
        case.add("Follows", id="F", status=0)
        case.add("Connects", id="C", device="F")
        run, end = gc.simulate(gc.build(case), 0.3, 0.002), gc.Terminal(lambda v: v["F", "u"])
    assert run["F", "u"][0] == 0.3
    assert run["F", "u"][-1] == pytest.approx(1.0 - 0.7 * np.exp(-(0.3 - 0.0513) / 0.5), abs=1e-5)
    exact, beside = (of(run, end, ["F.u0", "F.T"]).values for of in (gc.adjoint, gc.differences))
    np.testing.assert_allclose(exact, beside, rtol=1e-7)


def two_buses(**trip: float) -> gc.Case:
    case = gc.Case("two buses")
    for bus in (1, 2):
        case.add("Bus", id=bus)
    case.add("Line", id="LINE", bus1=1, bus2=2, r=0.01, x=0.1)
    case.add("GENCLS", id="GEN", bus=1, control="slack", V0=1.0, H=5.0, Xdp=0.2)
    case.add("ZIP", id="NEAR", bus=1, P0=0.5)
    case.add("ZIP", id="FAR", bus=2, P0=0.2)
    case.add("BranchTrip", id="trip", branch="LINE", **trip)
    return case


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_a_bus_that_a_line_is_closed_to_is_energised_and_what_went_out_with_it_stays_out(method: str) -> None:
    system = gc.build(two_buses(t=0.1, reclose=0.5), deenergise=True)
    with pytest.warns(DataWarning, match=r"BUS2 is energised again at t = 0\.5 s without FAR"):
        run = gc.simulate(system, 1.0, method=method)
    dead, back = (run.t > 0.1) & (run.t < 0.5), run.t > 0.5
    assert np.all(run["BUS2", "Vm"][dead] < 1e-12)
    np.testing.assert_allclose(run["BUS2", "Vm"][back], run["BUS1", "Vm"][back], rtol=1e-12)
    for quantity in ("P1", "P2", "Q1"):
        assert np.abs(run["LINE", quantity][back]).max() < 1e-12
    assert np.all(run["FAR", "P"][back] == 0.0)
    np.testing.assert_allclose(run["GEN", "P"][back], run["NEAR", "P"][back], rtol=1e-12)


def test_its_gradient_is_that_of_differences() -> None:
    with pytest.warns(DataWarning, match="energised again"):
        run = gc.simulate(gc.build(two_buses(t=0.1013, reclose=0.5013), deenergise=True), 0.8)
    end = gc.Integral(lambda v: v["GEN", "omega"] + v["BUS2", "Vm"])
    names = ["GEN.H", "trip.t", "trip.reclose", "FAR.P0"]
    with pytest.warns(DataWarning, match="energised again"):
        beside = gc.differences(run, end, names).values
    np.testing.assert_allclose(gc.adjoint(run, end, names).values, beside, rtol=1e-6)
