"""SEXS: simplified excitation system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Param, quantity
from gridcore_blocks import Lag, LeadLag

from .ac import check_order
from .exciter import Limited


class SEXS(Limited):
    """Simplified excitation system. PSS/E model library, SEXS.

    ::

        lead = (Vref + Vs - V) (1 + s TA) / (1 + s TB),  TA = (TA/TB) TB
        Efd  = lead K / (1 + s TE), EMIN <= Efd <= EMAX (non-windup)
    """

    TATB = Param("", ge=0, doc="ratio TA/TB of lead and lag time constants; 0: a plain lag")
    TB = Param("s", ge=0, doc="lag time constant; 0: no lead-lag")
    K = Param("pu", gt=0, doc="gain")
    TE = Param("s", ge=0, doc="time constant of the exciter")
    EMIN = Param("pu", doc="lower limit of the field voltage")
    EMAX = Param("pu", doc="upper limit of the field voltage")
    lead = LeadLag(lambda s, bus: s.wanted - s.Vc - bus.Vm, T1="TA", T2="TB",
                   doc="behind the lead-lag")
    Efd = Lag("lead", K="K", T="TE", limits=("EMIN", "EMAX"), init=1.0, drives="machine.Efd", doc="field voltage")

    dyr = ("TATB", "TB", "K", "TE", "EMIN", "EMAX")

    @quantity("s", "lead time constant")
    def TA(s: Any) -> Any:
        return s.TATB * s.TB

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("EMIN", "EMAX"))

    def start(s: Any, bus: Any) -> Any:
        return {"lead_x": s.Efd / s.K, "Vref": bus.Vm + s.Efd / s.K}
