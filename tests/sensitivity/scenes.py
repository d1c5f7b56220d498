"""Studies for the tests of sensitivities: every kind of event, on systems small enough for the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from studies import Study

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, guard, quantity, timer

STUDIES: dict[str, Callable[[], Study]] = {}


def study(make: Callable[[], Study]) -> Callable[[], Study]:
    """The function's name says what it is a study of."""
    STUDIES[make.__name__] = make
    return make


class Hopper(Device):
    """A reset and a jump that depend on states, parameters and time; it slows down a little at each."""

    T = Param("s", 0.5)
    gain = Param("", 0.7)
    level = Param("", 1.0)
    floor = Param("", 0.2)
    drift = Param("", 0.3)
    x0 = Param("", 0.1)
    x = State("", T="T", start_at="x0")
    y = State("")

    @quantity("", "reads the time")
    def turn(s: Any) -> Any:
        return s.x * np.sin(2.0 * s.time) + s.level * s.time

    def rates(s: Any) -> Any:
        return 2.0 * s.level + s.gain - s.x, s.drift * s.x - s.y

    @guard("up", then={"x": lambda s: s.floor * s.gain + 0.05 * s.time * s.y,
                       "level": lambda s: s.level * (1.0 + 0.1 * s.floor) + 0.02 * s.x,
                       "y": lambda s: s.y + 0.1 * s.time})
    def hops(s: Any) -> Any:
        """Hop"""
        return s.x - s.level - 0.1 * np.sin(3.0 * s.time)


class Meeting(Device):
    """Two timers and a guard that act on one state."""

    first = Param("s", 0.35)
    second = Param("s", 0.35)
    rate = Param("", 1.0)
    kick = Param("", 0.5)
    x0 = Param("", 0.2)
    x = State("", start_at="x0")
    n = Mode(0)

    def rates(s: Any) -> Any:
        return s.rate * (1.0 + 0.3 * s.n) - 0.5 * s.x * s.x

    one = timer("first", then={"x": lambda s: s.x * s.kick, "n": lambda s: s.n + 1}, doc="one")
    two = timer("second", then={"x": lambda s: s.x + s.kick * s.kick, "n": lambda s: s.n + 1}, doc="two")


class Kink(Device):
    """``dx/dt = speed`` up to the threshold, a third of it beyond."""

    speed = Param("1/s", 1.0)
    threshold = Param("", 0.5)
    bent = Mode(0)
    zero = Param("", 0.0)
    x = State("", start_at="zero")

    def rates(s: Any) -> Any:
        return np.where(s.bent == 1, s.speed / 3.0, s.speed)

    @guard("up", when={"bent": 0}, then={"bent": 1})
    def bends(s: Any) -> Any:
        """Bend"""
        return s.x - s.threshold


DEVICES = (Hopper, Meeting, Kink)


def record(model: str, **fields: Any) -> Any:
    return gc.Record(model, fields)


def case_of(*records: Any) -> gc.Case:
    case = gc.Case("test")
    for r in records:
        case.add(r)
    return case


def nine_bus(name: str = "wscc9", **values: Any) -> gc.Case:
    """The 9-bus case without its own disturbance; fields are named ``GEN2__H``."""
    case = gc.load_case(name)
    for id in ("fault", "trip"):
        if id in case:
            case.remove(id)
    for field, value in values.items():
        case.set(field.replace("__", "."), value)
    return case


NINE = [("GEN2", "omega"), ("BUS5", "Vm"), ("EXC2", "VR"), ("GEN3", "delta")]
LOW = {f"EXC{i}__VRMAX": 3.0 for i in (1, 2, 3)}


# ---------------------------------------------------------------- no grids


@study
def hiskens_pai() -> Study:
    return Study(gc.load_case("hiskens_pai"), 0.2, 1e-3,
                 ["HP.p1", "HP.p2", "HP.x10", "HP.x20", "HP.a11", "HP.a12", "HP.b21", "HP.b22", "HP.x1", "HP.x2"],
                 [("HP", "x1"), ("HP", "x2")], ["HP.to_second", "HP.to_first"] * 3)


