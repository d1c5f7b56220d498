"""EXAC1: alternator with rectifiers, IEEE type AC1 (1979)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Param
from gridcore_blocks import Lag

from .ac import RegulatedAC, check_order, regulated
from .exciter import Limited


class EXAC1(Limited, RegulatedAC):
    """IEEE type AC1 of 1979, as PSS/E's EXAC1.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981,
    and :class:`~gridcore_devices.exciters.ac.RegulatedAC`::

        lead = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VR   = lead KA / (1 + s TA), VRMIN <= VR <= VRMAX (non-windup)
        feedback = VFE s KF / (1 + s TF)
    """

    VRMAX = Param("pu", doc="upper limit of the regulator output")
    VRMIN = Param("pu", doc="lower limit of the regulator output")
    VR = Lag("lead", K="KA", T="TA", limits=("VRMIN", "VRMAX"), init=1.0, doc="regulator output")

    dyr = ("TR", "TB", "TC", "KA", "TA", "VRMAX", "VRMIN", "TE", "KF", "TF", "KC", "KD", "KE", "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        return regulated(s, machine, bus, "VR", lambda VFE: VFE)
