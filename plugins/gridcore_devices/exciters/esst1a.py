"""ESST1A: potential-source controlled-rectifier exciter, IEEE type ST1A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param
from gridcore_blocks import Lag, LeadLag, Limit, Washout

from .ac import check_order
from .exciter import SensingExciter


class ESST1A(SensingExciter):
    """IEEE type ST1A, IEEE Std 421.5-2005, section 7.1, as PSS/E's ESST1A::

        VI   = Vref + Vs - sensed - feedback, between VIMIN and VIMAX
        lead = VI (1 + s TC) / (1 + s TB) (1 + s TC1) / (1 + s TB1)
        VA   = lead KA / (1 + s TA), VAMIN <= VA <= VAMAX (non-windup)
        E    = VA + Vs - KLR max(0, IFD - ILR)
        Efd  = E between V VRMIN and V VRMAX - KC IFD
        feedback = E s KF / (1 + s TF)

    V is the terminal voltage, IFD PSS/E's XADIFD. ``VOS`` says where the stabilizing signal Vs enters: 1 at VI,
    2 behind VA. Limiters of under-excitation (the code UEL of the record) are not modelled.
    """

    VOS = Param("", 1.0, ge=1, le=2, doc="where the stabilizing signal enters: 1 regulator input, 2 its output")
    VIMAX = Param("pu", 99.0, doc="upper limit of the regulator input")
    VIMIN = Param("pu", -99.0, doc="lower limit of the regulator input")
    TC = Param("s", 0.0, ge=0, doc="first lead time constant")
    TB = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    TC1 = Param("s", 0.0, ge=0, doc="second lead time constant")
    TB1 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VAMAX = Param("pu", doc="upper limit of the regulator output")
    VAMIN = Param("pu", doc="lower limit of the regulator output")
    VRMAX = Param("pu", doc="upper limit of the field voltage at 1 pu terminal voltage")
    VRMIN = Param("pu", doc="lower limit of the field voltage at 1 pu terminal voltage")
    KC = Param("pu", 0.0, ge=0, doc="rectifier loading factor")
    KF = Param("pu", 0.0, ge=0, doc="rate feedback gain")
    TF = Param("s", 0.0, ge=0, doc="rate feedback time constant")
    KLR = Param("pu", 0.0, ge=0, doc="gain of the field current limiter")
    ILR = Param("pu", 0.0, doc="field current above which its limiter acts")
    VI = Limit(lambda s: s.Vref + np.where(s.VOS < 1.5, s.Vs, 0.0) - s.sensed - s.feedback, limits=("VIMIN", "VIMAX"),
               doc="regulator input")
    lead = LeadLag("VI", T1="TC", T2="TB", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="TC1", T2="TB1", doc="behind the second lead-lag")
    VA = Lag("lead1", K="KA", T="TA", limits=("VAMIN", "VAMAX"), init=1.0, doc="regulator output")
    limiter = Limit(lambda s, machine: s.KLR * (machine.XadIfd - s.ILR), limits=(0.0, None), settles=True,
                    doc="signal of the field current limiter")
    feedback = Washout(lambda s: s.VA + np.where(s.VOS < 1.5, 0.0, s.Vs) - s.limiter, K="KF", T="TF",
                       doc="rate feedback")
    ceiling = Limit("feedback_in", limits=(lambda s, bus: s.VRMIN * bus.Vm,
                                           lambda s, bus, machine: s.VRMAX * bus.Vm - s.KC * machine.XadIfd),
                    names=("VRMIN", "VRMAX"), doc="field voltage between its limits")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.ceiling, drives="machine.Efd", doc="field voltage")

    dyr = (None, "VOS", "TR", "VIMAX", "VIMIN", "TC", "TB", "TC1", "TB1", "KA", "TA", "VAMAX", "VAMIN", "VRMAX",
           "VRMIN", "KC", "KF", "TF", "KLR", "ILR")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VIMIN", "VIMAX"), ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX"))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        over = s.KLR * (machine.XadIfd - s.ILR)
        VA = s.Efd + np.where(over > 0, over, 0.0)
        return {"VA": VA, "lead_x": VA / s.KA, "lead1_x": VA / s.KA, "feedback_x": s.Efd, "sensed": bus.Vm,
                "Vref": bus.Vm + VA / s.KA}