@study
def two_events_in_one_step() -> Study:
    return Study(gc.load_case("hiskens_pai"), 0.2, 0.05, ["HP.p1", "HP.p2", "HP.x20", "HP.a12"],
                 [("HP", "x1"), ("HP", "x2")], ["HP.to_second", "HP.to_first"])


SWING = ["SWING.Pm", "SWING.Pmax", "SWING.Pmax_fault", "SWING.H", "SWING.D", "SWING.omega_s", "SWING.t_fault",
         "SWING.t_clear", "SWING.delta", "SWING.omega"]


@study
def swing() -> Study:
    return Study(gc.load_case("swing"), 1.0, 0.01, SWING, [("SWING", "delta"), ("SWING", "Pe")],
                 ["SWING.strikes", "SWING.clears"])


@study
def swing_off_the_grid() -> Study:
    case = gc.load_case("swing")
    case.set("SWING.t_fault", 0.1037)
    case.set("SWING.t_clear", 0.1941)
    return Study(case, 1.0, 0.01, SWING, [("SWING", "delta"), ("SWING", "Pe")], ["SWING.strikes", "SWING.clears"],
                 theta=0.7)


@study
def bouncing_ball() -> Study:
    case = case_of(record("BouncingBall", id="ball", height0=1.0, speed0=0.3, restitution=0.8))
    return Study(case, 2.5, 0.03, ["ball.gravity", "ball.restitution", "ball.height0", "ball.speed0", "ball.height",
                                   "ball.speed"], [("ball", "height"), ("ball", "speed")], ["ball.impact"] * 4)


@study
def two_bounces_in_one_step() -> Study:
    case = case_of(record("BouncingBall", id="ball", height0=0.02, restitution=0.7))
    return Study(case, 0.3, 0.1, ["ball.gravity", "ball.restitution", "ball.height0"],
                 [("ball", "height"), ("ball", "speed")], ["ball.impact"] * 3)


@study
def resets_that_read_states_parameters_and_time() -> Study:
    case = case_of(record("Hopper", id="hop"))
    wrt = [f"hop.{name}" for name in ("T", "gain", "level", "floor", "drift", "x0", "x", "y")]
    return Study(case, 2.0, 0.04, wrt, [("hop", name) for name in ("x", "y", "level", "turn")], ["hop.hops"] * 3)


@study
def guards_at_one_instant() -> Study:
    case = case_of(*(record("BouncingBall", id=f"ball{k}", height0=0.5, restitution=0.6 + 0.1 * k) for k in range(3)))
    return Study(case, 0.7, 0.02, ["ball0.gravity", "ball1.gravity", "ball0.height0", "ball2.height0",
                                   "ball1.restitution"], [("ball0", "height"), ("ball1", "speed"), ("ball2", "height")],
                 ["ball2.impact", "ball1.impact", "ball0.impact"])


@study
def timers_at_one_instant() -> Study:
    """They are made in one switch, which moves with the first of them."""
    case = case_of(record("Meeting", id="m"))
    return Study(case, 1.0, 0.03, ["m.first", "m.rate", "m.kick", "m.x0", "m.x"], [("m", "x")], ["m.one", "m.two"])


@study
def timer_and_delay_at_one_instant() -> Study:
    case = case_of(record("Delayed", id="d", delay=0.1, threshold=0.5),
                   record("Meeting", id="m", first=float(np.arcsin(0.5)) + 0.1, second=0.8))
    return Study(case, 1.0, 0.03, ["m.first", "d.delay", "m.rate"], [("m", "x")], ["d.too_high", "m.one", "m.two"])


@study
def limited_state_with_explicit_time() -> Study:
    case = case_of(record("Limited", id="l"))
    return Study(case, 4.0, 0.05, ["l.T", "l.low", "l.high", "l.x0", "l.x"], [("l", "x"), ("l", "y")],
                 ["l.x_at_high", "l.x_off_high", "l.x_at_low"])


@study
def own_cancellation_function() -> Study:
    case = case_of(record("DelayedOwnCancel", id="d", delay=0.9, threshold=0.5, safe=0.9),
                   record("DelayedOwnCancel", id="e", delay=0.2, threshold=0.5, safe=0.9),
                   record("Driven", id="x", at=0.77))
    return Study(case, 2.0, 0.05, ["d.threshold", "d.delay", "e.delay", "e.threshold", "x.at", "x.a", "x.x0"],
                 [("x", "x"), ("d", "x")], ["e.too_high", "d.too_high:cancelled"])


