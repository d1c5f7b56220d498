"""EXAC1: alternator with rectifiers, IEEE type AC1 (1979)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.blocks import Lag, LeadLag, Washout
from gridcore.device import Param

from .ac import ACExciter, alternator, check_order


class EXAC1(ACExciter):
    """IEEE type AC1 of 1979, as PSS/E's EXAC1.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981,
    and :class:`~gridcore_devices.exciters.ac.ACExciter`::

        lead = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VR   = lead KA / (1 + s TA), VRMIN <= VR <= VRMAX (non-windup)
        feedback = VFE s KF / (1 + s TF)
    """

    TB = Param("s", 0.0, ge=0, doc="lag time constant of the regulator input; 0: no lead-lag")
    TC = Param("s", 0.0, ge=0, doc="lead time constant of the regulator input")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VRMAX = Param("pu", doc="upper limit of the regulator output")
    VRMIN = Param("pu", doc="lower limit of the regulator output")
    KF = Param("pu", ge=0, doc="rate feedback gain")
    TF = Param("s", ge=0, doc="rate feedback time constant")
    lead = LeadLag(lambda s: s.Vref + s.Vs - s.sensed - s.feedback, T1="TC", T2="TB", doc="regulator input")
    VR = Lag("lead", K="KA", T="TA", limits=("VRMIN", "VRMAX"), init=1.0, doc="regulator output")
    feedback = Washout("VFE", K="KF", T="TF", doc="rate feedback")

    dyr = ("TR", "TB", "TC", "KA", "TA", "VRMAX", "VRMIN", "TE", "KF", "TF", "KC", "KD", "KE", "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VE, VFE = alternator(s, machine)
        return {"VE": VE, "VR": VFE, "feedback_x": VFE, "lead_x": VFE / s.KA, "sensed": bus.Vm,
                "Vref": bus.Vm + VFE / s.KA}
