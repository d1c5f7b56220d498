"""ESAC6A: alternator with rectifiers and electronic regulator, IEEE type AC6A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Param
from gridcore_blocks import LeadLag, Limit

from .ac import ACExciter, alternator, check_order
from .exciter import Limited


class ESAC6A(Limited, ACExciter):
    """IEEE type AC6A, IEEE Std 421.5-2005, section 6.6, as PSS/E's ESAC6A.

    :class:`~gridcore_devices.exciters.ac.ACExciter` with the regulator ::

        lead = (Vref + Vs + VOEL + VUEL - sensed) KA (1 + s TK) / (1 + s TA)
        VA   = lead (1 + s TC) / (1 + s TB), between VAMIN and VAMAX
        over = KH (VFE - VFELIM), between 0 and VHMAX
        VH   = over (1 + s TJ) / (1 + s TH)
        VR   = VA - VH between V VRMIN and V VRMAX

    The limits of VA hold the lag of its lead-lag as well (non-windup).
    """

    KA = Param("pu", gt=0, doc="gain of the first stage")
    TA = Param("s", ge=0, doc="lag time constant of the first stage")
    TK = Param("s", 0.0, ge=0, doc="lead time constant of the first stage")
    TB = Param("s", 0.0, ge=0, doc="lag time constant of the second stage; 0: no lead-lag")
    TC = Param("s", 0.0, ge=0, doc="lead time constant of the second stage")
    VAMAX = Param("pu", doc="upper limit of the regulator")
    VAMIN = Param("pu", doc="lower limit of the regulator")
    VRMAX = Param("pu", doc="upper limit of the exciter's field voltage at 1 pu terminal voltage")
    VRMIN = Param("pu", doc="lower limit of the exciter's field voltage at 1 pu terminal voltage")
    VFELIM = Param("pu", doc="exciter field current above which the limiter acts")
    KH = Param("pu", 0.0, ge=0, doc="gain of the limiter of the exciter's field current")
    VHMAX = Param("pu", 10.0, gt=0, doc="upper limit of the limiter's signal, before its lead-lag")
    TH = Param("s", 0.0, ge=0, doc="lag time constant of the limiter; 0: no lead-lag")
    TJ = Param("s", 0.0, ge=0, doc="lead time constant of the limiter")
    lead = LeadLag(lambda s: s.wanted - s.sensed, K="KA", T1="TK", T2="TA", doc="output of the first stage")
    VA = LeadLag("lead", T1="TC", T2="TB", limits=("VAMIN", "VAMAX"), doc="regulator output")
    over = Limit(lambda s: s.KH * (s.VFE - s.VFELIM), limits=(0.0, "VHMAX"), settles=True,
                 doc="what the exciter's field current is over its limit by, times KH")
    VH = LeadLag("over", T1="TJ", T2="TH", doc="signal of the limiter of the exciter's field current")
    VR = Limit(lambda s: s.VA - s.VH, limits=(lambda s, bus: s.VRMIN * bus.Vm, lambda s, bus: s.VRMAX * bus.Vm),
               names=("VRMIN", "VRMAX"), doc="field voltage of the exciter")

    dyr = ("TR", "KA", "TA", "TK", "TB", "TC", "VAMAX", "VAMIN", "VRMAX", "VRMIN", "TE", "VFELIM", "KH", "VHMAX", "TH",
           "TJ", "KC", "KD", "KE", "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VE, VFE = alternator(s, machine)
        return {"VE": VE, "VA_x": VFE, "lead_x": VFE, "sensed": bus.Vm, "Vref": bus.Vm + VFE / s.KA}
