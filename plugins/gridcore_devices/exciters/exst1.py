"""EXST1: potential-source controlled-rectifier exciter, IEEE type ST1 (1979)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Algebraic, Param
from gridcore_blocks import Lag, LeadLag, Limit, Washout

from .ac import check_order
from .exciter import Limited, SensingExciter


class EXST1(Limited, SensingExciter):
    """IEEE type ST1 of 1979, as PSS/E's EXST1.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981::

        VI   = Vref + Vs - sensed - feedback, between VIMIN and VIMAX
        lead = VI (1 + s TC) / (1 + s TB)
        VA   = lead KA / (1 + s TA)
        Efd  = VA between V VRMIN - KC IFD and V VRMAX - KC IFD
        feedback = VA s KF / (1 + s TF)

    V is the terminal voltage, IFD PSS/E's XADIFD. The limits are windup limits: VA goes on beyond them.
    """

    VIMAX = Param("pu", 99.0, doc="upper limit of the regulator input")
    VIMIN = Param("pu", -99.0, doc="lower limit of the regulator input")
    TC = Param("s", 0.0, ge=0, doc="lead time constant")
    TB = Param("s", 0.0, ge=0, doc="lag time constant; 0: no lead-lag")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VRMAX = Param("pu", doc="upper limit of the field voltage at 1 pu terminal voltage")
    VRMIN = Param("pu", doc="lower limit of the field voltage at 1 pu terminal voltage")
    KC = Param("pu", 0.0, ge=0, doc="rectifier loading factor")
    KF = Param("pu", 0.0, ge=0, doc="rate feedback gain")
    TF = Param("s", 0.0, ge=0, doc="rate feedback time constant")
    VI = Limit(lambda s: s.wanted - s.sensed - s.feedback, limits=("VIMIN", "VIMAX"), doc="regulator input")
    lead = LeadLag("VI", T1="TC", T2="TB", doc="behind the lead-lag")
    VA = Lag("lead", K="KA", T="TA", init=1.0, doc="regulator output")
    feedback = Washout("VA", K="KF", T="TF", doc="rate feedback")
    ceiling = Limit("VA", limits=(lambda s, bus, machine: s.VRMIN * bus.Vm - s.KC * machine.XadIfd,
                                  lambda s, bus, machine: s.VRMAX * bus.Vm - s.KC * machine.XadIfd),
                    names=("VRMIN", "VRMAX"), doc="field voltage between its limits")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.ceiling, drives="machine.Efd", doc="field voltage")

    dyr = ("TR", "VIMAX", "VIMIN", "TC", "TB", "KA", "TA", "VRMAX", "VRMIN", "KC", "KF", "TF")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VIMIN", "VIMAX"), ("VRMIN", "VRMAX"))

    def start(s: Any, bus: Any) -> Any:
        error = s.Efd / s.KA
        return {"VA": s.Efd, "lead_x": error, "feedback_x": s.Efd, "sensed": bus.Vm, "Vref": bus.Vm + error}
