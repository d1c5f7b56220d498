"""Plant controls: of the voltage of other buses, of the power in a branch, and of several units that share it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError


def park(*records: gc.Record, SVC: bool = False, **control: Any) -> gc.Case:
    """Converters at buses 3 and 4 behind transformers, bus 2 in common, a line to an infinite bus 1."""
    case = gc.Case("park")
    for number in (1, 2, 3, 4):
        case.add("Bus", id=number)
    case.add("InfiniteBus", id="INF", bus=1, control="slack")
    case.add("Line", id="TIE", bus1=2, bus2=1, r=0.01, x=0.1)
    for bus, P0, Sn in ((3, 0.6, 80.0), (4, 0.3, 50.0)):
        case.add("Transformer", bus1=2, bus2=bus, x=0.08)
        case.add("REGCA1", id=f"GEN{bus}", bus=bus, control="PQ", P0=P0, Q0=0.05, Sn=Sn)
        case.add("REECB1", id=f"REEC{bus}", converter=f"GEN{bus}", **control)
    if SVC:
        case.add("CSVGN1", id="SVC", bus=2, control="PQ", P0=0.0, Q0=0.05, Sn=50.0, K=20.0, T3=0.1, T5=0.02, CBASE=40.0)
    for item in records:
        case.add(item)
    return case


def step(parameter: str, by: float) -> gc.Record:
    return gc.Record("ParameterStep", {"id": "step", "parameter": parameter, "t": 0.1, "by": by})


def run(case: gc.Case, t_end: float) -> Any:
    return gc.simulate(gc.build(case), t_end, 0.02, method="trbdf2")


SHARE = {"REEC3": 0.75, "REEC4": 0.25}


def shared(*disturbance: gc.Record, T: float = 0.05, limits: dict[str, float] | None = None, **plant: Any) -> gc.Case:
    """One plant control of both converters and the compensator, of the power in the line."""
    case = park(SVC=True)
    case.add("REPCB1", id="PLANT", bus=2, branch="TIE", MVAb=100.0, **{"Qmax": 0.9, "Qmin": -0.9, **plant})
    for control, part in SHARE.items():
        case.add("REAX4BU1", id=f"X{control[-1]}", control=control, plant="PLANT", T=T, Kw=part, Kz=part,
                 **(limits if limits and control == "REEC3" else {}))
    case.add("PlantVars", id="VARS", regulator="SVC", plant="PLANT", T=T, Kw=0.2)
    for item in disturbance:
        case.add(item)
    return case


@pytest.mark.parametrize("plant", [{}, {"RefFlag": 1.0, "VCFlag": 1.0, "Rc": 0.01, "Xc": 0.1, "Fflag": 1.0}])
def test_a_plant_of_several_units_rests_as_the_power_flow_has_it(plant):
    found = run(shared(**plant), 20.0)
    assert not found.events
    assert np.abs(found.X - found.X[0]).max() < 1e-9
    assert found["GEN3", "P"][0] * 0.8 == pytest.approx(0.6, abs=1e-12)


def test_the_reactive_power_of_the_line_is_its_reference_and_units_share_what_was_added():
    """Of the plant's command each has its part, in MVA; the compensator has its share as a voltage."""
    found = run(shared(step("PLANT.reference", 0.2), Kp=0.5, Ki=4.0), 60.0)
    assert found["TIE", "Q1"][-1] - found["TIE", "Q1"][0] == pytest.approx(0.2, abs=1e-9)
    command = found["PLANT", "Qcmd"][-1]
    for unit, Sn, part in (("X3", 80.0, 0.75), ("X4", 50.0, 0.25)):
        assert found[unit, "Qmore"][-1] * Sn == pytest.approx(part * command * 100.0, abs=1e-9)
        gen = f"GEN{unit[-1]}"
        assert found[gen, "Q"][-1] - found[gen, "Q"][0] == pytest.approx(found[unit, "Qmore"][-1], abs=1e-9)
    assert found["VARS", "Vs"][-1] == pytest.approx(0.2 * command, abs=1e-9)
    assert command > 0.05
    assert found["SVC", "Q"][-1] > found["SVC", "Q"][0]


def test_the_active_power_of_the_line_is_its_reference_whatever_it_loses():
    found = run(shared(step("PLANT.Plant", -0.1), Fflag=1.0, Kpg=0.5, Kig=2.0), 60.0)
    assert found["TIE", "P1"][-1] - found["TIE", "P1"][0] == pytest.approx(-0.1, abs=1e-9)
    less = [(found[f"GEN{bus}", "P"][-1] - found[f"GEN{bus}", "P"][0]) * Sn for bus, Sn in ((3, 80.0), (4, 50.0))]
    assert less[0] / less[1] == pytest.approx(3.0, abs=1e-8)


def test_a_unit_at_the_limit_of_what_is_added_leaves_the_rest_to_the_others():
    found = run(shared(step("PLANT.reference", 0.2), Kp=0.5, Ki=4.0, limits={"Qmax": 0.1}), 60.0)
    assert "X3.Qmore_at_Qmax" in {f"{event.device}.{event.item}" for event in found.events}
    assert found["X3", "Qmore"][-1] == pytest.approx(0.1, abs=1e-12)
    assert found["TIE", "Q1"][-1] - found["TIE", "Q1"][0] == pytest.approx(0.2, abs=1e-9)


