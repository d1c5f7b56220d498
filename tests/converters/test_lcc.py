"""Line-commutated converters: the steady state of the book, who controls what, and commutation that fails."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError


def link(*disturbance: gc.Record, rectifier: dict[str, float] | None = None, **inverter: float) -> gc.Case:
    """500 MW between two infinite buses behind short lines, with capacitors at both converters."""
    case = gc.Case("line-commutated", base_mva=100)
    for number in (1, 2, 3, 4):
        case.add("Bus", id=number)
    for bus in (1, 2):
        case.add("InfiniteBus", bus=bus + 2, control="slack")
        case.add("Line", bus1=bus + 2, bus2=bus, r=0.002, x=0.03)
        case.add("Shunt", bus=bus, b=2.5)
    case.add("LCCLine", bus=1, P0=5.0, **(rectifier or {}))
    case.add("LCCInverter", bus=2, line="LCC1", **inverter)
    for item in disturbance:
        case.add(item)
    return case


def dip(bus: int, by: float) -> gc.Record:
    return gc.Record("ParameterStep", {"id": "dip", "parameter": f"INF{bus + 2}.E", "t": 0.1, "by": by})


def test_the_steady_state_is_that_of_the_equations_of_the_book():
    """Kundur (1994), chapter 10, with 1 pu at the rectifier: voltages, angles, and powers of the AC side."""
    run = gc.simulate(gc.build(link()), 1.0)
    assert run.events == []
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    current, Rc, r, alpha, gamma = 5.0, 0.01, 0.005, 0.2618, 0.3142
    Vdo = (1.0 + Rc * current) / np.cos(alpha)
    Vd2 = 1.0 - r * current
    Vdo2 = (Vd2 + Rc * current) / np.cos(gamma)
    S = {"LCC1": -(5.0 + 1j * current * np.sqrt(Vdo**2 - 1.0)),
         "INV_LCC1": Vd2 * current - 1j * current * np.sqrt(Vdo2**2 - Vd2**2)}
    assert run["LCC1", "P"][0] + 1j * run["LCC1", "Q"][0] == pytest.approx(-S["LCC1"], abs=1e-12)
    assert run["INV_LCC1", "P"][0] - 1j * run["INV_LCC1", "Q"][0] == pytest.approx(S["INV_LCC1"], abs=1e-12)
    for bus, name in ((1, "LCC1"), (2, "INV_LCC1")):  # what comes by the line and from the capacitor
        V = run[f"BUS{bus}", "Vr"][0] + 1j * run[f"BUS{bus}", "Vi"][0]
        line = (V - 1.0) / (0.002 + 0.03j)
        assert V * np.conj(line + 2.5j * V) == pytest.approx(S[name], abs=1e-10)


@pytest.mark.parametrize("by", [-0.05, -0.08])
def test_with_less_voltage_at_the_inverter_the_rectifier_holds_the_current_and_the_inverter_its_angle(by):
    run = gc.simulate(gc.build(link(dip(2, by))), 3.0, 0.002)
    assert run["LCC1", "i"][-1] == pytest.approx(5.0, abs=1e-9)
    assert run["INV_LCC1", "cosg"][-1] == pytest.approx(np.cos(0.3142), abs=1e-9)
    assert run["LCC1", "cosa"][-1] < run["LCC1", "cosa"][0] - 0.02


def test_with_less_voltage_at_the_rectifier_the_inverter_holds_the_current_less_its_margin():
    run = gc.simulate(gc.build(link(dip(1, -0.15))), 12.0, 0.002)
    assert run["LCC1", "i"][-1] == pytest.approx(5.0 - 0.1 * 5.0, abs=1e-9)
    assert run["LCC1", "cosa"][-1] == pytest.approx(np.cos(0.0873), abs=1e-12)
    assert np.arccos(run["INV_LCC1", "cosg"][-1]) > 0.4


def test_commutation_fails_in_a_fault_and_succeeds_after_it():
    """While it fails nothing reaches the bus, and the order falls with the DC voltage; then the line is as before."""
    case = link(gc.BusFault(id="fault", bus=2, t=0.1, clear=0.2, x=0.03))
    run = gc.simulate(gc.build(case), 4.0, 0.001)
    items = [f"{e.device}.{e.item}" for e in run.events if e.kind == "switch"]
    assert items.index("fault.strikes") < items.index("INV_LCC1.fails") < items.index("INV_LCC1.succeeds")
    failed = run["INV_LCC1", "failed"] == 1
    assert np.abs(run["INV_LCC1", "P"][failed]).max() == 0.0
    assert run["LCC1", "i"].max() > 7.0
    assert run["LCC1", "order"][failed].min() < 4.0
    np.testing.assert_allclose(run.X[-1], run.X[0], rtol=0, atol=1e-6)


def switched(run) -> dict[str, float]:
    """When each guard fired last."""
    return {f"{event.device}.{event.item}": event.t for event in run.events if event.kind == "switch"}


def test_a_blocked_rectifier_carries_nothing_until_its_voltage_has_been_back_for_its_time():
    """Its order then rises as a lag does; in the end the line is as before."""
    case = link(gc.BusFault(id="fault", bus=1, t=0.1, clear=0.3, x=0.01),
                rectifier={"Vblock": 0.5, "Vunblock": 0.8, "Tblock": 0.12, "Tramp": 0.15})
    run = gc.simulate(gc.build(case), 6.0, 0.001)
    at = switched(run)
    assert at["LCC1.blocks"] == at["fault.strikes"] == 0.1
    assert at["LCC1.releases"] == pytest.approx(0.3 + 0.12, abs=1e-12)
    rests = (run.t > 0.2) & (run.t < at["LCC1.releases"])
    assert np.abs(run["LCC1", "i"][rests]).max() == 0.0
    assert np.abs(run["INV_LCC1", "P"][rests]).max() == 0.0
    after = run.t > at["LCC1.releases"]
    rise = 2.0 * 1.5 * 5.0 * (1.0 - np.exp(-(run.t[after] - at["LCC1.releases"]) / 0.15))
    np.testing.assert_allclose(run["LCC1", "restart"][after], rise, rtol=0, atol=1e-4)
    np.testing.assert_allclose(run.X[-1], run.X[0], rtol=0, atol=1e-6)


def test_a_bypass_closes_where_the_measured_voltage_says_and_opens_after_its_time():
    """From the failure of commutation on the voltage is zero, and what is measured an exponential."""
    case = link(gc.BusFault(id="fault", bus=2, t=0.1, clear=0.25, x=0.02), Vbypass=0.2, Vunbypass=0.75, Tbypass=0.06,
                Tv=0.02)
    run = gc.simulate(gc.build(case), 0.14, 0.0001, "trbdf2")
    at = switched(run)
    V = run["INV_LCC1", "Vm"][np.searchsorted(run.t, at["INV_LCC1.fails"], "right") - 1]
    assert at["INV_LCC1.bypasses"] == pytest.approx(at["INV_LCC1.fails"] + 0.02 * np.log(V / 0.2), abs=1e-7)
    run = gc.simulate(gc.build(case), 5.0, 0.002)
    at = switched(run)
    assert at["INV_LCC1.opens"] > at["fault.clears"] + 0.06 - 1e-9
    shut = (run.t > at["INV_LCC1.bypasses"]) & (run.t < at["INV_LCC1.opens"])
    assert np.abs(run["INV_LCC1", "P"][shut]).max() == 0.0
    np.testing.assert_allclose(run.X[-1], run.X[0], rtol=0, atol=1e-6)


def test_a_level_of_release_is_above_that_of_blocking():
    with pytest.raises(CaseError, match="Vblock must be below Vunblock"):
        gc.build(link(rectifier={"Vblock": 0.9}))


def test_a_dip_that_a_usual_extinction_angle_survives_is_too_deep_for_a_smaller_one():
    for gamma0, fails in ((0.3142, False), (0.2, True)):
        run = gc.simulate(gc.build(link(dip(2, -0.1), gamma0=gamma0, grec=0.15)), 0.4, 0.001)
        assert ("fails" in {e.item for e in run.events}) == fails


def test_a_dip_by_all_methods_is_one_trajectory():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    system = gc.build(link(dip(1, -0.15)))
    exact = gc.simulate(system, 0.5, 0.005, "ida", rtol=1e-9, atol=1e-11)
    for method in ("theta", "trbdf2"):
        run = gc.simulate(system, 0.5, 0.0002, method)
        assert [e.words for e in run.events] == [e.words for e in exact.events]
        np.testing.assert_allclose(run.X[-1], exact.X[-1], rtol=0, atol=2e-5)
