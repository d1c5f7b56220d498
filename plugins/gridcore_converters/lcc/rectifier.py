"""A line for direct current with its rectifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Device, Input, Mode, Param, PerUnit, Quantity, Setpoint, State, guard, quantity
from gridcore_blocks import Lag, LowGate
from gridcore_devices.power import TINY

from ..frames import beside_voltage
from ..gates import Smaller
from ..wecc.blocks import HeldPI, Table


class LCCLine(Device):
    """Two-terminal line with line-commutated converters: rectifier and line; an :class:`LCCInverter` hangs on it.

    Kundur, Power System Stability and Control (1994), chapter 10; Vdo is the ideal no-load voltage, n Vac::

        l did/dt = Vd - Vd2 - r id
        cos α    = (kp + ki / s) (Iord - id),   cos amax <= cos α <= cos amin
        Iord     the smaller of Iref and a current that falls with the DC voltage: from I2 at V2 to I1 at V1
        blocked  α = amax, which takes the current to zero, from where |Vac| < Vblock until it was above Vunblock for
                 Tblock; after it cos α starts at zero, and Iord at zero with what it rises to lagging by Tramp
        Vd       = Vdo cos α - Rc ic,   ic the smaller of id and Vdo (1 + cos α) / (2 Rc)
        P        = Vd ic,   Q = ic sqrt(Vdo^2 - Vd^2)   drawn from the bus

    ic is what of the current the AC voltage can commutate, by an overlap up to π - α; the rest flows on through
    valves that do not go out, and the bus without voltage takes nothing. Voltages and currents of the line are in per
    unit of its nominal voltage and of ``base_mva`` over it, the inductance is L / R of the base resistance. At t0 the
    line takes P0, with Vd0 and alpha0 at the rectifier; the ratio of its transformer is what that takes.
    """

    attaches = "bus"
    naming = "LCC{bus}"
    P0 = Param(PerUnit("MW", "MVA"), gt=0, doc="power drawn at t0, system base")
    Vd0 = Param(PerUnit("kV"), 1.0, gt=0, doc="DC voltage of the rectifier at t0")
    alpha0 = Param("rad", 0.2618, gt=0, doc="delay angle at t0")
    Rc = Param(PerUnit("ohm"), 0.01, ge=0, doc="commutation resistance of the rectifier")
    r = Param(PerUnit("ohm"), 0.005, gt=0, doc="resistance of the line")
    l = Param("s", 0.002, gt=0, doc="inductance of line and reactors over base resistance")  # noqa: E741
    kp = Param("pu", 0.1, ge=0, doc="gain of the control of the current")
    ki = Param("1/s", 5.0, gt=0, doc="integral gain of the control of the current")
    amin = Param("rad", 0.0873, ge=0, doc="least delay angle")
    amax = Param("rad", 2.6, gt=0, doc="largest delay angle")
    Td = Param("s", 0.02, ge=0, doc="time constant of the measurement of the DC voltage")
    V1 = Param(PerUnit("kV"), 0.3, doc="DC voltage below which the order is I1")
    I1 = Param("pu", 0.3, doc="order at low DC voltage, of that at t0")
    V2 = Param(PerUnit("kV"), 0.8, doc="DC voltage above which the order is not lowered")
    I2 = Param("pu", 1.5, doc="largest order, of that at t0")
    Vblock = Param(PerUnit("kV"), 0.0, ge=0, doc="AC voltage below which the rectifier is blocked; 0: never")
    Vunblock = Param(PerUnit("kV"), 0.7, gt=0, doc="AC voltage above which it may be released")
    Tblock = Param("s", 0.1, ge=0, doc="how long that has to last")
    Tramp = Param("s", 0.1, gt=0, doc="time constant of the order's rise after it")
    rise = Input("pu", 0.0, doc="DC voltage of the inverter above that at t0")
    n = Setpoint("pu", init=1.0, equals=lambda s, bus: s.Vdo0 / bus.Vm, doc="ideal no-load voltage over AC voltage")
    Iref = Setpoint("pu", init=1.0, equals=lambda s: s.I0, doc="reference of the current")
    i = State("pu", init=1.0, T="l", limits=(0.0, None), rate=lambda s: s.Vd - s.Vd2 - s.r * s.i, doc="current")
    Vm = Lag("Vd", T="Td", init=1.0, doc="DC voltage, measured")
    curve = Table("Vm", points=(("V1", "least"), ("V2", "most")), doc="largest order")
    # twice the largest order, so that at rest the curve is below it
    restart = Lag(lambda s: 2.0 * s.most, T="Tramp", init=3.0, doc="largest order after the rectifier was blocked")
    allowed = LowGate("curve", "restart", doc="largest order, by voltage and after the rectifier was blocked")
    order = LowGate("Iref", "allowed", doc="order of the current")
    blocked = Mode(0, doc="1 while the rectifier is blocked")
    cosa = HeldPI(lambda s: s.order - s.i, KP="kp", KI="ki", hold="blocked", init=0.9, unit="", limits=(
        lambda s: np.cos(s.amax), lambda s: np.cos(s.amin)), doc="cosine of the delay angle, where it is not blocked")
    least = Quantity("pu", lambda s: s.I1 * s.I0, "order at low DC voltage")
    most = Quantity("pu", lambda s: s.I2 * s.I0, "largest order")
    I0 = Quantity("pu", lambda s: s.P0 / s.Vd0, "current at t0")
    Vdo0 = Quantity("pu", lambda s: (s.Vd0 + s.Rc * s.I0) / np.cos(s.alpha0), "ideal no-load voltage at t0")
    Vd2 = Quantity("pu", lambda s: s.Vd0 - s.r * s.I0 + s.rise, "DC voltage of the inverter")
    Vdo = Quantity("pu", lambda s, bus: s.n * bus.Vm, "ideal no-load voltage")
    cosine = Quantity("", lambda s: np.where(s.blocked == 1, np.cos(s.amax), s.cosa), "cosine of the delay angle")
    commutated = Smaller("i", lambda s: s.Vdo * (1.0 + s.cosine) / (2.0 * np.maximum(s.Rc, TINY)),
                         doc="current that is commutated: no more than the AC voltage can")
    Vd = Quantity("pu", lambda s: s.Vdo * s.cosine - s.Rc * s.commutated, "DC voltage of the rectifier")
    P = Quantity("pu", lambda s: s.status * s.Vd * s.commutated, "active power drawn")

    @quantity("pu", "reactive power drawn")
    def Q(s: Any) -> Any:
        return s.status * s.commutated * np.sqrt(np.maximum(s.Vdo * s.Vdo - s.Vd * s.Vd, TINY))

    @guard("down", when={"blocked": 0}, then={"blocked": 1})
    def blocks(s: Any, bus: Any) -> Any:
        """The AC voltage falls below Vblock, and the rectifier is blocked."""
        return bus.Vm - s.Vblock

    @guard("up", when={"blocked": 1}, then={"blocked": 0, "cosa_x": 0.0, "restart": 0.0}, delay="Tblock")
    def releases(s: Any, bus: Any) -> Any:
        """The AC voltage is above Vunblock, and the rectifier is released."""
        return bus.Vm - s.Vunblock

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if not values["amin"] < values["alpha0"] < values["amax"] < np.pi:
            return "amin, alpha0, amax must be in this order, and below pi"
        if not values["Vblock"] < values["Vunblock"]:
            return "Vblock must be below Vunblock"
        return None if values["V1"] < values["V2"] else "V1 must be below V2"

    def scheduled(s: Any) -> Any:
        return -s.P0, -s.I0 * np.sqrt(s.Vdo0 * s.Vdo0 - s.Vd0 * s.Vd0)

    def currents(s: Any, bus: Any) -> Any:
        return beside_voltage(bus, -s.P / bus.Vm, -s.Q / bus.Vm)

    def start(s: Any, bus: Any) -> Any:
        return {"n": s.Vdo0 / bus.Vm, "Iref": s.I0, "i": s.I0, "Vm": s.Vd0, "cosa_x": np.cos(s.alpha0),
                "restart": 2.0 * s.I2 * s.I0}
