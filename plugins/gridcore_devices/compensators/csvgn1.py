"""CSVGN1: static var compensator, a controlled reactor beside a capacitor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Input, Param, Setpoint, Source
from gridcore_blocks import Lag, LeadLag

from ..power import injected_power


class CSVGN1(Source):
    """Static var compensator with thyristor-controlled reactor. PSS/E model library, CSVGN1;
    IEEE Working Group, Static var compensator models for power flow and dynamic performance simulation, IEEE Trans.
    Power Syst. 9 (1994)::

        lead = K (V - Vref - Vs) (1 + s T1) / (1 + s T3)
        sum  = lead (1 + s T2) / (1 + s T4), between VMIN and VMAX
        y    = sum / (1 + s T5), RMIN/RBASE <= y <= 1 (non-windup)
        B    = CBASE - y RBASE

    ``y`` is the part of the reactor that conducts, RBASE its rating, the base MBASE of the generator whose place it
    takes, and B the susceptance, in Mvar at 1 pu voltage. The limits of the sum hold the lag of its lead-lag as well.
    What active power the power flow gives it is drawn by a constant conductance G: zero for a compensator.
    """

    source = False
    dyr = ("K", "T1", "T2", "T3", "T4", "T5", "RMIN", "VMAX", "VMIN", "CBASE")
    K = Param("pu", gt=0, doc="gain")
    T1 = Param("s", 0.0, ge=0, doc="first lead time constant")
    T2 = Param("s", 0.0, ge=0, doc="second lead time constant")
    T3 = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    T4 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    T5 = Param("s", 0.0, ge=0, doc="time constant of the thyristors")
    RMIN = Param("MVA", 0.0, doc="least reactive power of the reactor")
    VMAX = Param("pu", 1.0, doc="upper limit of the control")
    VMIN = Param("pu", 0.0, doc="lower limit of the control")
    CBASE = Param("MVA", doc="rating of the capacitor")
    Vs = Input("pu", 0.0, doc="what is added to the reference")
    Vref = Setpoint("pu", init=1.0, doc="voltage reference")
    G = Setpoint("pu", doc="conductance, on the rating")
    lead = LeadLag(lambda s, bus: bus.Vm - s.Vref - s.Vs, K="K", T1="T1", T2="T3", doc="behind the first lead-lag")
    sum = LeadLag("lead", T1="T2", T2="T4", limits=("VMIN", "VMAX"), doc="control")
    y = Lag("sum", T="T5", limits=(lambda s: s.RMIN / s.Sn, 1.0), names=("RMIN", "RBASE"), init=0.5,
            doc="part of the reactor that conducts")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["VMIN"] < values["VMAX"] else "VMIN must be below VMAX"

    def currents(s: Any, bus: Any) -> Any:
        B = s.CBASE / s.Sn - s.y
        return B * bus.Vi - s.G * bus.Vr, -B * bus.Vr - s.G * bus.Vi

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        y = s.CBASE / s.Sn - power.Q / bus.V2
        return {"G": -power.P / bus.V2, "y": y, "sum_x": y, "lead_x": y, "Vref": bus.Vm - y / s.K}
