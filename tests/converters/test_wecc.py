"""The models of WECC: at rest, what steps do in closed form, holds and limits one by one, and their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.contract import Record
from gridcore.errors import EventError, GridcoreError
from gridcore.registry import devices
from gridcore_converters.wecc.electrical import NEARLY_NONE, remaining

MODELS = ["REGCA1", "REGCB1", "REECA1", "REECB1", "REECC1", "REECD1", "REPCA1", "WTDTA1", "WTARA1", "WTPTA1", "WTTQA1"]


def plant(converter: str = "REGCA1", control: str = "", x: float = 0.0, steps: Any = (), P0: float = 0.6,
          Q0: float = 0.1, **values: Any) -> gc.Case:
    """A converter behind a reactance, or at an infinite bus; ``{model: values}`` are its and its controls'."""
    case = gc.Case("plant")
    case.add("Bus", id=1)
    case.add("InfiniteBus", id="INF", bus=1, control="slack")
    bus = 1
    if x:
        case.add("Bus", id=2)
        case.add("Line", bus1=1, bus2=2, x=x)
        bus = 2
    case.add(Record(converter, {"id": "GEN", "bus": bus, "control": "PQ", "P0": P0, "Q0": Q0,
                                **values.pop(converter, {})}))
    if control:
        case.add(Record(control, {"id": "REEC", "converter": "GEN", **values.pop(control, {})}))
    for model, data in values.items():
        port = devices[model].attaches[0]
        host = {"control": "REEC", "train": "TRAIN", "aero": "AERO"}[port]
        id = {"WTDTA1": "TRAIN", "WTARA1": "AERO"}.get(model, model)
        case.add(Record(model, {"id": id, port: host, **data}))
    for k, (parameter, t, by) in enumerate(steps):
        case.add(gc.ParameterStep(id=f"S{k}", parameter=parameter, t=t, by=by))
    return case


def run(case: gc.Case, t_end: float = 1.0) -> Any:
    return gc.simulate(gc.build(case), t_end, 0.005, method="ida", rtol=1e-10, atol=1e-12)


TYPE3 = {"WTDTA1": {"H": 4.0, "Htfrac": 0.8, "Freq1": 1.6}, "WTARA1": {}, "WTPTA1": {}, "WTTQA1": {}}
RESTS = {
    "bare": {}, "behind an impedance": {"converter": "REGCB1"}, "rate of power": {
        "converter": "REGCB1", "REGCB1": {"RateFlag": 1.0, "PQFlag": 1.0}},
    "reactive power": {"control": "REECB1", "REPCA1": {"dbd1": -0.01, "dbd2": 0.01}},
    "power factor": {"control": "REECA1", "REECA1": {"PfFlag": 1.0}},
    "cascade": {"control": "REECA1", "REECA1": {"QFlag": 1.0, "Kqp": 0.1, "PQFlag": 1.0}, "REPCA1": {
        "RefFlag": 1.0, "Fflag": 1.0, "VCFlag": 1.0, "Xc": 0.05, "Dup": 20.0, "fdbd1": 0.0,
        "fdbd2": 0.0}},
    "voltage": {"control": "REECD1", "REECD1": {"QFlag": 1.0, "VFlag": 0.0, "Kc": 0.05}},
    "storage that takes power": {"control": "REECC1", "P0": -0.4, "REECC1": {"Pmin": -1.0, "T": 1e12}},
    "wind by its speed": {"control": "REECA1", **TYPE3},
    "wind by its power": {"control": "REECA1", **TYPE3, "WTTQA1": {"Tflag": 1.0, "p3": 0.7}, "REPCA1": {
        "Fflag": 1.0, "Kp": 0.5}},
    "no power": {"control": "REECB1", "P0": 0.0, "REPCA1": {"Fflag": 1.0, "Kp": 0.5}}}


@pytest.mark.parametrize("Q0", [0.1, 0.43, -0.43])
@pytest.mark.parametrize("name", RESTS)
def test_it_rests_with_the_power_of_the_power_flow_also_at_a_reactive_limit(name, Q0):
    values = {**RESTS[name]}
    if control := values.get("control"):
        values[control] = {"Qmax": 0.43, "Qmin": -0.43, **values.get(control, {})}
    case = plant(x=0.1, Q0=Q0, **values)
    found = gc.simulate(gc.build(case), 2.0, 0.02)
    assert np.abs(found.X - found.X[0]).max() < 1e-9
    assert found["GEN", "P"][0] == pytest.approx(values.get("P0", 0.6), abs=1e-10)
    assert found["GEN", "Q"][0] == pytest.approx(Q0, abs=1e-10)


