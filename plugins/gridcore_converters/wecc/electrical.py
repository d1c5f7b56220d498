"""What the electrical controls of converters have in common: from power to current commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Input, Param, PerUnit, Setpoint, quantity
from gridcore_blocks import Lag, Limit, RateLimitedLag

from .blocks import NEVER, Band, HeldPI, Window

NEARLY_NONE = 0.01  # pu: what is left by the current of priority when the limit of the other is rounded


def voltage(s: Any) -> Any:
    """The measured voltage as what is divided by it takes it."""
    return np.where(s.Vf > 0.01, s.Vf, 0.01)


def regulates_voltage(s: Any) -> Any:
    """Whether the inner control of the voltage gives the reactive current."""
    return s.QFlag == 1


def regulates_power(s: Any) -> Any:
    """Whether the outer control of the reactive power gives the reference of the inner one."""
    return np.logical_and(s.QFlag == 1, s.VFlag == 1)


def remaining(limit: Any, current: Any) -> Any:
    """What a current of priority leaves of the limit to the other: ``sqrt(limit^2 - current^2)``.

    The slope of the circle is infinite where nothing is left. Of the last hundredth of 1 pu a cubic makes a finite one,
    which joins the circle, and nothing, with their slopes: where the current of priority reaches the limit is no kink.
    """
    left = limit * limit - current * current
    part = left / NEARLY_NONE**2
    last = NEARLY_NONE * part * part * (2.5 - 1.5 * part)
    return np.where(part > 1, np.sqrt(np.where(part > 1, left, 1.0)), np.where(part > 0, last, 0.0))


class ElectricalControl(Device):
    """Base of REEC_A to REEC_D: everything but what the reactive current of a dip and the limits of currents are.

    WECC Solar Plant Dynamic Modeling Guidelines (2014); EPRI 3002027129 (2023)::

        Qasked Qext, or with PfFlag = 1 the measured power times the tangent of the angle at t0
        QFlag = 0   base = Qasked / Vf / (1 + s Tiq)
        QFlag = 1   base = (Kvp + Kvi / s) (Vset - Vf), between Iqmin and Iqmax, where
            VFlag = 1   Vset = (Kqp + Kqi / s) (Qset - Q), between Vmin and Vmax; Qset = Qasked between Qmin and Qmax
            VFlag = 0   Vset = Qasked + Vref1, between Vmin and Vmax
        Iqcmd  base + Iqinj, between Iqmin and Iqmax;  Iqinj = Kqv band(Vref - Vf), between Iql1 and Iqh1
        Ipcmd  Pord / Vf between Ipmin and Ipmax, Pord = Pref / (1 + s Tpord), its rate between dPmin and dPmax,
               Pmin <= Pord <= Pmax (non-windup)
        Vf     V / (1 + s Trv)

    All states of the control are held while V is below Vdip or above Vup, but for those of measurements. With
    PfFlag = 1 Qext says what the angle is at t0, and nothing afterwards. ``Vref0 = 0`` is the voltage at t0. The path
    that a flag does not choose is taken away.
    """

    attaches = "converter"
    naming = "REEC_{converter}"
    PfFlag = Param("", 0.0, ge=0, le=1, doc="1: constant power factor; 0: reactive power Qext")
    VFlag = Param("", 1.0, ge=0, le=1, doc="1: control of the reactive power sets the voltage; 0: Qext does")
    QFlag = Param("", 0.0, ge=0, le=1, doc="1: control of the voltage; 0: reactive power over the voltage")
    PQFlag = Param("", 0.0, ge=0, le=1, doc="priority at the limit of current: 0 reactive, 1 active")
    Vdip = Param(PerUnit("kV"), -99.0, doc="voltage below which states are held")
    Vup = Param(PerUnit("kV"), 99.0, doc="voltage above which states are held")
    Trv = Param("s", 0.02, ge=0, doc="time constant of the voltage measurement")
    dbd1 = Param(PerUnit("kV"), 0.0, le=0, doc="low end of the voltage's dead band")
    dbd2 = Param(PerUnit("kV"), 0.0, ge=0, doc="high end of the voltage's dead band")
    Kqv = Param("pu", 0.0, ge=0, doc="reactive current per voltage error")
    Iqh1 = Param(PerUnit("kA"), 1.1, gt=0, doc="upper limit of that current")
    Iql1 = Param(PerUnit("kA"), -1.1, lt=0, doc="lower limit of that current")
    Vref0 = Param(PerUnit("kV"), 0.0, ge=0, doc="voltage reference; 0: the voltage at t0")
    Tp = Param("s", 0.02, ge=0, doc="time constant of the power measurement")
    Qmax = Param(PerUnit("MVAr", "MVA"), 999.0, doc="upper limit of the reactive power")
    Qmin = Param(PerUnit("MVAr", "MVA"), -999.0, doc="lower limit of the reactive power")
    Vmax = Param(PerUnit("kV"), 1.1, doc="upper limit of the voltage reference")
    Vmin = Param(PerUnit("kV"), 0.9, doc="lower limit of the voltage reference")
    Kqp = Param("pu", 0.0, ge=0, doc="proportional gain of the control of the reactive power")
    Kqi = Param("1/s", 0.1, ge=0, doc="integral gain of the control of the reactive power")
    Kvp = Param("pu", 0.0, ge=0, doc="proportional gain of the control of the voltage")
    Kvi = Param("1/s", 40.0, ge=0, doc="integral gain of the control of the voltage")
    Tiq = Param("s", 0.02, ge=0, doc="time constant of the reactive current")
    dPmax = Param("pu/s", 999.0, gt=0, doc="fastest rise of the power order")
    dPmin = Param("pu/s", -999.0, lt=0, doc="fastest fall of the power order")
    Pmax = Param(PerUnit("MW", "MVA"), 1.0, doc="upper limit of the power order")
    Pmin = Param(PerUnit("MW", "MVA"), 0.0, doc="lower limit of the power order")
    Imax = Param(PerUnit("kA"), 1.3, gt=0, doc="largest current")
    Tpord = Param("s", 0.02, gt=0, doc="time constant of the power order")
    Vref1 = Param(PerUnit("kV"), 0.0, doc="what is added to Qext as voltage reference")
    Pref = Input("pu", doc="reference of the active power")
    Qext = Input("pu", doc="reference of the reactive power, or of the voltage with VFlag = 0")
    Vstart = Setpoint("pu", init=1.0, equals=lambda s: s.Vf, doc="voltage at t0")
    tangent = Setpoint("", doc="reactive over active power at t0",
                       equals=lambda s: np.where(s.Pf != 0, s.Qext / np.where(s.Pf != 0, s.Pf, 1.0), 0.0))
    Vf = Lag(lambda s, bus: bus.Vm, T="Trv", init=1.0, doc="measured voltage")
    Pf = Lag(lambda s, converter: converter.P, T="Tp", init=0.5, doc="measured power")
    dip = Window(lambda s, bus: bus.Vm, low="Vdip", high="Vup", doc="voltage that holds the control")

    @quantity("pu", "reference of the reactive power, or of the voltage with VFlag = 0, before limits")
    def Qasked(s: Any) -> Any:
        return np.where(s.PfFlag == 1, s.tangent * s.Pf, s.Qext)

    Qset = Limit(lambda s: np.where(regulates_power(s), s.Qasked, 0.0), doc="reference of the reactive power",
                 limits=(lambda s: np.where(regulates_power(s), s.Qmin, -NEVER),
                         lambda s: np.where(regulates_power(s), s.Qmax, NEVER)))
    outer = HeldPI(lambda s, converter: np.where(regulates_power(s), s.Qset - converter.Q, 0.0),
                   KP=lambda s: np.where(regulates_power(s), s.Kqp, 0.0),
                   KI=lambda s: np.where(regulates_power(s), s.Kqi, 0.0), hold="dip", init=1.0,
                   limits=(lambda s: np.where(regulates_power(s), s.Vmin, -NEVER),
                           lambda s: np.where(regulates_power(s), s.Vmax, NEVER)), doc="control of the reactive power")
    direct = Limit(lambda s: np.where(chooses_direct(s), s.Qasked + s.Vref1, 0.0),
                   limits=(lambda s: np.where(chooses_direct(s), s.Vmin, -NEVER),
                           lambda s: np.where(chooses_direct(s), s.Vmax, NEVER)), doc="voltage reference without it")

    @quantity("pu", "voltage reference")
    def Vset(s: Any) -> Any:
        return np.where(s.VFlag == 1, s.outer, s.direct)

    @quantity("pu", "voltage of the bus that is regulated")
    def Vregulated(s: Any, bus: Any) -> Any:
        return bus.Vm

    @quantity("pu", "voltage that is controlled")
    def Vinner(s: Any) -> Any:
        return s.Vf

    inner = HeldPI(lambda s: np.where(regulates_voltage(s), s.Vset - s.Vinner, 0.0),
                   KP=lambda s: np.where(regulates_voltage(s), s.Kvp, 0.0),
                   KI=lambda s: np.where(regulates_voltage(s), s.Kvi, 0.0), hold="dip",
                   limits=(lambda s: np.where(regulates_voltage(s), s.Iqmin, -NEVER),
                           lambda s: np.where(regulates_voltage(s), s.Iqmax, NEVER)), doc="control of the voltage")
    quotient = Lag(lambda s: np.where(np.logical_and(s.dip != 0, s.Tiq > 0), s.quotient, s.Qasked / voltage(s)),
                   T="Tiq", doc="reactive power over voltage")
    band = Band(lambda s: np.where(s.Vref0 > 0, s.Vref0, s.Vstart) - s.Vf, low=lambda s: s.dbd1, high=lambda s: s.dbd2,
                doc="voltage error")
    support = Limit(lambda s: s.Kqv * s.band, limits=("Iql1", "Iqh1"), doc="reactive current of the voltage error")

    @quantity("pu", "reactive current of the voltage error that is added")
    def Iqinj(s: Any) -> Any:
        return s.support

    @quantity("pu", "reactive current that is asked for")
    def Iqwanted(s: Any) -> Any:
        return np.where(regulates_voltage(s), s.inner, s.quotient) + s.Iqinj

    @quantity("", "1 where the limits of the control of the voltage are not those of the whole reactive current")
    def adds(s: Any) -> Any:
        return np.where(np.logical_or(s.QFlag == 0, s.Iqinj != 0), 1.0, 0.0)

    @quantity("pu", "active current that is asked for")
    def Ipwanted(s: Any) -> Any:
        return s.Pord / voltage(s)

    total = Limit("Iqwanted", limits=(lambda s: np.where(s.adds != 0, s.Iqmin, -NEVER),
                                      lambda s: np.where(s.adds != 0, s.Iqmax, NEVER)), doc="reactive current")
    Pord = RateLimitedLag(lambda s: np.where(s.dip != 0, s.Pord, s.Pwanted), T="Tpord", rates=("dPmin", "dPmax"),
                          limits=("Pmin", "Pmax"), init=0.5, doc="power order")
    current = Limit("Ipwanted", limits=("Ipmin", "Ipmax"), doc="active current")
    Ipcmd = Algebraic("pu", init=0.5, equals=lambda s: s.current, drives="converter.Ipcmd",
                      doc="active current command")
    Iqcmd = Algebraic("pu", equals=lambda s: s.total, drives="converter.Iqcmd", doc="reactive current command")

    @quantity("pu", "reference of the power order")
    def Pwanted(s: Any) -> Any:
        return s.Pref

    @quantity("pu", "what the active current leaves to the reactive one")
    def Iqleft(s: Any) -> Any:
        return np.where(s.PQFlag == 1, remaining(s.Imax, s.Ipcmd), s.Imax)

    @quantity("pu", "what the reactive current leaves to the active one")
    def Ipleft(s: Any) -> Any:
        return np.where(s.PQFlag == 1, s.Imax, remaining(s.Imax, s.Iqcmd))

    @quantity("pu", "upper limit of the reactive current")
    def Iqmax(s: Any) -> Any:
        return s.Iqleft

    @quantity("pu", "upper limit of the active current")
    def Ipmax(s: Any) -> Any:
        return s.Ipleft

    @quantity("pu", "lower limit of the reactive current")
    def Iqmin(s: Any) -> Any:
        return -s.Iqmax

    @quantity("pu", "lower limit of the active current")
    def Ipmin(s: Any) -> Any:
        return 0.0 * s.Ipmax

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order."""
        for low, high in (("Qmin", "Qmax"), ("Vmin", "Vmax"), ("Pmin", "Pmax"), ("Vdip", "Vup")):
            if not values[low] < values[high]:
                return f"{low} must be below {high}"
        if values["QFlag"] == 1 and not (values["Kvp"] or values["Kvi"]):
            return "QFlag = 1 needs a gain, Kvp or Kvi"
        if values["QFlag"] == values["VFlag"] == 1 and not (values["Kqp"] or values["Kqi"]):
            return "VFlag = 1 needs a gain, Kqp or Kqi"
        return None

    def start(s: Any, bus: Any, converter: Any) -> Any:
        P, Q, V = converter.P, converter.Q, bus.Vm
        return {"Vf": V, "Vstart": V, "outer_x": s.Vregulated, **dict.fromkeys(("Pf", "Pord", "Pref"), P),
                "quotient": Q / V, "inner_x": s.Iqcmd,
                "Qext": np.where((s.QFlag == 1) & (s.VFlag == 0), s.Vregulated - s.Vref1, Q),
                "tangent": np.where(P != 0, Q / np.where(P != 0, P, 1.0), 0.0)}


def chooses_direct(s: Any) -> Any:
    """Whether the voltage reference is what is asked for."""
    return np.logical_and(s.QFlag == 1, s.VFlag == 0)