# ---------------------------------------------------------------- the 9-bus system


def limits(theta: float = 0.5, dispatch: str = "power flow") -> Study:
    case = nine_bus(**LOW)
    case.add(gc.BusFault(id="fault", bus=7, t=0.1031, clear=0.1863))
    case.add(gc.BranchTrip(id="trip", branch="LINE5-7", t=0.2013))
    return Study(case, 0.6, 0.01, [
        "fault.t", "fault.clear", "fault.x", "fault.r", "trip.t", "EXC2.VRMAX", "EXC3.VRMAX", "EXC3.KA", "EXC2.TA",
        "GEN2.H", "GEN3.D", "GEN1.Xdp", "GEN2.P0", "GEN3.P0", "GEN1.V0", "GEN2.V0", "GEN2.Sn", "LOAD5.P0", "LOAD8.Q0",
        "LINE5-7.x", "LINE7-8.r", "LINE8-9.b", "TRANSFORMER2-7.tap", "TRANSFORMER3-9.phase", "GEN1.delta",
        "GEN3.omega", "EXC2.Efd", "GEN2.Edp"], NINE,
        ["fault.strikes", "EXC2.VR_at_VRMAX", "EXC3.VR_at_VRMAX", "fault.clears", "EXC3.VR_off_VRMAX"],
        theta=theta, dispatch=dispatch)


@study
def regulator_limits() -> Study:
    return limits()


@study
def regulator_limits_theta_07() -> Study:
    return limits(0.7)


@study
def regulator_limits_backward_euler() -> Study:
    return limits(1.0)


@study
def regulator_limits_direct_dispatch() -> Study:
    out = limits(dispatch="direct")
    out.wrt = [*out.wrt, "GEN1.P0", "GEN3.Q0", "BUS2.Vm0", "BUS6.Va0", "BUS1.Va0"]
    return out


@study
def regulator_limits_with_coarse_steps() -> Study:
    out = limits()
    out.step = 0.06
    return out


@study
def paper_with_governors() -> Study:
    case = gc.load_case("wscc9_paper")
    return Study(case, 0.45, 0.01, [
        "fault.t", "fault.clear", "EXC2.VRMAX", "EXC3.SE2", "EXC2.E1", "GOV2.R", "GOV3.T1", "GOV1.T2", "GEN2.P0",
        "GEN1.V0", "GEN3.V0", "LOAD6.P0", "LINE6-9.x", "GEN3.Xqp"],
        [("GEN2", "omega"), ("EXC3", "VR"), ("BUS9", "Vm"), ("GOV2", "Pm")],
        ["fault.strikes", "EXC3.VR_at_VRMAX", "EXC2.VR_at_VRMAX", "fault.clears", "EXC3.VR_off_VRMAX"])


@study
def valve_limit_hit() -> Study:
    case = nine_bus("wscc9_paper", GOV2__VMAX=1.7)
    case.add(gc.ParameterStep(id="more", parameter="LOAD5.P0", t=0.0713, scale=1.3))
    return Study(case, 1.5, 0.02, ["GOV2.VMAX", "GOV2.R", "GOV2.T2", "more.t", "more.scale", "more.by", "LOAD5.P0",
                                   "GEN2.P0"], [("GEN2", "omega"), ("GOV2", "Pm"), ("GOV2", "x1")],
                 ["more.steps", "GOV2.x1_at_VMAX"])


@study
def limited_state_without_time_constant() -> Study:
    """TA = 0 makes the regulator's output algebraic, limits and all."""
    case = nine_bus(**LOW, EXC2__TA=0.0, EXC3__TR=0.03)
    case.add(gc.BusFault(id="fault", bus=7, t=0.1031, clear=0.1563, x=0.05))
    return Study(case, 0.4, 0.01, ["fault.t", "EXC2.VRMAX", "EXC2.KA", "EXC3.TR", "GEN2.P0", "GEN2.V0", "EXC2.Rf",
                                   "EXC3.Vm"], NINE, ["fault.strikes", "EXC2.VR_at_VRMAX", "EXC2.VR_off_VRMAX"])