def test_a_step_of_the_command_is_followed_by_the_lag_and_no_faster_than_the_rate_in_closed_form():
    """At an infinite bus of 1 pu: linear with the rate until what is left over Tg is less, exponential after that."""
    case = plant(REGCA1={"Tg": 0.05, "Rrpwr": 2.0}, steps=[("GEN.Ipcmd", 0.1, 0.3), ("GEN.Iqcmd", 0.1, -0.2)])
    found = run(case, 0.6)
    t = found.t - 0.1
    bend = (0.3 - 2.0 * 0.05) / 2.0
    Ip = 0.6 + np.where(t < bend, 2.0 * t, 0.3 - 0.1 * np.exp(-(t - bend) / 0.05))
    after = t > 1e-9
    assert_allclose(found["GEN", "P"][after], Ip[after], atol=1e-8)
    assert_allclose(found["GEN", "Q"][after], (0.1 - 0.2 * (1.0 - np.exp(-t / 0.05)))[after], atol=1e-8)
    (event,) = [event for event in found.events if event.item == "Ip_speed_off_Rrpwr"]
    assert event.t == pytest.approx(0.1 + bend, abs=1e-9)


@pytest.mark.parametrize(("E", "gain", "reactive"), [
    (1.0, 1.0, 0.1), (0.7, 0.75, 0.1), (0.3, 0.0, 0.1), (1.3, 1.0, 0.1 - 0.7 * 0.1), (4.0, 1.0, -1.3)])
def test_the_voltage_takes_active_current_away_when_low_and_reactive_current_when_high(E, gain, reactive):
    found = run(plant(REGCA1={"Khv": 0.7}, steps=[("INF.E", 0.1, E - 1.0)]), 0.2)
    assert found["GEN", "P"][-1] == pytest.approx(0.6 * gain * E, abs=1e-9)
    assert found["GEN", "reactive"][-1] == pytest.approx(reactive, abs=1e-9)


def test_the_power_logic_limits_the_current_below_its_break_point():
    found = run(plant(P0=1.0, REGCA1={"Lvplsw": 1.0}, steps=[("INF.E", 0.1, -0.35), ("INF.E", 0.6, 0.35)]), 1.2)
    assert found["GEN", "Ip"][found.t < 0.6][-1] == pytest.approx(1.22 * 0.25 / 0.5, abs=1e-8)
    assert found["GEN", "Ip"][-1] == pytest.approx(1.0, abs=1e-8)


DIP = {"Vdip": 0.8, "Trv": 0.05, "Kqv": 2.0, "dbd1": -0.05, "dbd2": 0.05, "Thld": 0.1, "Iqfrz": 0.2, "Thld2": 0.15}


def test_the_reactive_current_after_a_dip_is_frozen_for_its_time():
    """The dip is of the voltage itself, which steps, and not of the measured one."""
    found = run(plant(control="REECA1", REECA1=DIP, steps=[("INF.E", 0.1, -0.4), ("INF.E", 0.4, 0.4)]), 0.8)
    at = {event.item: event.t for event in found.events if event.device == "REEC"}
    assert at["dip_below"] == 0.1
    assert at["dip_from_below"] == 0.4
    assert at["after_ends"] == pytest.approx(0.4 + 0.1, abs=1e-8)
    assert at["limited_ends"] == pytest.approx(0.4 + 0.15, abs=1e-8)
    injected = found["REEC", "Iqinj"]
    inside = (found.t > at["dip_below"] + 1e-9) & (found.t < at["dip_from_below"] - 1e-9)
    assert_allclose(injected[inside], 2.0 * np.maximum(0.95 - found["REEC", "Vf"][inside], 0.0), atol=1e-9)
    held = (found.t > at["dip_from_below"] + 1e-9) & (found.t < at["after_ends"] - 1e-9)
    assert_allclose(injected[held], 0.2)
    assert_allclose(injected[found.t > at["after_ends"] + 1e-9], 0.0)


def test_the_limit_of_active_current_after_a_dip_is_that_of_the_dip():
    """When the voltage is back the measured one is still low, and the table of it gives what is held."""
    table = {"Vp1": 0.5, "Ip1": 0.3, "Vp2": 0.9, "Ip2": 1.1}
    found = run(plant(control="REECA1", REECA1={**DIP, **table, "Kqv": 0.0},
                      steps=[("INF.E", 0.1, -0.4), ("INF.E", 0.4, 0.4)]), 0.8)
    held = (found.t > 0.4 + 1e-9) & (found.t < 0.55 - 1e-9)
    measured = 0.6 + 0.4 * np.exp(-0.3 / 0.05)
    assert_allclose(found["REEC", "Ipcmd"][held], 0.3 + (measured - 0.5) / 0.4 * 0.8, atol=1e-8)


