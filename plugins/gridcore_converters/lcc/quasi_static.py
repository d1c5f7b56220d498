"""Two-terminal lines with line-commutated converters that are in their steady state at every instant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Algebraic, Device, Input, Mode, Param, Port, Quantity, Setpoint, State, quantity
from gridcore_blocks import Lag

from ..frames import beside_voltage
from ..gates import Larger, Smaller, beside
from ..wecc.blocks import Table

BRIDGE = 3.0 * np.sqrt(2.0) / np.pi  # ideal no-load voltage of a bridge, of its line-to-line voltage
LEAST = 0.01  # of VSCHD: a measured voltage below it asks for no more current, where the curve rules long before
RISEN = 2.0  # of the scheduled value: an order that does not have to rise


def carried(P: Any, V: Any, r: Any) -> Any:
    """The current (kA) that brings a power (MW) to a voltage (kV) behind a resistance (ohm): ``P = (V + r i) i``."""
    return 2.0 * P / (V + np.sqrt(V * V + 4.0 * r * P))


def injected(bridges: Any, x: Any, E: Any, V: Any, current: Any, least: Any) -> tuple[Any, Any]:
    """(P, Q), MW and Mvar, that a converter with a DC voltage and current takes from its AC side.

    Nothing is beyond the least angle but the drop of an inverter without voltage, which cannot commutate the current,
    and what a solver of the network tries on its way, for which the angles are held where they have derivatives.
    """
    Vdo, drop = bridges * BRIDGE * E, 3.0 / np.pi * bridges * x * current
    most = 0.5 + 0.5 * np.cos(least)  # never reached where the converter works: its least angle is less

    def held(cosine: Any) -> Any:
        return np.maximum(np.minimum(cosine, most), -most)

    alpha, delta = np.arccos(held((V + drop) / Vdo)), np.arccos(held((V - drop) / Vdo))
    swept = 2.0 * (delta - alpha) + np.sin(2.0 * alpha) - np.sin(2.0 * delta)
    return held(V / Vdo) * Vdo * current, 0.75 / np.pi * bridges * E * E / x * swept


class QuasiStaticLine(Device):
    """What :class:`CDC4T` and :class:`CDC6T` have in common: circuit, orders, and their rise after an interruption."""

    attaches = "bus"
    naming = "CDC{bus}"
    #: Its records say which line of the power flow they are for, whose sources are called so; what its other end is.
    dyr_line: ClassVar[str] = "DC"
    dyr_end: ClassVar[str] = "CDCInverter"
    Pset = Param("MVA", 100.0, doc="power that is held (MW): of the rectifier; of the inverter, where it is below zero")
    Iset = Param("kA", 0.0, ge=0, doc="current that is held, where Pset is zero")
    VSCHD = Param("kV", 250.0, gt=0, doc="scheduled DC voltage")
    VCMOD = Param("kV", 0.0, ge=0, doc="DC voltage of the inverter below which the current is held, not the power")
    RCOMP = Param("ohm", 0.0, ge=0, doc="resistance from the inverter to where the voltage is scheduled")
    DELTI = Param("", 0.1, ge=0, lt=1, doc="margin of the inverter's order below that of the rectifier")
    RDC = Param("ohm", 5.0, gt=0, doc="resistance of the line")
    NBR = Param("", 2.0, gt=0, doc="bridges in series of the rectifier")
    XCR = Param("ohm", 10.0, gt=0, doc="commutating reactance of a bridge of the rectifier")
    ER = Param("kV", 104.0, gt=0, doc="line-to-line voltage of a bridge of the rectifier at t0")
    NBI = Param("", 2.0, gt=0, doc="bridges in series of the inverter")
    XCI = Param("ohm", 10.0, gt=0, doc="commutating reactance of a bridge of the inverter")
    EI = Param("kV", 104.0, gt=0, doc="line-to-line voltage of a bridge of the inverter at t0")
    ALFDY = Param("rad", 0.0873, gt=0, lt=1.5, doc="least delay angle")
    GAMDY = Param("rad", 0.1745, gt=0, lt=1.5, doc="least extinction angle")
    TVDC = Param("s", 0.05, ge=0, doc="time constant of the measurement of the inverter's DC voltage")
    TIDC = Param("s", 0.05, ge=0, doc="time constant of the measurement of the current")
    VBLOCK = Param("pu", 0.4, doc="AC voltage of the rectifier below which the line is blocked")
    VUNBL = Param("pu", 0.7, doc="AC voltage of the rectifier above which it may be released")
    TBLOCK = Param("s", 0.1, ge=0, doc="least time for which it is blocked")
    VBYPAS = Param("kV", 60.0, doc="DC voltage below which the inverter is bypassed")
    VUNBY = Param("pu", 0.7, doc="AC voltage of the inverter above which the bypass may be opened")
    TBYPAS = Param("s", 0.1, ge=0, doc="least time for which it is bypassed")
    RSVOLT = Param("kV", 50.0, ge=0, doc="voltage with which the line begins again")
    RSCUR = Param("kA", 0.1, ge=0, doc="current with which the line begins again after it was blocked")
    VRAMP = Param("1/s", 5.0, doc="rise of the voltage after that, of the scheduled; 0 or less: at once")
    CRAMP = Param("1/s", 5.0, doc="rise of the current after that, of that at t0; 0 or less: at once")
    C0 = Param("kA", 0.05, ge=0, doc="least order")
    V1 = Param("kV", 80.0, doc="DC voltage below which the largest order is C1")
    C1 = Param("kA", 0.2, ge=0, doc="largest order at low DC voltage")
    V2 = Param("kV", 140.0, doc="DC voltage at which it is C2")
    C2 = Param("kA", 0.35, ge=0, doc="largest order between")
    V3 = Param("kV", 200.0, doc="DC voltage above which it is C3")
    C3 = Param("kA", 0.6, ge=0, doc="largest order at high DC voltage")
    TCMODE = Param("s", 0.1, ge=0, doc="least time for which the current is held in place of the power")
    Vac2 = Input("pu", 1.0, doc="AC voltage of the inverter")
    V10 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="AC voltage of the rectifier at t0")
    V20 = Setpoint("pu", init=1.0, equals=lambda s: s.Vac2, doc="AC voltage of the inverter at t0")
    blocked = Mode(0, doc="1 while the line is blocked")
    waited = Mode(0, doc="1 where that was long enough")
    bypassed = Mode(0, doc="1 while the inverter is bypassed, 2 when that was long enough")
    forced = Mode(0, doc="1 while the current is held in place of the power, 2 when that was long enough")
    cold = Mode(0, doc="1 after the line was blocked, until its orders have risen")
    rises = Mode(0, doc="1 while the order of the current rises")
    lifts = Mode(0, doc="1 while that of the voltage does")

    R1 = Quantity("ohm", lambda s: 3.0 / np.pi * s.NBR * s.XCR, "what commutation takes of the rectifier's DC voltage")
    R2 = Quantity("ohm", lambda s: 3.0 / np.pi * s.NBI * s.XCI, "what commutation takes of the inverter's DC voltage")
    I0 = Quantity("kA", lambda s: np.where(s.Pset > 0, carried(s.Pset, s.VSCHD, s.RDC - s.RCOMP), np.where(
        s.Pset < 0, carried(-s.Pset, s.VSCHD, -s.RCOMP), s.Iset)), "current at t0")
    Vd20 = Quantity("kV", lambda s: s.VSCHD - s.RCOMP * s.I0, "DC voltage of the inverter at t0")
    Vd10 = Quantity("kV", lambda s: s.Vd20 + s.RDC * s.I0, "DC voltage of the rectifier at t0")
    E1 = Quantity("kV", lambda s, bus: s.ER * bus.Vm / s.V10, "line-to-line voltage of a bridge of the rectifier")
    E2 = Quantity("kV", lambda s: s.EI * s.Vac2 / s.V20, "line-to-line voltage of a bridge of the inverter")

    Vm = Lag("Vd2", T="TVDC", init=250.0, unit="kV", doc="DC voltage of the inverter, measured")
    Im = Lag("I", T="TIDC", init=0.4, unit="kA", doc="current, measured")
    # where nothing rises, both are one, the value that orders have then
    risen = State("", init=1.0, rate=lambda s: np.where(s.rises == 1, s.CRAMP, 1.0 - s.risen),
                  doc="order of the current, of that at t0, while it rises")
    lifted = State("", init=1.0, rate=lambda s: np.where(s.lifts == 1, s.VRAMP, 1.0 - s.lifted),
                   doc="order of the voltage, of the scheduled, while it rises")
    Vheld = Quantity("kV", lambda s: np.maximum(np.where(s.Pset < 0, s.Vm, s.Vm1), LEAST * s.VSCHD),
                     "DC voltage at which the power is held, measured")
    wanted = Quantity("kA", lambda s: np.where(
        s.cold == 1, s.I0 * np.where(s.rises == 1, s.risen, 1.0), np.where(
            np.logical_or(s.forced > 0, s.Pset == 0), s.I0, np.where(s.Pset < 0, -s.Pset, s.Pset) / s.Vheld)),
        "current that is asked for")
    curve = Table("Vm", points=(("V1", "C1"), ("V2", "C2"), ("V3", "C3")), unit="kA", doc="largest order, by voltage")
    allowed = Smaller("wanted", "curve", unit="kA", doc="order, no larger than the curve has it")
    order = Larger("allowed", "C0", unit="kA", doc="order of the rectifier")

    # characteristics of the inverter, V - R i: its voltage, its least angle; and of the rectifier at its least angle
    Vorder = Quantity("kV", lambda s: s.VSCHD * np.where(s.lifts == 1, s.lifted, 1.0), "scheduled DC voltage, now")
    Vmost = Quantity("kV", lambda s: s.NBI * BRIDGE * s.E2 * np.cos(s.GAMDY), "no-load voltage at the least angle")
    Vtop = Quantity("kV", lambda s: s.NBR * BRIDGE * s.E1 * np.cos(s.ALFDY), "no-load voltage at the least angle")
    R = Quantity("ohm", lambda s: s.R1 + s.RDC, "resistance of rectifier and line")
    meets = Larger(lambda s: (s.Vtop - s.Vorder) / (s.R - s.RCOMP), lambda s: (s.Vtop - s.Vmost) / (s.R - s.R2),
                   unit="kA", doc="current at which the rectifier's least angle meets the inverter's characteristic")
    least = Larger("meets", lambda s: (1.0 - s.DELTI) * s.order, unit="kA", doc="and no less than the inverter's order")
    held = Smaller("order", "least", unit="kA", doc="and no more than the rectifier's: where the characteristics meet")
    flows_at = Smaller(lambda s: np.where(s.bypassed > 0, s.I0, s.held), lambda s: s.Vtop / s.R, unit="kA",
                       doc="and no more than flows without voltage at the inverter")
    I = Quantity("kA", lambda s: np.where(s.blocked == 1, 0.0, s.flows_at), "current")  # noqa: E741
    own = Smaller(lambda s: s.Vorder - s.RCOMP * s.order, lambda s: s.Vmost - s.R2 * s.order, unit="kV",
                  doc="DC voltage of the inverter at the rectifier's order")
    carries = Larger("own", 0.0, unit="kV", doc="and not below zero")
    runs = Quantity("", lambda s: np.where(np.logical_or(s.blocked == 1, s.bypassed > 0), 0.0, 1.0),
                    "1 while the line is neither blocked nor bypassed")
    at_angle = Quantity("", lambda s: np.where(np.logical_or(s.held_side == 1, s.least_side == 1), 1.0, 0.0),
                        "1 while the rectifier is at its least angle")
    left = Quantity("kV", lambda s: s.Vtop - s.R * s.flows_at, "DC voltage that a rectifier at its least angle leaves")
    # of which the sign says whether the inverter can be there: at no voltage it is zero, not what is left by round-off
    Vfree = Quantity("kV", lambda s: np.where(s.flows_at_side == 1, 0.0, np.where(s.at_angle == 1, beside(
        s.left, np.minimum(s.Vorder, s.Vmost), False), beside(s.own, s.left, False))),
        "DC voltage of the inverter, if it is not bypassed")
    Vd2 = Quantity("kV", lambda s: np.where(np.logical_or(s.runs == 0, s.flows_at_side == 1), 0.0, np.where(
        s.at_angle == 1, s.Vfree, beside(s.carries, s.left, False))), "DC voltage of the inverter")
    Vd1 = Quantity("kV", lambda s: s.Vd2 + s.RDC * s.I, "DC voltage of the rectifier")
    Vm1: Any = Quantity("kV", lambda s: s.Vm + s.RDC * s.Im, "DC voltage of the rectifier, by what is measured")
    alpha = Quantity("rad", lambda s: np.arccos(np.minimum((s.Vd1 + s.R1 * s.I) / (s.NBR * BRIDGE * s.E1), np.cos(
        s.ALFDY))), "delay angle")

    @quantity("pu", "active power drawn")
    def P(s: Any) -> Any:
        return s.status * injected(s.NBR, s.XCR, s.E1, s.Vd1, s.I, s.ALFDY)[0] / s.base_mva

    @quantity("pu", "reactive power drawn")
    def Q(s: Any) -> Any:
        return s.status * injected(s.NBR, s.XCR, s.E1, s.Vd1, s.I, s.ALFDY)[1] / s.base_mva

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return wrong(values)

    def scheduled(s: Any) -> Any:
        P, Q = injected(s.NBR, s.XCR, s.ER, s.Vd10, s.I0, s.ALFDY)
        return -P / s.base_mva, -Q / s.base_mva

    def currents(s: Any, bus: Any) -> Any:
        return beside_voltage(bus, -s.P / bus.Vm, -s.Q / bus.Vm)

    def start(s: Any, bus: Any) -> Any:
        return {"V10": bus.Vm, "Vm": s.Vd20, "Im": s.I0, "risen": 1.0, "lifted": 1.0}


def wrong(values: Mapping[str, float]) -> str | None:
    """What is wrong with the data of a line, taken together."""
    v = values
    P, V, r = v["Pset"], v["VSCHD"], v["RDC"] - v["RCOMP"] if v["Pset"] > 0 else -v["RCOMP"]
    if P == 0 and v["Iset"] == 0:
        return "Pset and Iset are both zero: the line has to hold a power or a current"
    if V * V + 4.0 * r * abs(P) < 0:
        return "the line cannot carry Pset"
    current = float(carried(abs(P), V, r)) if P else v["Iset"]
    R1, R2 = (3.0 / np.pi * v[f"NB{end}"] * v[f"XC{end}"] for end in "RI")
    if R1 + v["RDC"] <= max(R2, v["RCOMP"]):
        return "RDC and commutation at the rectifier must be more than commutation at the inverter, and than RCOMP"
    inverter = V - v["RCOMP"] * current
    ends = (("R", inverter + v["RDC"] * current + R1 * current, "delay", "ALFDY"),
            ("I", inverter + R2 * current, "extinction", "GAMDY"))
    for end, volts, angle, least in ends:
        cosine = volts / (v[f"NB{end}"] * BRIDGE * v[f"E{end}"])
        if cosine > np.cos(v[least]):
            at = f"is {np.degrees(np.arccos(cosine)):.4g} degrees" if cosine < 1 else "cannot be"
            return f"the {angle} angle at t0 {at}, and must not be below {least}, {np.degrees(v[least]):.4g} degrees"
    if not v["V1"] < v["V2"] < v["V3"]:
        return "V1, V2, V3 must rise"
    most = float(np.interp(inverter, [v["V1"], v["V2"], v["V3"]], [v["C1"], v["C2"], v["C3"]]))
    if not v["C0"] <= current <= most:
        return f"the current at t0, {current:.6g} kA, must be between C0 and what the curve allows, {most:.6g} kA"
    for level in ("VBYPAS", "VCMOD"):
        if not v[level] < inverter:
            return f"{level} must be below the DC voltage of the inverter at t0, {inverter:.6g} kV"
    return None if v["VBLOCK"] < v["VUNBL"] else "VBLOCK must be below VUNBL"


class CDCInverter(Device):
    """The inverter of a line of the records CDC4T or CDC6T, which say all that there is to say of it.

    Kundur, Power System Stability and Control (1994), chapter 10; the equations are told at :class:`CDC4T`.
    """

    attaches = ("bus", Port("line", QuasiStaticLine))
    naming = "INV_{line}"
    Vac = Algebraic("pu", init=1.0, equals=lambda s, bus: bus.Vm, drives="line.Vac2", doc="AC voltage")
    gamma = Quantity("rad", lambda s, line: np.arccos(np.minimum(
        (line.Vd2 + line.R2 * line.I) / (line.NBI * BRIDGE * line.E2), np.cos(line.GAMDY))), "extinction angle")

    @quantity("pu", "active power injected")
    def P(s: Any, line: Any) -> Any:
        on = s.status * line.runs
        return on * injected(line.NBI, line.XCI, line.E2, line.Vd2, line.I, line.GAMDY)[0] / line.base_mva

    @quantity("pu", "reactive power drawn")
    def Q(s: Any, line: Any) -> Any:
        on = s.status * line.runs
        return on * injected(line.NBI, line.XCI, line.E2, line.Vd2, line.I, line.GAMDY)[1] / line.base_mva

    def scheduled(s: Any, line: Any) -> Any:
        P, Q = injected(line.NBI, line.XCI, line.EI, line.Vd20, line.I0, line.GAMDY)
        return P / line.base_mva, -Q / line.base_mva

    def currents(s: Any, bus: Any) -> Any:
        return beside_voltage(bus, s.P / bus.Vm, -s.Q / bus.Vm)
