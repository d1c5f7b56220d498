"""EXAC2: high initial response alternator with rectifiers, IEEE type AC2 (1979)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Param
from gridcore_blocks import Lag, Limit, LowGate

from .ac import RegulatedAC, check_order, regulated
from .exciter import Limited


class EXAC2(Limited, RegulatedAC):
    """IEEE type AC2 of 1979, as PSS/E's EXAC2.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981,
    and :class:`~gridcore_devices.exciters.ac.RegulatedAC`::

        lead  = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VA    = lead KA / (1 + s TA), VAMIN <= VA <= VAMAX (non-windup)
        inner = the smaller of VA - KH VFE and KL (VLR - VFE)
        VR    = KB inner between VRMIN and VRMAX
        feedback = VFE s KF / (1 + s TF)
    """

    VAMAX = Param("pu", doc="upper limit of the regulator")
    VAMIN = Param("pu", doc="lower limit of the regulator")
    KB = Param("pu", gt=0, doc="gain of the second stage")
    VRMAX = Param("pu", doc="upper limit of the exciter's field voltage")
    VRMIN = Param("pu", doc="lower limit of the exciter's field voltage")
    KL = Param("pu", gt=0, doc="gain of the limiter of the exciter's field current")
    KH = Param("pu", ge=0, doc="feedback gain of the exciter's field current")
    VLR = Param("pu", doc="limit of the exciter's field current")
    VA = Lag("lead", K="KA", T="TA", limits=("VAMIN", "VAMAX"), init=1.0, doc="regulator output")
    inner = LowGate(lambda s: s.VA - s.KH * s.VFE, lambda s: s.KL * (s.VLR - s.VFE), settles=False,
                    doc="input of the second stage")
    VR = Limit(lambda s: s.KB * s.inner, limits=("VRMIN", "VRMAX"), doc="field voltage of the exciter")

    dyr = ("TR", "TB", "TC", "KA", "TA", "VAMAX", "VAMIN", "KB", "VRMAX", "VRMIN", "TE", "KL", "KH", "KF", "TF", "KC",
           "KD", "KE", "VLR", "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        return regulated(s, machine, bus, "VA", lambda VFE: VFE / s.KB + s.KH * VFE)