def test_the_measured_voltage_of_reecd1_is_what_dips():
    """An exponential: dip and recovery are where it crosses Vdip."""
    found = run(plant(control="REECD1", REECD1={"Vdip": 0.8, "Trv": 0.05},
                      steps=[("INF.E", 0.1, -0.4), ("INF.E", 0.4, 0.4)]), 0.8)
    at = {event.item: event.t for event in found.events if event.device == "REEC"}
    recovery = 0.4 + 0.05 * np.log((1.0 - found["REEC", "Vf"][np.searchsorted(found.t, 0.4)]) / 0.2)
    assert at["dip_below"] == pytest.approx(0.1 + 0.05 * np.log(2.0), abs=1e-8)
    assert at["dip_from_below"] == pytest.approx(recovery, abs=1e-8)


def test_the_limits_of_the_reactive_power_are_those_of_its_control():
    """Without a control of the voltage the reactive current is what is asked for over the voltage, whatever Qmax is."""
    found = run(plant(control="REECB1", REECB1={"Qmax": 0.2, "Qmin": -0.2}, steps=[("REEC.Qext", 0.1, 0.4)]), 0.6)
    assert found["GEN", "Q"][-1] == pytest.approx(found["REEC", "Qext"][-1], abs=1e-8)
    assert found["REEC", "Qext"][-1] > 0.3


CHATTERING = {"control": "REECA1", "x": 0.3, "P0": 0.7, "REECA1": {
    "Vdip": 0.9, "Kqv": 6.0, "dbd1": -0.05, "dbd2": 0.05, "QFlag": 1.0, "Kvi": 20.0, "Kqi": 1.0, "Tdip": 0.01},
    "steps": [("INF.E", 0.1, -0.15), ("INF.E", 0.3, 0.15)]}


def test_the_current_of_a_dip_of_reeca1_may_end_it():
    """Dip and current go to and fro, each dip for Tdip; without that there is no solution."""
    found = run(plant(**CHATTERING), 0.6)
    begun = [event.t for event in found.events if event.item == "dip_below"]
    ended = [event.t for event in found.events if event.item == "dip_from_below"]
    assert len(begun) == len(ended) > 5
    assert max(ended) < 0.3
    assert_allclose(np.subtract(ended, begun)[1:], 0.01, atol=1e-8)
    with pytest.raises(EventError, match=r"chattering: REEC\.dip"):
        run(plant(**{**CHATTERING, "REECA1": {**CHATTERING["REECA1"], "Tdip": 0.0}}), 0.6)


@pytest.mark.parametrize(("E", "way"), [(-0.4, "below"), (0.4, "above")])
def test_a_dip_of_reeca1_lasts_a_step_of_other_programs_at_least(E, way):
    values = {"Vdip": 0.8, "Vup": 1.2}
    found = run(plant(control="REECA1", REECA1=values, steps=[("INF.E", 0.1, E), ("INF.E", 0.101, -E)]), 0.2)
    at = {event.item: event.t for event in found.events if event.device == "REEC"}
    assert at[f"dip_{way}"] == 0.1
    assert at[f"dip_from_{way}"] == pytest.approx(0.1 + 1 / 240, abs=1e-9)


@pytest.mark.parametrize("PQFlag", [0.0, 1.0])
def test_the_current_of_priority_leaves_the_other_the_rest_of_the_circle(PQFlag):
    found = run(plant(control="REECB1", P0=0.9, REECB1={"PQFlag": PQFlag, "Kqv": 5.0, "Imax": 1.1},
                      steps=[("INF.E", 0.1, -0.2)]), 0.6)
    Ip, Iq = found["REEC", "Ipcmd"][-1], found["REEC", "Iqcmd"][-1]
    assert Ip * Ip + Iq * Iq == pytest.approx(1.1**2, abs=1e-8)
    assert (Ip if PQFlag else Iq) == pytest.approx(1.1, abs=1e-8)


