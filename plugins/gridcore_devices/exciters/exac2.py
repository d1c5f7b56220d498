"""EXAC2: high initial response alternator with rectifiers, IEEE type AC2 (1979)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.blocks import Lag, LeadLag, Limit, LowGate, Washout
from gridcore.device import Param

from .ac import ACExciter, alternator, check_order


class EXAC2(ACExciter):
    """IEEE type AC2 of 1979, as PSS/E's EXAC2.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981,
    and :class:`~gridcore_devices.exciters.ac.ACExciter`::

        lead  = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VA    = lead KA / (1 + s TA), VAMIN <= VA <= VAMAX (non-windup)
        inner = the smaller of VA - KH VFE and KL (VLR - VFE)
        VR    = KB inner between VRMIN and VRMAX
        feedback = VFE s KF / (1 + s TF)
    """

    TB = Param("s", 0.0, ge=0, doc="lag time constant of the regulator input; 0: no lead-lag")
    TC = Param("s", 0.0, ge=0, doc="lead time constant of the regulator input")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VAMAX = Param("pu", doc="upper limit of the regulator")
    VAMIN = Param("pu", doc="lower limit of the regulator")
    KB = Param("pu", gt=0, doc="gain of the second stage")
    VRMAX = Param("pu", doc="upper limit of the exciter's field voltage")
    VRMIN = Param("pu", doc="lower limit of the exciter's field voltage")
    KL = Param("pu", gt=0, doc="gain of the limiter of the exciter's field current")
    KH = Param("pu", ge=0, doc="feedback gain of the exciter's field current")
    KF = Param("pu", ge=0, doc="rate feedback gain")
    TF = Param("s", ge=0, doc="rate feedback time constant")
    VLR = Param("pu", doc="limit of the exciter's field current")
    lead = LeadLag(lambda s: s.Vref + s.Vs - s.sensed - s.feedback, T1="TC", T2="TB", doc="regulator input")
    VA = Lag("lead", K="KA", T="TA", limits=("VAMIN", "VAMAX"), init=1.0, doc="regulator output")
    inner = LowGate(lambda s: s.VA - s.KH * s.VFE, lambda s: s.KL * (s.VLR - s.VFE), settles=False,
                    doc="input of the second stage")
    VR = Limit(lambda s: s.KB * s.inner, limits=("VRMIN", "VRMAX"), doc="field voltage of the exciter")
    feedback = Washout("VFE", K="KF", T="TF", doc="rate feedback")

    dyr = ("TR", "TB", "TC", "KA", "TA", "VAMAX", "VAMIN", "KB", "VRMAX", "VRMIN", "TE", "KL", "KH", "KF", "TF", "KC",
           "KD", "KE", "VLR", "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VE, VFE = alternator(s, machine)
        VA = VFE / s.KB + s.KH * VFE
        return {"VE": VE, "VA": VA, "feedback_x": VFE, "lead_x": VA / s.KA, "sensed": bus.Vm,
                "Vref": bus.Vm + VA / s.KA}
