"""Studies of direct current: a VSC line in a fault, droop when a terminal is lost, commutation that fails."""

from __future__ import annotations

from conventional_studies import of
from industry_studies import study
from scenes import record
from studies import Study

import gridcore as gc


@study
def vsc_line_in_a_fault() -> Study:
    """An inverter at its limit of current, a rectifier whose droop has taken all that it may, and both back."""
    case = gc.load_case("kundur_vsc")
    case.remove("fault")
    case.set("CAP7.r", 0.002)
    case.set("VSC7.Pmin", -0.85)
    for item in (record("BusFault", id="fault", bus=9, t=0.0513, clear=0.1723, x=0.03),
                 gc.ParameterStep(id="more", parameter="VSC7.Pref", t=0.2537, by=-0.04)):
        case.add(item)
    converters = "P0 Q0 Sn kd kv kvi Imax Pmax Pmin Tc Tv Td la lb lc"
    return Study(case, 0.3, 0.01, [
        "fault.t", "fault.clear", "fault.x", "more.t", "more.by", "GEN4.H", "LOAD9.P0", "LINE9-10.x", *of(
            f"VSC7: {converters}", f"VSC9: kdi {converters}", "CABLE7-9: r l", "CAP7: c r", "SLACK9: c V0")],
        [("DCBUS7", "V"), ("VSC9", "P"), ("CABLE7-9", "i"), ("BUS9", "Vm"), ("GEN4", "omega")], [
        "fault.strikes", "VSC9.reactive_at_Iqmax", "VSC9.left_at_Imax", "VSC9.active_at_Imax", "VSC9.more_at_more_max",
        "fault.clears", "VSC9.active_off_Imax", "VSC9.left_off_Imax", "VSC7.more_at_more_min", "more.steps"])


@study
def droop_when_a_terminal_is_lost() -> Study:
    """Three converters at AC buses of one network; that which feeds them trips, then a cable."""
    case = gc.load_case("kundur")
    for id in ("fault", "trip"):
        case.remove(id)
    for number, (bus, P0, kd) in enumerate(((6, -1.5, 0.0), (9, 0.8, 8.0), (10, 0.6, 12.0)), 1):
        case.add(record("DCBus", id=number))
        case.add(record("DCSlack" if number == 2 else "DCCapacitor", dc=number, c=0.1, r=0.001 * number))
        case.add(record("VSC", bus=bus, dc=number, control="PQ", P0=P0, Sn=200.0, kd=kd, la=0.01, lb=0.003, lc=0.005,
                        Imax=1.2))
    for dc1, dc2 in ((1, 2), (2, 3), (1, 3)):
        case.add(record("DCCable", dc1=dc1, dc2=dc2, r=0.01 * dc2, l=0.001 * dc1))
    case.add(record("Trip", id="lost", device="VSC6", t=0.0513))
    case.add(record("BranchTrip", id="open", branch="CABLE2-3", t=0.1237))
    return Study(case, 0.2, 0.01, ["lost.t", "open.t", "GEN2.H", "LINE6-7.x", *of(
        "VSC6: P0 Sn la", "VSC9: P0 Sn kd la lb lc Tc Td", "VSC10: P0 Q0 kd lb", "CABLE1-2: r l", "CABLE2-3: r",
        "CABLE1-3: r l", "CAP1: c r", "SLACK2: c r V0", "CAP3: c")],
        [("DCBUS1", "V"), ("VSC9", "P"), ("VSC10", "P"), ("CABLE1-3", "i")], ["lost.trips", "open.opens"])


def between_the_areas(line: dict[str, float], inverter: dict[str, float], fault: dict[str, float],
                      second: dict[str, float]) -> gc.Case:
    """Kundur's areas joined by a line with line-commutated converters; faults at its inverter and at its rectifier."""
    case = gc.load_case("kundur")
    for id in ("fault", "trip"):
        case.remove(id)
    for item in (record("LCCLine", bus=7, P0=2.0, **line),
                 record("LCCInverter", bus=9, line="LCC7", Trec=0.02, **inverter),
                 record("Shunt", id="FILTER7", bus=7, b=1.0), record("Shunt", id="FILTER9", bus=9, b=1.0),
                 record("BusFault", id="fault", bus=9, **fault), record("BusFault", id="second", bus=7, **second)):
        case.add(item)
    return case


@study
def commutation_that_fails() -> Study:
    """A line between the areas whose inverter's bus has a fault, and whose rectifier then has too little voltage."""
    case = between_the_areas(
        {}, {}, {"t": 0.0513, "clear": 0.0823, "x": 0.02}, {"t": 0.3137, "clear": 0.3837, "x": 0.03})
    return Study(case, 0.45, 0.005, ["fault.t", "fault.clear", "fault.x", "second.t", "GEN2.H", "LINE6-7.x", *of(
        "LCC7: P0 Vd0 alpha0 Rc r l kp ki amin Td V1 I1 V2 I2",
        "INV_LCC7: gamma0 gcrit grec Trec bmax Rc margin kp ki Tb")],
        [("LCC7", "i"), ("LCC7", "P"), ("INV_LCC7", "P"), ("INV_LCC7", "Q"), ("BUS9", "Vm")], [
        "fault.strikes", "INV_LCC7.fails", "LCC7.order_to_second", "fault.clears", "INV_LCC7.succeeds", "LCC7.i_at_min",
        "LCC7.i_off_min", "LCC7.order_to_first", "second.strikes", "LCC7.cosa_at_cosa_max", "LCC7.cosa_x_off_cosa_max"])


@study
def a_blocked_rectifier_and_a_bypassed_inverter() -> Study:
    """A fault at the inverter's bus that lasts until its bypass is closed, then one at that of the rectifier."""
    case = between_the_areas(
        {"Vblock": 0.4, "Vunblock": 0.7, "Tblock": 0.03, "Tramp": 0.05},
        {"Vbypass": 0.3, "Vunbypass": 0.6, "Tbypass": 0.02},
        {"t": 0.0513, "clear": 0.0923, "x": 0.02}, {"t": 0.2137, "clear": 0.2537, "x": 0.01})
    return Study(case, 0.4, 0.005, ["fault.t", "fault.clear", "fault.x", "second.t", "second.clear", "GEN2.H", *of(
        "LCC7: P0 Vd0 alpha0 Rc r l kp ki amax Vblock Vunblock Tblock Tramp I2",
        "INV_LCC7: gamma0 gcrit Vbypass Vunbypass Tbypass Tv kp ki Tb")],
        [("LCC7", "i"), ("LCC7", "P"), ("INV_LCC7", "P"), ("INV_LCC7", "Q"), ("BUS9", "Vm")], [
        "fault.strikes", "INV_LCC7.fails", "INV_LCC7.bypasses", "fault.clears", "INV_LCC7.opens", "second.strikes",
        "LCC7.blocks", "second.clears", "LCC7.releases"])