def test_what_the_current_of_priority_leaves_has_no_kink():
    """Where it reaches the limit, and where the cubic joins the circle: a kink there is located to some digits only."""
    join = np.sqrt(1.1**2 - NEARLY_NONE**2)
    for at, slope in ((1.1, 0.0), (join, -join / NEARLY_NONE)):
        below, here, above = (float(remaining(1.1, at + by)) for by in (-1e-10, 0.0, 1e-10))
        assert here == pytest.approx(np.sqrt(1.1**2 - at * at), abs=1e-12)
        assert (here - below) / 1e-10 == pytest.approx(slope, abs=2e-2)
        assert (above - here) / 1e-10 == pytest.approx(slope, abs=2e-2)


def test_a_dip_holds_the_integrators_and_the_power_order():
    values = {"control": "REECA1", "REECA1": {"QFlag": 1.0, "Vdip": 0.85, "Trv": 0.0}, "REPCA1": {"Vfrz": 0.85}}
    found = run(plant(**values, steps=[("INF.E", 0.1, -0.2)]), 0.5)
    after = found.t > 0.1
    for device, state in (("REEC", "outer_x"), ("REEC", "inner_x"), ("REEC", "Pord"), ("REPCA1", "reactive_x")):
        assert np.ptp(found[device, state][after]) < 1e-12


def test_a_converter_is_blocked_until_its_delay_is_over():
    found = run(plant(control="REECD1", REECD1={"Vblkl": 0.7, "Trv": 0.0, "Tblk": 0.1},
                      steps=[("INF.E", 0.1, -0.4), ("INF.E", 0.3, 0.4)]), 0.8)
    blocked = (found.t > 0.1 + 1e-9) & (found.t < 0.4 - 1e-9)
    assert not found["REEC", "Ipcmd"][blocked].any()
    assert not found["REEC", "Iqcmd"][blocked].any()
    assert found["GEN", "P"][-1] == pytest.approx(0.6, abs=1e-4)


def test_a_battery_gives_power_until_it_is_empty():
    found = run(plant(control="REECC1", REECC1={"T": 1.0, "SOCini": 0.5, "SOCmin": 0.2}), 1.0)
    (event,) = [event for event in found.events if event.item == "charge_below"]
    assert event.t == pytest.approx(0.3 / 0.6, abs=1e-9)
    assert found["GEN", "P"][-1] == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("band", [0.0, 0.001])
def test_the_plant_answers_the_frequency_by_its_droop(band):
    """A proportional control alone: the slip beyond the band times Ddn, taken from the power."""
    values = {"control": "REECB1", "REPCA1": {"Fflag": 1.0, "Kpg": 1.0, "Kig": 0.0, "Ddn": 20.0, "Dup": 5.0,
                                              "fdbd1": -band, "fdbd2": band, "Tp": 0.0}}
    case = plant(**values)
    for k in range(1, 400):  # the angle of the source rises by 0.005 omega_b in a second
        case.add(gc.ParameterStep(id=f"A{k}", parameter="INF.angle", t=0.005 * k, by=0.005 * 0.005 * 120 * np.pi))
    found = gc.simulate(gc.build(case), 2.0, 0.005)
    slip = found["REPCA1", "slip"][-100:].mean()
    assert slip == pytest.approx(0.005, rel=0.02)
    P = 0.6 - 20.0 * (slip - band) / 2.0  # P = Pstart + (Plant - P) - Ddn (slip - band)
    assert found["GEN", "P"][-100:].mean() == pytest.approx(P, abs=2e-3)


def test_two_masses_swing_at_the_frequency_of_the_record():
    """Without power nothing else moves them."""
    system = gc.build(plant(control="REECA1", P0=0.0, Q0=0.0, WTDTA1={"H": 4.0, "Htfrac": 0.8, "Freq1": 1.7}))
    J = system.jacobian(system.Z0).toarray()
    at = [system.layout.address(f"TRAIN.{name}") for name in ("dt", "dg", "twist")]
    modes = np.linalg.eigvals(J[np.ix_(at, at)])
    assert np.abs(modes).max() == pytest.approx(2 * np.pi * 1.7, rel=1e-10)


@pytest.mark.parametrize(("control", "values", "says"), [
    ("REECA1", {"Vq1": 0.5, "Iq1": 1.0, "Vq2": 0.4}, "Vq1, Vq2, ... must rise"), ("REECB1", {"Qmin": 1e4}, "Qmin must"),
    ("REECB1", {"QFlag": 1.0, "Kvi": 0.0}, "QFlag = 1 needs a gain"), ("REECC1", {"SOCmin": 1.0}, "SOCmin must"),
    ("REECD1", {"Vblkl": 100.0}, "Vblkl must")])
def test_data_that_cannot_be_meant_are_refused(control, values, says):
    with pytest.raises(GridcoreError, match=says):
        gc.build(plant(control=control, **{control: values}))