@study
def event_at_t0() -> Study:
    case = nine_bus(**LOW)
    case.add(gc.BusFault(id="fault", bus=7, t=0.0, clear=0.0863))
    return Study(case, 0.3, 0.01, ["fault.t", "fault.clear", "fault.x", "GEN2.H", "GEN2.P0", "LOAD5.P0"], NINE,
                 ["fault.strikes", "fault.clears"])


@study
def event_at_t0_of_a_moving_state() -> Study:
    case = case_of(record("Driven", id="x", at=0.0), record("Meeting", id="m", first=0.0, second=0.4))
    return Study(case, 1.0, 0.05, ["x.at", "x.a", "x.b", "x.x0", "m.first", "m.kick", "m.x"], [("x", "x"), ("m", "x")],
                 ["m.one", "m.two"])


@study
def limit_broken_at_t0() -> Study:
    case = nine_bus(EXC2__VRMAX=1.8)
    case.add(gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1))
    return Study(case, 0.4, 0.01, ["EXC2.VRMAX", "EXC2.KA", "GEN2.P0", "GEN2.V0", "fault.t"], NINE,
                 ["EXC2.VR_at_VRMAX"])


@study
def timer_at_t_end() -> Study:
    case = case_of(record("Driven", id="x", at=0.4), record("Meeting", id="m", first=0.2, second=1.0))
    return Study(case, 1.0, 0.05, ["x.at", "x.a", "x.b", "m.first", "m.second", "m.kick"], [("x", "x"), ("m", "x")],
                 ["m.one", "x.turns", "m.two"])


@study
def fault_cleared_at_t_end() -> Study:
    case = nine_bus(**LOW)
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.2))
    return Study(case, 0.2, 0.01, ["fault.t", "fault.clear", "GEN2.H", "EXC2.VRMAX"], NINE,
                 ["fault.strikes", "fault.clears"])


@study
def delay_ends_at_t_end() -> Study:
    case = case_of(record("Delayed", id="d", delay=0.25, threshold=float(np.sin(0.75))),
                   record("Meeting", id="m", second=0.8))
    return Study(case, 1.0, 0.05, ["d.delay", "d.threshold", "m.rate"], [("d", "x"), ("m", "x")],
                 ["m.one", "d.too_high:delay started", "m.two", "d.too_high"])


@study
def voltages_pass_Vlow() -> Study:
    """Loads of every law turn into constant impedances: together at the switches, one by one in the swing after."""
    case = nine_bus(LOAD5__pZ=0, LOAD5__pI=0.2, LOAD5__pP=0.8, LOAD5__qZ=0, LOAD5__qP=1)
    case.remove("LOAD6"), case.remove("LOAD8")
    case.add(record("Exponential", bus=6, P0=0.9, Q0=0.3, alpha=0.3, beta=1.5, Vlow=0.75))
    case.add(record("ExponentialRecovery", bus=8, P0=1.0, Q0=0.35, alpha_s=0.0, alpha_t=0.5, beta_s=0.5, beta_t=2.5,
                    Tp=0.3, Tq=0.2, Vlow=0.72))
    case.add(gc.BusFault(id="fault", bus=7, t=0.1031, clear=0.2263))
    wrt = ["LOAD5.Vlow", "LOAD6.Vlow", "LOAD8.Vlow", "LOAD5.pP", "LOAD6.alpha", "LOAD8.Tp", "fault.clear", "GEN2.P0"]
    return Study(case, 0.6, 0.01, wrt, [*NINE, ("LOAD6", "P"), ("LOAD8", "Q")], [])


@study
def undervoltage_load_shedding() -> Study:
    case = nine_bus()
    case.add(gc.BusFault(id="dip", bus=8, t=0.1, clear=0.3137, x=0.1))
    case.add(record("UnderVoltageLoadShedding", id="UV", load="LOAD8", threshold=0.8, delay=0.1, shed=0.4))
    case.add(record("UnderVoltageLoadShedding", id="SLOW", load="LOAD6", threshold=0.9, delay=0.5, shed=0.4))
    return Study(case, 0.7, 0.01, ["dip.t", "dip.clear", "dip.x", "UV.threshold", "UV.delay", "UV.shed", "UV.Tv",
                                   "SLOW.threshold", "LOAD8.P0", "LOAD8.k", "GEN3.V0", "UV.V"],
                 [("GEN3", "omega"), ("BUS8", "Vm"), ("LOAD8", "k"), ("LOAD8", "P")],
                 ["dip.strikes", "UV.undervoltage:delay started", "UV.undervoltage", "dip.clears",
                  "SLOW.undervoltage:cancelled"])


