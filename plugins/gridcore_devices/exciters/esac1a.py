"""ESAC1A: alternator with rectifiers, IEEE type AC1A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.blocks import Lag, LeadLag, Limit, Washout
from gridcore.device import Param

from .ac import ACExciter, alternator, check_order


class ESAC1A(ACExciter):
    """IEEE type AC1A, IEEE Std 421.5-2005, section 6.1, as PSS/E's ESAC1A.

    :class:`~gridcore_devices.exciters.ac.ACExciter` with the regulator ::

        lead = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VA   = lead KA / (1 + s TA), VAMIN <= VA <= VAMAX (non-windup)
        VR   = VA between VRMIN and VRMAX
        feedback = VFE s KF / (1 + s TF)
    """

    TB = Param("s", 0.0, ge=0, doc="lag time constant of the regulator input; 0: no lead-lag")
    TC = Param("s", 0.0, ge=0, doc="lead time constant of the regulator input")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VAMAX = Param("pu", doc="upper limit of the regulator")
    VAMIN = Param("pu", doc="lower limit of the regulator")
    VRMAX = Param("pu", doc="upper limit of the exciter's field voltage")
    VRMIN = Param("pu", doc="lower limit of the exciter's field voltage")
    KF = Param("pu", ge=0, doc="rate feedback gain")
    TF = Param("s", ge=0, doc="rate feedback time constant")
    lead = LeadLag(lambda s: s.Vref + s.Vs - s.sensed - s.feedback, T1="TC", T2="TB", doc="regulator input")
    VA = Lag("lead", K="KA", T="TA", limits=("VAMIN", "VAMAX"), init=1.0, doc="regulator output")
    VR = Limit("VA", limits=("VRMIN", "VRMAX"), doc="field voltage of the exciter")
    feedback = Washout("VFE", K="KF", T="TF", doc="rate feedback")

    dyr = ("TR", "TB", "TC", "KA", "TA", "VAMAX", "VAMIN", "TE", "KF", "TF", "KC", "KD", "KE", "E1", "SE1", "E2", "SE2",
           "VRMAX", "VRMIN")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VE, VFE = alternator(s, machine)
        return {"VE": VE, "VA": VFE, "feedback_x": VFE, "lead_x": VFE / s.KA, "sensed": bus.Vm,
                "Vref": bus.Vm + VFE / s.KA}
