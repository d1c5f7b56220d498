"""REECA1: electrical control of a wind turbine."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Input, Param, PerUnit, quantity

from .blocks import After, Window
from .tables import LimitsByVoltage, record


def hold(s: Any) -> Any:
    """How long the reactive current after a dip is another."""
    return np.where(s.Thld < 0, -s.Thld, s.Thld)


class HoldingControl(LimitsByVoltage):
    """Base of REEC_A and REEC_D: what goes on after a dip for a time, and the speed of a generator.

    A subclass says what a dip is, and what the reactive current is in it and afterwards.
    """

    PFlag = Param("", 0.0, ge=0, le=1, doc="1: Pref is a torque, multiplied by the speed")
    Iqfrz = Param(PerUnit("kA"), 0.0, doc="reactive current that is added for Thld after a dip")
    Thld = Param("s", 0.0, doc="how long after a dip; negative: that the dip's goes on")
    Thld2 = Param("s", 0.0, ge=0, doc="how long the limit of the active current is held after a dip")
    Ipheld = Param("pu", 0.0, doc="what it is held at")
    rest = Param("s", 0.0, doc="clocks at t0")
    speed = Input(PerUnit("Hz"), 1.0, doc="speed of the generator")
    Padd = Input("pu", 0.0, doc="what a torque control adds to the reference of the active power")
    after = After(time=hold, rest="rest", doc="reactive current after a dip")
    limited = After(time="Thld2", rest="rest", doc="limit of the active current held after a dip")

    @quantity("pu", "reference of the power order")
    def Pwanted(s: Any) -> Any:
        return (s.Pref + s.Padd) * np.where(s.PFlag == 1, s.speed, 1.0)

    @quantity("pu", "upper limit of the active current")
    def Ipmax(s: Any) -> Any:
        return np.where(s.limited != 0, s.Ipheld, s.Iptop)


class REECA1(HoldingControl):
    """Electrical control REEC_A, as PSS/E's REECA1.

    WECC Wind Plant Dynamic Modeling Guidelines (2014), REEC_A; EPRI 3002027129 (2023).
    :class:`~gridcore_converters.wecc.electrical.ElectricalControl` with tables of limits, and::

        Iqinj      in a dip that of the voltage error; Thld seconds after it Iqfrz, with a negative Thld -Thld seconds
                   that of the voltage error still; zero otherwise
        Ipmax      what it was at the end of a dip, for Thld2 seconds
        Pord       with PFlag = 1 of Pref times the speed of the generator

    The reactive current of a dip may end the dip, which takes it away again. Other programs go to and fro there once a
    step; here a dip lasts for such a step at least, Tdip.
    """

    dyr = (None, "PfFlag", "VFlag", "QFlag", "PFlag", "PQFlag", "Vdip", "Vup", "Trv", "dbd1", "dbd2", "Kqv", "Iqh1",
           "Iql1", "Vref0", "Iqfrz", "Thld", "Thld2", "Tp", "Qmax", "Qmin", "Vmax", "Vmin", "Kqp", "Kqi", "Kvp", "Kvi",
           "Vref1", "Tiq", "dPmax", "dPmin", "Pmax", "Pmin", "Imax", "Tpord", *record(4))
    Tdip = Param("s", 1 / 240, ge=0, doc="least time of a dip")
    dip = Window(lambda s, bus: bus.Vm, low="Vdip", high="Vup", out={"after_on": 0, "limited_on": 0}, back={
        **After.starts("after", hold), **After.starts("limited", lambda s: s.Thld2), "Ipheld": lambda s: s.Ipmax},
        least="Tdip", rest="rest", doc="voltage that holds the control")

    @quantity("pu", "reactive current of the voltage error that is added")
    def Iqinj(s: Any) -> Any:
        later = np.where(s.after != 0, np.where(s.Thld > 0, s.Iqfrz, s.support), 0.0)
        return np.where(s.dip != 0, s.support, later)