@study
def underfrequency_load_shedding() -> Study:
    case = nine_bus()
    case.add(gc.Trip(id="loss", device="GEN2", t=0.1))
    case.add(record("UnderFrequencyLoadShedding", id="UF", load="LOAD5", threshold=59.5, delay=0.1, shed=0.3))
    case.add(record("UnderFrequencyLoadShedding", id="UF2", load="LOAD5", threshold=59.2, delay=0.1, shed=0.2))
    return Study(case, 1.2, 0.02, ["loss.t", "UF.threshold", "UF.delay", "UF.shed", "UF2.threshold", "GEN1.H",
                                   "LOAD5.P0", "GEN2.P0", "GEN1.V0", "base.omega_b"],
                 [("GEN1", "omega"), ("LOAD5", "k"), ("UF", "slip")],
                 ["loss.trips", "UF.underfrequency", "UF2.underfrequency"])


def recovery(name: str, t_end: float, must: list[str]) -> Study:
    """The study with its ramp at once, and a threshold that is not merely touched."""
    case = gc.load_case(name)
    case.set("RELAY14.threshold", {"wscc9_recovery_loads": 0.83, "wscc9_recovery_cancelled": 0.845}[name])
    case.set("RELAY14.delay", {"wscc9_recovery_loads": 0.05, "wscc9_recovery_cancelled": 0.9}[name])
    for id, begin, end in (("up", 0.2, 2.2), ("down", 2.2, 4.2)):
        case.set(f"{id}.t0", begin)
        case.set(f"{id}.t1", end)
    return Study(case, t_end, 0.02, [
        "up.t0", "up.t1", "up.scale", "down.t0", "down.scale", "RELAY14.threshold", "RELAY14.delay", "LINE14.b",
        "LOAD8.alpha_t", "LOAD5.P0", "LOAD6.Tp", "LOAD5.alpha_s", "GEN2.D", "GEN1.V0", "GEN2.P0", "EXC1.KA",
        "LOAD5.xp"], [("BUS6", "Vm"), ("GEN1", "omega"), ("LINE14", "S1"), ("LOAD5", "P")], must)


@study
def recovery_loads_and_delayed_trip() -> Study:
    return recovery("wscc9_recovery_loads", 2.6, ["up.begins", "RELAY14.overload:delay started", "RELAY14.overload"])


@study
def recovery_loads_and_cancelled_trip() -> Study:
    return recovery("wscc9_recovery_cancelled", 3.0, [
        "up.begins", "RELAY14.overload:delay started", "RELAY14.overload:cancelled"])


@study
def relay_trips_the_line_that_feeds_a_fault() -> Study:
    case = nine_bus()
    case.add(gc.BusFault(id="short", bus=5, t=0.1, clear=0.45, x=0.05, r=0.02))
    case.add(record("OverCurrentRelay", branch="LINE4-5", threshold=3.0, delay=0.1))
    case.add(record("OverCurrentRelay", branch="TRANSFORMER3-9", threshold=1.2, delay=0.0))
    return Study(case, 0.5, 0.01, ["short.t", "short.r", "RELAY_LINE4-5.delay", "RELAY_LINE4-5.threshold",
                                   "RELAY_TRANSFORMER3-9.delay", "RELAY_TRANSFORMER3-9.threshold",
                                   "LINE4-5.x", "LINE5-7.b", "GEN2.P0", "GEN1.Xdp"],
                 [("GEN1", "omega"), ("BUS5", "Vm"), ("LINE4-5", "I1")],
                 ["RELAY_LINE4-5.overload", "RELAY_TRANSFORMER3-9.overload"])


