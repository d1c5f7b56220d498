"""ST2CUT: stabilizer with two inputs and a window of terminal voltage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param, PerUnit, Setpoint, quantity
from gridcore_blocks import Lag, LeadLag, Limit

from .signals import Cutting, Listener, WashoutOrLag, heard, measures


class ST2CUT(Listener, Cutting):
    """Stabilizer with two inputs. PSS/E model library, ST2CUT; IEC 61970-302, Pss2ST::

        mixed  = u1 K1 / (1 + s T1) + u2 K2 / (1 + s T2)
        washed = mixed s T3 / (1 + s T4), mixed / (1 + s T4) where T3 = 0
        lead   = washed (1 + s T5)/(1 + s T6) (1 + s T7)/(1 + s T8) (1 + s T9)/(1 + s T10)
        Vs     = lead between LSMIN and LSMAX; 0 while the terminal voltage is above V0 + VCU or below V0 + VCL

    V0 is the terminal voltage at t0. The inputs by their codes ICS1 and ICS2 are those of
    :class:`~gridcore_devices.stabilizers.signals.Listener`. A lead-lag whose denominator is zero is left out; VCU or
    VCL of zero switches that limit off. Remote buses are not supported.
    """

    dyr = ("ICS1", "RB1", "ICS2", "RB2", "K1", "K2", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8", "T9", "T10",
           "LSMAX", "LSMIN", "VCU", "VCL")
    ICS1 = Param("", 1.0, ge=1, le=6, doc="code of the first input")
    RB1 = Param("", 0.0, ge=0, le=0, doc="number of a remote bus of the first input; 0: that of the machine")
    ICS2 = Param("", 0.0, ge=0, le=6, doc="code of the second input; 0: none")
    RB2 = Param("", 0.0, ge=0, le=0, doc="number of a remote bus of the second input; 0: that of the machine")
    K1 = Param("pu", doc="gain of the first input")
    K2 = Param("pu", 0.0, doc="gain of the second input")
    T1 = Param("s", 0.0, ge=0, doc="time constant of the first input")
    T2 = Param("s", 0.0, ge=0, doc="time constant of the second input")
    T3 = Param("s", 10.0, ge=0, doc="time constant of the washout's numerator; 0: no washout")
    T4 = Param("s", 10.0, gt=0, doc="time constant of the washout's denominator")
    T5 = Param("s", 0.0, ge=0, doc="first lead time constant")
    T6 = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    T7 = Param("s", 0.0, ge=0, doc="second lead time constant")
    T8 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    T9 = Param("s", 0.0, ge=0, doc="third lead time constant")
    T10 = Param("s", 0.0, ge=0, doc="third lag time constant; 0: no lead-lag")
    LSMAX = Param("pu", 0.1, doc="upper limit of the signal")
    LSMIN = Param("pu", -0.1, doc="lower limit of the signal")
    VCL = Param(PerUnit("kV"), 0.0, le=0, doc="change of the terminal voltage below which the signal is cut; 0: none")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="terminal voltage at t0")
    first = Lag(lambda s, bus, machine: heard(s, s.ICS1, bus, machine), K="K1", T="T1", doc="first input, filtered")
    second = Lag(lambda s, bus, machine: heard(s, s.ICS2, bus, machine), K="K2", T="T2", doc="second input, filtered")
    washed = WashoutOrLag(lambda s: s.first + s.second, T1="T3", T2="T4", doc="washout")
    lead = LeadLag("washed", T1="T5", T2="T6", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="T7", T2="T8", doc="behind the second lead-lag")
    lead2 = LeadLag("lead1", T1="T9", T2="T10", doc="behind the third lead-lag")
    limited = Limit("lead2", limits=("LSMIN", "LSMAX"), settles=True, doc="signal between its limits")
    Vs = Algebraic("pu", equals=lambda s: np.where(s.cut == 0, s.limited, 0.0), drives="exciter.Vs",
                   doc="stabilizing signal")

    @quantity("s", "time constant of the measured bus voltage")
    def Tv(s: Any) -> Any:
        return measures(s, s.ICS1, s.ICS2)

    @quantity("pu", "terminal voltage above its window")
    def over(s: Any, bus: Any) -> Any:
        return bus.Vm - s.V0 - s.VCU

    @quantity("pu", "terminal voltage above the lower end of its window")
    def under(s: Any, bus: Any) -> Any:
        return bus.Vm - s.V0 - s.VCL

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if any(values[name] != round(values[name]) for name in ("ICS1", "ICS2")):
            return "ICS1 and ICS2 must be whole numbers"
        return None if values["LSMIN"] < values["LSMAX"] else "LSMIN must be below LSMAX"

    def start(s: Any, bus: Any) -> Any:
        return {"xr": bus.Vr, "xi": bus.Vi, "V0": bus.Vm}
