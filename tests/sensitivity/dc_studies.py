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


#: All of a line of the records CDC4T and CDC6T that moves anything in a study that interrupts it.
RECORD = ("Pset VSCHD VCMOD RCOMP DELTI RDC NBR XCR ER NBI XCI EI ALFDY GAMDY TVDC TIDC VBLOCK VUNBL TBLOCK VBYPAS "
          "VUNBY TBYPAS RSVOLT RSCUR VRAMP CRAMP C0 V1 C1 V2 C2 V3 C3 TCMODE")


def by_record(model: str, line: dict[str, float], *faults: tuple[int, dict[str, float]]) -> gc.Case:
    """Two grids joined by a line with a record of PSS/E, a machine beside its inverter; faults at both ends.

    Kundur's areas with such lines do as well; these have fewer variables.
    """
    case = gc.Case("two grids", base_mva=100)
    for number in (1, 2, 3, 4):
        case.add("Bus", id=number)
    for bus in (1, 2):
        for item in (record("InfiniteBus", id=f"GRID{bus}", bus=bus + 2, control="slack"),
                     record("Line", bus1=bus + 2, bus2=bus, r=0.003, x=0.04), record("Shunt", bus=bus, b=1.0)):
            case.add(item)
    for item in (record("GENCLS", bus=2, P0=0.5, H=2.0, Xdp=0.3, D=1.0),
                 record(model, id="DC", bus=1, Pset=200.0, VSCHD=250.0, RCOMP=2.0, C1=0.4, C2=0.7, C3=1.1, **line),
                 record("CDCInverter", id="INV", bus=2, line="DC"),
                 *(record("BusFault", id=f"fault{k}", bus=bus, **fault) for k, (bus, fault) in enumerate(faults, 1))):
        case.add(item)
    return case


@study
def a_line_of_cdc4t_that_is_bypassed_and_blocked() -> Study:
    """Two faults at the inverter: the current is held, it is bypassed; one at the rectifier that blocks the line."""
    case = by_record("CDC4T", {"VCMOD": 215.0, "TBYPAS": 0.02, "TBLOCK": 0.03, "TCMODE": 0.03, "TVDC": 0.02,
                               "TIDC": 0.01, "VRAMP": 25.0, "CRAMP": 24.0, "VBLOCK": 0.5, "VBYPAS": 80.0},
                     (2, {"t": 0.0513, "clear": 0.0743, "x": 0.02}), (2, {"t": 0.1513, "clear": 0.1823, "x": 0.01}),
                     (1, {"t": 0.2837, "clear": 0.3237, "x": 0.01}))
    return Study(case, 0.42, 0.01, ["fault1.t", "fault2.clear", "fault2.x", "fault3.t", "fault3.clear", "GEN2.H",
                                    "LINE3-1.x", *of(f"DC: {RECORD}")],
                 [("DC", "I"), ("DC", "P"), ("INV", "P"), ("INV", "Q"), ("GEN2", "omega"), ("DC", "Vm")], [
        "fault1.strikes", "DC.own_to_second", "DC.holds_the_current", "DC.forced_long_enough:delay started",
        "fault1.clears", "DC.forced_long_enough", "DC.holds_the_power", "fault2.strikes", "DC.bypasses",
        "DC.curve_below_3", "DC.allowed_to_second", "DC.bypassed_long_enough", "fault2.clears", "DC.opens",
        "DC.voltage_is_back", "fault3.strikes", "DC.held_to_second", "DC.blocks", "DC.blocked_long_enough",
        "fault3.clears", "DC.releases", "DC.current_is_back", "DC.is_as_before"])


@study
def a_line_of_cdc6t_that_is_blocked_from_afar() -> Study:
    """A fault at the inverter, which asks for the line to be blocked and later for its release; one that lasts."""
    case = by_record("CDC6T", {"VINBLK": 0.6, "TCOMB": 0.01, "TINBLK": 0.023, "TREBLK": 0.015, "TBLOCK": 0.03,
                               "VDEBLK": 0.7, "TDEBLK": 0.03, "VACBYP": 0.72, "TDEBYP": 0.006, "VBYPAS": 10.0,
                               "TBYPAS": 0.02, "TINBYP": 0.01, "TVDC": 0.04, "TIDC": 0.02, "TVRDC": 0.05,
                               "VRAMP": 25.0, "CRAMP": 24.0},
                     (2, {"t": 0.0513, "clear": 0.0823, "x": 0.01}), (1, {"t": 0.2537, "clear": 0.3037, "x": 0.03}))
    return Study(case, 0.45, 0.01, ["fault1.t", "fault1.clear", "fault1.x", "fault2.t", "fault2.clear", "GEN2.H",
                                    *of(f"DC: {RECORD} VDEBLK TDEBLK TREBLK VINBLK TCOMB VACBYP TDEBYP TINBLK TINBYP "
                                        "TVRDC")],
                 [("DC", "I"), ("DC", "P"), ("INV", "P"), ("INV", "Q"), ("DC", "Vm1")], [
        "fault1.strikes", "DC.bypasses_late:delay started", "DC.calls", "DC.hears:delay started", "DC.bypasses_late",
        "DC.hears", "DC.comes_back", "fault1.clears", "DC.blocked_long_enough", "DC.answers", "DC.hears_the_answer",
        "DC.releases", "DC.is_as_before", "fault2.strikes", "DC.blocks_late:delay started", "DC.blocks_late",
        "DC.hears_the_answer", "DC.comes_back", "DC.releases"])