@study
def set_point_ramp_and_step() -> Study:
    case = nine_bus()
    case.add(gc.Ramp(id="ramp", parameter="GEN2.Pm", t0=0.1, t1=0.5137, scale=1.1, by=0.02))
    case.add(gc.ParameterStep(id="vref", parameter="EXC3.Vref", t=0.2213, scale=0.98, by=0.01))
    return Study(case, 0.8, 0.02, ["ramp.t0", "ramp.t1", "ramp.scale", "ramp.by", "vref.t", "vref.scale", "vref.by",
                                   "GEN2.P0", "EXC3.KA", "LOAD5.P0"], NINE, ["ramp.begins", "vref.steps", "ramp.ends"])


@study
def two_machines_at_one_bus() -> Study:
    case = nine_bus()
    case.set("GEN2.P0", 1.0)
    fields = dict(case["GEN2"].fields, id="GEN2b", P0=0.63, Sn=60.0, H=5.0)
    case.add(gc.Record("TwoAxis", fields))
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.15))
    return Study(case, 0.4, 0.02, ["GEN2.P0", "GEN2b.P0", "GEN2b.H", "LOAD5.P0", "GEN2.Sn", "GEN2b.Sn", "GEN1.V0",
                                   "LINE7-8.x"], [("GEN2", "omega"), ("GEN2b", "delta"), ("BUS7", "Vm")],
                 ["fault.strikes", "fault.clears"])


@study
def classical_machines_exponential_loads_shunt_and_infinite_bus() -> Study:
    case = gc.Case("mixed")
    for i in (1, 2, 3, 4):
        case.add(record("Bus", id=i))
    case.add(record("InfiniteBus", id="INF", bus=1, control="slack", V0=1.02, X=0.05))
    case.add(record("Classical", id="G2", bus=2, control="PV", P0=0.6, V0=1.01, H=3.5, D=0.5, Xdp=0.3, Sn=80))
    case.add(record("Classical", id="G3", bus=3, control="PQ", P0=0.3, Q0=0.1, H=2.5, D=0.5, Xdp=0.25))
    case.add(record("StaticGenerator", id="G4", bus=4, control="PQ", P0=0.2, Q0=0.05))
    for a, b in ((1, 2), (2, 3), (3, 4)):
        case.add(record("Line", bus1=a, bus2=b, r=0.01, x=0.12, b=0.03))
    case.add(record("Transformer", bus1=4, bus2=1, x=0.1, tap=0.98, phase=0.02))
    case.add(record("Exponential", bus=3, P0=0.7, Q0=0.2, alpha=1.3, beta=1.7))
    case.add(record("ZIP", bus=4, P0=0.5, Q0=0.2, pZ=0.3, pI=0.3, pP=0.4, qZ=0.2, qI=0.5, qP=0.3))
    case.add(record("Shunt", bus=3, b=0.2, g=0.01))
    case.add(gc.BranchTrip(id="trip", branch="LINE2-3", t=0.113, reclose=0.371))
    return Study(case, 0.6, 0.02, [
        "INF.V0", "INF.X", "G2.P0", "G2.V0", "G2.Xdp", "G3.Q0", "G4.Q0", "G2.Sn", "LOAD3.alpha", "LOAD3.P0", "LOAD4.Q0",
        "LOAD4.pI", "SHUNT3.b", "TRANSFORMER4-1.tap", "TRANSFORMER4-1.phase", "LINE3-4.g", "LINE2-3.x", "trip.t",
        "trip.reclose", "base.base_mva", "G3.delta"],
        [("G2", "omega"), ("BUS3", "Vm"), ("G3", "delta"), ("G2", "Pe")], ["trip.opens", "trip.closes"])


