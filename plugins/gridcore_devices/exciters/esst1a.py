"""ESST1A: potential-source controlled-rectifier exciter, IEEE type ST1A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param
from gridcore_blocks import HighGate, Lag, LeadLag, Limit, LowGate, Washout

from .ac import check_order
from .exciter import OFF, Gated, SensingExciter, added


class ESST1A(Gated, SensingExciter):
    """IEEE type ST1A, IEEE Std 421.5-2005, section 7.1, as PSS/E's ESST1A::

        VI   = Vref + Vs + VUEL - sensed - feedback, between VIMIN and VIMAX
        lead = first (1 + s TC) / (1 + s TB) (1 + s TC1) / (1 + s TB1)
        first = VI, or VUEL where that is higher
        VA   = lead KA / (1 + s TA), VAMIN <= VA <= VAMAX (non-windup)
        E    = VA + Vs - KLR max(0, IFD - ILR)
        gate = E, or VUEL where that is higher, or VOEL where that is lower
        Efd  = gate between V VRMIN and V VRMAX - KC IFD
        feedback = E s KF / (1 + s TF)

    V is the terminal voltage, IFD PSS/E's XADIFD. ``VOS`` says where the stabilizing signal Vs enters: 1 at VI,
    2 behind VA; ``UEL`` where the
    signal of a limiter of under-excitation does: 2 at the first gate, 3 at the second, otherwise at VI.
    """

    UEL = Param("", 1.0, ge=0, le=3, doc="where under-excitation limiters enter: 2, 3 the gates, otherwise the input")
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
    VI = Limit(lambda s: (s.Vref + np.where(s.VOS < 1.5, s.Vs, 0.0) + added(s.VUEL, s.UEL < 1.5) - s.sensed
                          - s.feedback), limits=("VIMIN", "VIMAX"), doc="regulator input")
    first = HighGate("VI", lambda s: np.where(np.abs(s.UEL - 2.0) < 0.5, s.VUEL, -OFF), settles=False,
                     doc="regulator input, or the under-excitation limiter's signal")
    lead = LeadLag("first", T1="TC", T2="TB", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="TC1", T2="TB1", doc="behind the second lead-lag")
    VA = Lag("lead1", K="KA", T="TA", limits=("VAMIN", "VAMAX"), init=1.0, doc="regulator output")
    limiter = Limit(lambda s, machine: s.KLR * (machine.XadIfd - s.ILR), limits=(0.0, None), settles=True,
                    doc="signal of the field current limiter")
    feedback = Washout(lambda s: s.VA + np.where(s.VOS < 1.5, 0.0, s.Vs) - s.limiter, K="KF", T="TF",
                       doc="rate feedback")
    above = HighGate("feedback_in", lambda s: np.where(s.UEL > 2.5, s.VUEL, -OFF), settles=False,
                     doc="field voltage asked for, or the under-excitation limiter's signal")
    gate = LowGate("above", "VOEL", settles=False, doc="field voltage before its limits")
    ceiling = Limit("gate", limits=(lambda s, bus: s.VRMIN * bus.Vm,
                                           lambda s, bus, machine: s.VRMAX * bus.Vm - s.KC * machine.XadIfd),
                    names=("VRMIN", "VRMAX"), doc="field voltage between its limits")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.ceiling, drives="machine.Efd", doc="field voltage")

    dyr = ("UEL", "VOS", "TR", "VIMAX", "VIMIN", "TC", "TB", "TC1", "TB1", "KA", "TA", "VAMAX", "VAMIN", "VRMAX",
           "VRMIN", "KC", "KF", "TF", "KLR", "ILR")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VIMIN", "VIMAX"), ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX"))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        over = s.KLR * (machine.XadIfd - s.ILR)
        VA = s.Efd + np.where(over > 0, over, 0.0)
        return {"VA": VA, "lead_x": VA / s.KA, "lead1_x": VA / s.KA, "feedback_x": s.Efd, "sensed": bus.Vm,
                "Vref": bus.Vm + VA / s.KA}
