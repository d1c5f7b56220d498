"""The inverter of a line for direct current."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Mode, Param, PerUnit, Port, Quantity, Setpoint, guard, quantity
from gridcore_blocks import PI, Lag, Limit
from gridcore_devices.power import TINY

from ..frames import beside_voltage
from .rectifier import LCCLine


class LCCInverter(Device):
    """Line-commutated inverter: constant extinction angle, or the current where the rectifier cannot hold it.

    Kundur, Power System Stability and Control (1994), chapter 10; i is the current of the line::

        cos γ*  = (kp + ki / s) (i - (Iord - margin)),    cos gmax <= cos γ* <= cos gamma0
        cos β   = (cos γ* - 2 Rc i / Vdo) / (1 + s Tb),   the first between cos bmax and 1
        Vd2     = Vdo cos β + Rc i,   cos γ = cos β + 2 Rc i / Vdo

    Commutation fails where γ falls below gcrit: the valves short the line, Vd2 is zero, and nothing comes into the bus.
    It succeeds again Trec after γ would be above grec. A bypass does the same, from where Vd2 behind Tv falls below
    Vbypass until ``|Vac|`` was above Vunbypass for Tbypass; then the measurement starts again at the voltage of t0.
    At t0 the extinction angle is gamma0; the ratio of the transformer is what that takes.
    """

    attaches = ("bus", Port("line", LCCLine))
    naming = "INV_{line}"
    gamma0 = Param("rad", 0.3142, gt=0, doc="extinction angle that is held")
    gmax = Param("rad", 1.2, doc="largest extinction angle")
    gcrit = Param("rad", 0.12, gt=0, doc="extinction angle below which commutation fails")
    grec = Param("rad", 0.25, gt=0, doc="extinction angle above which it may succeed again")
    Trec = Param("s", 0.05, ge=0, doc="how long that has to last")
    bmax = Param("rad", 1.4, doc="largest angle of advance")
    Rc = Param(PerUnit("ohm"), 0.01, ge=0, doc="commutation resistance")
    margin = Param("pu", 0.1, gt=0, doc="margin of the current, of that at t0")
    kp = Param("pu", 0.05, ge=0, doc="gain of the control of the current")
    ki = Param("1/s", 3.0, gt=0, doc="integral gain of the control of the current")
    Tb = Param("s", 0.02, gt=0, doc="time constant of the angle of advance")
    Vbypass = Param(PerUnit("kV"), -99.0, doc="DC voltage below which the bypass is closed")
    Vunbypass = Param(PerUnit("kV"), 0.7, gt=0, doc="AC voltage above which it may be opened")
    Tbypass = Param("s", 0.1, ge=0, doc="how long that has to last")
    Tv = Param("s", 0.01, gt=0, doc="time constant of the measurement of the DC voltage")
    n = Setpoint("pu", init=1.0, equals=lambda s, bus: s.Vdo0 / bus.Vm, doc="ideal no-load voltage over AC voltage")
    failed = Mode(0, doc="1 while commutation fails")
    bypassed = Mode(0, doc="1 while the bypass is closed")
    shorted = Quantity("", lambda s: np.where(np.logical_or(s.failed == 1, s.bypassed == 1), 1.0, 0.0),
                       "1 while nothing reaches the bus")
    I = Quantity("pu", lambda s, line: line.i, "current of the line")  # noqa: E741
    wanted = PI(lambda s, line: line.i - line.order + s.margin * line.I0, KP="kp", KI="ki", at_limit=1, unit="",
                limits=(lambda s: np.cos(s.gmax), lambda s: np.cos(s.gamma0)), init=0.95,
                doc="cosine of the extinction angle asked for")
    advance = Limit(lambda s: s.wanted - s.drop, limits=(lambda s: np.cos(s.bmax), 1.0), unit="",
                    doc="cosine of the angle of advance asked for")
    cosb = Lag("advance", T="Tb", init=0.9, unit="", doc="cosine of the angle of advance")
    V0 = Quantity("pu", lambda s, line: line.Vd0 - line.r * line.I0, "DC voltage of the inverter at t0")
    Vdo0 = Quantity("pu", lambda s, line: (s.V0 + s.Rc * line.I0) / np.cos(s.gamma0), "ideal no-load voltage at t0")
    Vdo = Quantity("pu", lambda s, bus: s.n * bus.Vm, "ideal no-load voltage")
    drop = Quantity("", lambda s: 2.0 * s.Rc * s.I / s.Vdo, "what commutation takes of the angle, as cosine")
    cosg = Quantity("", lambda s: s.cosb + s.drop, "cosine of the extinction angle")
    Vd = Quantity("pu", lambda s: np.where(s.shorted == 1, 0.0, s.Vdo * s.cosb + s.Rc * s.I), "DC voltage")
    Vm = Lag("Vd", T="Tv", init=1.0, doc="DC voltage, measured")
    P = Quantity("pu", lambda s: s.status * s.Vd * s.I, "active power injected")
    rise = Algebraic("pu", equals=lambda s: s.Vd - s.V0, drives="line.rise", doc="DC voltage above that at t0")

    @quantity("pu", "reactive power drawn")
    def Q(s: Any) -> Any:
        return s.status * np.where(s.shorted == 1, 0.0, s.I * np.sqrt(np.maximum(s.Vdo * s.Vdo - s.Vd * s.Vd, TINY)))

    @guard("up", when={"failed": 0}, then={"failed": 1})
    def fails(s: Any) -> Any:
        """The extinction angle falls below gcrit, and commutation fails."""
        return s.cosg - np.cos(s.gcrit)

    @guard("down", when={"failed": 1}, then={"failed": 0}, delay="Trec")
    def succeeds(s: Any) -> Any:
        """The extinction angle would be above grec, and commutation succeeds again."""
        return s.cosg - np.cos(s.grec)

    @guard("down", when={"bypassed": 0}, then={"bypassed": 1})
    def bypasses(s: Any) -> Any:
        """The DC voltage falls below Vbypass, and the bypass is closed."""
        return s.Vm - s.Vbypass

    @guard("up", when={"bypassed": 1}, then={"bypassed": 0, "Vm": lambda s: s.V0}, delay="Tbypass")
    def opens(s: Any, bus: Any) -> Any:
        """The AC voltage is above Vunbypass, and the bypass is opened."""
        return bus.Vm - s.Vunbypass

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if not values["gcrit"] < values["grec"] < values["gamma0"] < values["gmax"] < np.pi:
            return "gcrit, grec, gamma0, gmax must be in this order, and below pi"
        return None if values["gamma0"] < values["bmax"] < np.pi else "bmax must be above gamma0, and below pi"

    def scheduled(s: Any, line: Any) -> Any:
        return s.V0 * line.I0, -line.I0 * np.sqrt(s.Vdo0 * s.Vdo0 - s.V0 * s.V0)

    def currents(s: Any, bus: Any) -> Any:
        return beside_voltage(bus, s.Vd * s.I / bus.Vm, -s.Q / bus.Vm)

    def start(s: Any, bus: Any, line: Any) -> Any:
        return {"n": s.Vdo0 / bus.Vm, "Vm": s.V0, "wanted_x": np.cos(s.gamma0),
                "cosb": np.cos(s.gamma0) - 2.0 * s.Rc * line.I0 / s.Vdo0}
