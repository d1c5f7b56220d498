"""REGCB1: the converter as a voltage behind its impedance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Input, Param, PerUnit, Setpoint, Source, quantity
from gridcore_blocks import Lag, Limit, RateLimitedLag
from gridcore_devices.branches.pi import admittance, times
from gridcore_devices.power import injected_power

from .blocks import NEVER
from .electrical import remaining, voltage


class REGCB1(Source):
    """Renewable energy generator/converter, WECC's REGC_B, as PSS/E's REGCB1.

    EPRI 3002027129 (2023), REGC_B; Ramasubramanian et al., IEEE Trans. Power Syst. 32 (2017) 583::

        Ip = 1 / (1 + s Tg) Ipcmd, with RateFlag = 1 times the voltage behind Tfltr before the lag and over it behind;
             its rate at most Rrpwr, or where P < 0 at t0 at least -Rrpwr
        Iq = 1 / (1 + s Tg) Iqcmd, its rate at most Iqrmax where Q > 0 at t0, at least Iqrmin where Q < 0
        Ed + j Eq = (|V| + (Rs + j Xdp)(Ip - j Iq)) / (1 + s Te)
        I  = ((Ed + j Eq) V / |V| - V) / (Rs + j Xdp)

    The commands are limited to Imax together, with PQFlag = 1 the reactive one by what the active one leaves. Currents
    are counted positive when they inject power. ``Rs + j Xdp`` is ZSORCE of the power flow. The record is that of
    InterPSS.
    """

    source = False
    dyr = ("RateFlag", "PQFlag", "Tg", "Tfltr", "Iqrmax", "Iqrmin", "Rrpwr", "Te", "Imax")
    RateFlag = Param("", 0.0, ge=0, le=1, doc="what rises at most at Rrpwr: 0 the active current, 1 the power")
    PQFlag = Param("", 0.0, ge=0, le=1, doc="priority at the limit of current: 0 reactive, 1 active")
    Tg = Param("s", 0.02, gt=0, doc="time constant of the converter")
    Tfltr = Param("s", 0.02, ge=0, doc="time constant of the voltage's measurement")
    Iqrmax = Param("pu/s", 999.0, gt=0, doc="fastest rise of the reactive current")
    Iqrmin = Param("pu/s", -999.0, lt=0, doc="fastest fall of the reactive current")
    Rrpwr = Param("pu/s", 10.0, gt=0, doc="fastest rise of the active current or power")
    Te = Param("s", 0.01, ge=0, doc="time constant of the inner control")
    Imax = Param(PerUnit("kA"), 1.3, gt=0, doc="largest current")
    Rs = Param(PerUnit("ohm"), 0.0, ge=0, doc="resistance of the source")
    Xdp = Param(PerUnit("ohm"), 0.1, gt=0, doc="reactance of the source")
    Ipcmd = Input("pu", doc="active current command")
    Iqcmd = Input("pu", doc="reactive current command, positive to inject")
    Pstart = Setpoint("pu", init=0.5, equals=lambda s: s.P, doc="active power injected at t0, on the rating")
    Qstart = Setpoint("pu", equals=lambda s: s.Q, doc="reactive power injected at t0, on the rating")
    Vf = Lag(lambda s, bus: bus.Vm, T="Tfltr", init=1.0, doc="measured voltage")
    ip = Limit("Ipcmd", limits=(lambda s: -s.ipmax, "ipmax"), doc="active current command within Imax")
    iq = Limit("Iqcmd", limits=(lambda s: -s.iqmax, "iqmax"), doc="reactive current command within Imax")
    Ipgiven = Algebraic("pu", init=0.5, equals=lambda s: s.ip, doc="active current command that is followed")
    Iqgiven = Algebraic("pu", equals=lambda s: s.iq, doc="reactive current command that is followed")

    @quantity("pu", "limit of the active current command")
    def ipmax(s: Any) -> Any:
        return np.where(s.PQFlag == 1, s.Imax, remaining(s.Imax, s.Iqgiven))

    @quantity("pu", "limit of the reactive current command")
    def iqmax(s: Any) -> Any:
        return np.where(s.PQFlag == 1, remaining(s.Imax, s.Ipgiven), s.Imax)

    @quantity("pu", "1, or the voltage where the power has the limited rate")
    def factor(s: Any) -> Any:
        return np.where(s.RateFlag == 1, voltage(s), 1.0)

    x = RateLimitedLag(lambda s: s.Ipgiven * s.factor, T="Tg", init=0.5, doc="active current or power", rates=(
        lambda s: np.where(s.Pstart < 0, -s.Rrpwr, -NEVER), lambda s: np.where(s.Pstart < 0, NEVER, s.Rrpwr)))
    Iq = RateLimitedLag("Iqgiven", T="Tg", doc="reactive current", rates=(
        lambda s: np.where(s.Qstart < 0, s.Iqrmin, -NEVER), lambda s: np.where(s.Qstart > 0, s.Iqrmax, NEVER)))

    @quantity("pu", "active current")
    def Ip(s: Any) -> Any:
        return s.x / s.factor

    Ed = Lag(lambda s, bus: bus.Vm + s.Rs * s.Ip + s.Xdp * s.Iq, T="Te", init=1.0, doc="voltage of the source in phase")
    Eq = Lag(lambda s: s.Xdp * s.Ip - s.Rs * s.Iq, T="Te", doc="voltage of the source a quarter ahead")

    def currents(s: Any, bus: Any) -> Any:
        re = (s.Ed * bus.Vr - s.Eq * bus.Vi) / bus.Vm - bus.Vr
        im = (s.Ed * bus.Vi + s.Eq * bus.Vr) / bus.Vm - bus.Vi
        return times(*admittance(s.Rs, s.Xdp), re, im)

    P, Q = injected_power(currents)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse the reactance that stands in a power flow for none."""
        return None if values["Xdp"] < 10 else "Xdp must be the reactance of the source"

    def start(s: Any, bus: Any, power: Any) -> Any:
        Ip, Iq = power.P / bus.Vm, power.Q / bus.Vm
        return {**dict.fromkeys(("Ipcmd", "Ipgiven"), Ip), **dict.fromkeys(("Iqcmd", "Iqgiven", "Iq"), Iq),
                "x": np.where(s.RateFlag == 1, power.P, Ip), "Qstart": power.Q, "Pstart": power.P, "Vf": bus.Vm,
                "Ed": bus.Vm + s.Rs * Ip + s.Xdp * Iq, "Eq": s.Xdp * Ip - s.Rs * Iq}
