"""STAB1: speed-sensitive stabilizer."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Algebraic, Device, Param, quantity
from gridcore_blocks import LeadLag, Limit, Washout


class STAB1(Device):
    """Speed-sensitive stabilizer. PSS/E model library, STAB1; Kundur (1994), section 12.5::

        washed = (omega - 1) s K / (1 + s T),  K = (K/T) T
        lead   = washed (1 + s T1) / (1 + s T3),  T1 = (T1/T3) T3
        lead1  = lead (1 + s T2) / (1 + s T4),    T2 = (T2/T4) T4
        Vs     = lead1 between -HLIM and HLIM

    A lead-lag whose denominator is zero is left out.
    """

    attaches = "exciter"
    naming = "PSS_{exciter}"
    dyr = ("KT", "T", "T1T3", "T3", "T2T4", "T4", "HLIM")
    KT = Param("pu", doc="gain K over the time constant T")
    T = Param("s", gt=0, doc="time constant of the washout")
    T1T3 = Param("", 1.0, ge=0, doc="ratio T1/T3 of lead and lag time constants")
    T3 = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    T2T4 = Param("", 1.0, ge=0, doc="ratio T2/T4 of lead and lag time constants")
    T4 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    HLIM = Param("pu", gt=0, doc="limit of the signal")

    @quantity("s", "first lead time constant")
    def T1(s: Any) -> Any:
        return s.T1T3 * s.T3

    @quantity("s", "second lead time constant")
    def T2(s: Any) -> Any:
        return s.T2T4 * s.T4

    washed = Washout(lambda s, machine: machine.omega - 1.0, K=lambda s: s.KT * s.T, T="T", doc="washout")
    lead = LeadLag("washed", T1="T1", T2="T3", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="T2", T2="T4", doc="behind the second lead-lag")
    limited = Limit("lead1", limits=(lambda s: -s.HLIM, "HLIM"), settles=True, doc="signal between its limits")
    Vs = Algebraic("pu", equals=lambda s: s.limited, drives="exciter.Vs", doc="stabilizing signal")