def test_a_plant_holds_the_voltage_of_another_bus_where_its_own_changes():
    case = park(gc.Record("RemoteREPCA1", {"id": "PLANT", "control": "REEC3", "bus": 2, "RefFlag": 1.0, "Qmax": 0.9}),
                step("INF.E", -0.03))
    found = run(case, 60.0)
    assert found["BUS2", "Vm"][-1] == pytest.approx(found["BUS2", "Vm"][0], abs=1e-9)
    assert abs(found["BUS3", "Vm"][-1] - found["BUS3", "Vm"][0]) > 5e-3


@pytest.mark.parametrize("end", [1.0, 2.0])
def test_compensation_by_the_impedance_of_a_line_is_the_voltage_at_its_other_end(end):
    """|V - z I| of the end that is measured; the bus that is regulated may be either."""
    bus = {1.0: 2, 2.0: 1}[end]
    z = {"Rc": 0.01 * 0.8, "Xc": 0.1 * 0.8}  # per unit of the converter's 80 MVA
    case = park(gc.Record("MonitoringREPCA1", {
        "id": "PLANT", "control": "REEC3", "bus": bus, "branch": "TIE", "end": end, "RefFlag": 1.0, "VCFlag": 1.0,
        "Kp": 0.0, "Ki": 1e-6, **z}), step("REEC4.Pref", -0.2))
    found = run(case, 1.0)
    other = f"BUS{3 - bus}"
    np.testing.assert_allclose(found["PLANT", "Vcomp"], found[other, "Vm"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["PLANT", "P"] * 0.8, found["TIE", f"P{end:.0f}"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("flags", [{"VFlag": 0.0}, {"VFlag": 1.0, "Kqp": 0.0, "Kqi": 0.5}])
@pytest.mark.parametrize("model", ["RemoteREECA1", "RemoteREECB1", "RemoteREECC1"])
def test_the_control_of_the_voltage_of_another_bus_holds_it_or_the_reactive_power(model, flags):
    case = park()
    case.remove("REEC3")
    case.add(model, id="REEC3", converter="GEN3", regulated=2, QFlag=1.0, Kvp=0.5, Kvi=10.0, **flags)
    case.add(step("INF.E", -0.02))
    found = run(case, 60.0)
    name = ("BUS2", "Vm") if flags["VFlag"] == 0.0 else ("GEN3", "Q")
    assert found[name][-1] == pytest.approx(found[name][0], abs=1e-8)
    assert abs(found["BUS3", "Vm"][-1] - found["BUS3", "Vm"][0]) > 1e-4


def test_a_branch_has_two_ends_and_a_share_something_to_share():
    case = park(gc.Record("REPCB1", {"id": "PLANT", "bus": 2, "branch": "TIE", "end": 1.5}))
    with pytest.raises(CaseError, match="end must be 1 or 2"):
        gc.build(case)
    case = shared()
    case.set("VARS.Kw", 0.0)
    with pytest.raises(CaseError, match="Kw must not be 0"):
        gc.build(case)


@pytest.mark.parametrize("at", [{"control": "PQ", "P0": 0.05, "Q0": 0.33}, {"control": "PQ", "P0": 0.4, "Q0": -0.33},
                                {"control": "PV", "P0": 1.0, "V0": 1.08, "Qmin": -0.33, "Qmax": 0.33}])
@pytest.mark.parametrize("control", ["REECA1", "REECB1", "REECD1"])
def test_a_plant_behind_its_collector_rests_at_partial_load_and_at_its_reactive_limits(control, at):
    """Two transformers and the cables between them: what the plant controls is far from what its converters see."""
    case = gc.Case("collector")
    for number in (1, 2, 3, 4, 5):
        case.add("Bus", id=number)
    case.add("InfiniteBus", id="INF", bus=1, control="slack")
    case.add("Line", id="TIE", bus1=2, bus2=1, r=0.01, x=0.1, b=0.02)
    case.add("Transformer", id="STATION", bus1=2, bus2=3, r=0.002, x=0.08, tap=1.02)
    case.add("Line", id="COLLECTOR", bus1=3, bus2=4, r=0.015, x=0.025, b=0.03)
    case.add("Transformer", id="PADS", bus1=4, bus2=5, r=0.006, x=0.06)
    case.add("REGCA1", id="GEN5", bus=5, Sn=100.0, **at)
    limits = {"Qmin": -0.33, "Qmax": 0.33}
    case.add(control, id="REEC", converter="GEN5", QFlag=1.0, Vmin=0.85, **limits)
    case.add("MonitoringREPCA1", id="PLANT", control="REEC", bus=2, branch="TIE", end=1, RefFlag=1.0, Fflag=1.0, Kp=1.0,
             Ki=4.0, **limits)
    found = gc.simulate(gc.build(case, enforce_q_limits=True), 2.0, 0.02)
    assert np.abs(found.X - found.X[0]).max() < 1e-9
    assert found["GEN5", "P"][0] == pytest.approx(at["P0"], abs=1e-10)
    assert abs(found["GEN5", "Q"][0]) == pytest.approx(0.33, abs=1e-10)
    assert abs(found["BUS5", "Vm"][0] - found["BUS2", "Vm"][0]) > 0.02