@study
def kundur() -> Study:
    case = gc.load_case("kundur")
    case.set("fault.t", 0.1)
    case.set("fault.clear", 0.1523)
    case.set("trip.t", 0.17)
    for k in (1, 2, 3, 4):
        case.set(f"EXC_GEN{k}.EMAX", 2.2)
        case.set(f"PSS_EXC_GEN{k}.LSMAX", 0.1 if k == 4 else 1.0)
        case.set(f"GEN{k}.S10", 0.04)
        case.set(f"GEN{k}.S12", 0.27)
    return Study(case, 0.36, 0.02, [
        "fault.t", "fault.clear", "trip.t", "GEN1.H", "GEN3.V0", "GEN1.V0", "GEN2.P0", "GEN2.S12", "GEN1.Xdpp",
        "GEN3.Td0p", "LOAD7.P0", "LOAD9.Q0", "SHUNT7.b", "LINE8-9.x", "EXC_GEN1.EMAX", "EXC_GEN2.K", "GOV_GEN2.R",
        "GEN4.Sn", "EXC_GEN3.TE", "PSS_EXC_GEN1.KS", "PSS_EXC_GEN2.T1", "PSS_EXC_GEN4.LSMAX"],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("GEN4", "delta"), ("EXC_GEN2", "Efd")],
        ["fault.strikes", "PSS_EXC_GEN4.limited_at_LSMAX", "EXC_GEN1.Efd_at_EMAX", "fault.clears", "trip.opens"])


@study
def new_england() -> Study:
    """Ten machines, regulators that reach their limit and leave it, valves that do."""
    case = gc.load_case("ieee39")
    case.set("fault.t", 0.1)
    case.set("fault.clear", 0.2023)
    case.set("trip.t", 0.22)
    case.set("GOV_GEN38.VMAX", 0.832)
    return Study(case, 0.6, 0.02, [
        "fault.clear", "trip.t", "GEN31.H", "GEN39.V0", "GEN34.V0", "GEN36.P0", "GEN38.Xqp", "LOAD16.P0", "LOAD4.Q0",
        "LINE15-16.x", "EXC_GEN36.VRMAX", "EXC_GEN34.KA", "GOV_GEN38.VMAX", "GOV_GEN30.R", "GEN33.Tq0p"],
        [("GEN36", "omega"), ("BUS16", "Vm"), ("GEN38", "delta"), ("GOV_GEN38", "Pm")],
        ["fault.strikes", "EXC_GEN36.VR_at_VRMAX", "fault.clears", "trip.opens", "EXC_GEN36.VR_off_VRMAX"])


@study
def governors_at_their_limits() -> Study:
    """A fault, after which gates, rates and the acceleration limiter say how the turbines go on."""
    case = nine_bus()
    case.add(record("IEEEG1", machine="GEN1", K=20.0, T1=0.1, T2=0.02, T3=0.1, Uo=0.2, Uc=-0.2, PMAX=0.8, PMIN=0.0,
                    T4=0.2, T5=3.0, K1=0.4, K3=0.6))
    case.add(record("GGOV1", machine="GEN2", R=0.04, Tpelec=0.5, Kpgov=8.0, Kigov=2.0, Tact=0.2, Kturb=1.5, Tb=0.5,
                    Ropen=0.2, Rclose=-0.15, Ldref=0.86, Trate=192.0, Flag=1.0, db=3e-4))
    case.add(record("HYGOV", machine="GEN3", R=0.05, r=0.3, Tr=4.0, Tf=0.05, Tg=0.3, VELM=0.03, GMAX=0.9, GMIN=0.1,
                    TW=1.2, At=1.2, Dturb=0.5, qNL=0.08))
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.2317))
    return Study(case, 0.7, 0.02, [
        "fault.clear", "GEN1.H", "GEN2.P0", "GEN1.V0", "LOAD5.P0", "GOV_GEN1.Uc", "GOV_GEN1.K", "GOV_GEN2.Kpgov",
        "GOV_GEN2.aset", "GOV_GEN2.DELT", "GOV_GEN2.Rclose", "GOV_GEN2.Trate", "GOV_GEN2.db", "GOV_GEN3.VELM",
        "GOV_GEN3.r", "GOV_GEN3.At"],
        [("GEN1", "omega"), ("GOV_GEN1", "Pm"), ("GOV_GEN2", "valve"), ("GOV_GEN3", "q")],
        ["fault.strikes", "GOV_GEN2.low_to_second", "GOV_GEN2.banded_above", "GOV_GEN2.low_to_first",
         "GOV_GEN3.speed_at_speed_min", "GOV_GEN2.valve_speed_at_Rclose", "fault.clears", "GOV_GEN1.valve_speed_at_Uc",
         "GOV_GEN3.speed_at_VELM"])
