"""IEEEST: stabilizer with one input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param, quantity
from gridcore_blocks import LeadLag, Limit, SecondOrderLag

from .signals import Cutting, Listener, WashoutOrLag, heard, measures


class IEEEST(Listener, Cutting):
    """Stabilizer with one input. PSS/E model library, IEEEST; IEEE Std 421.5-1992, type PSS1A::

        filtered = u (1 + s A5 + s^2 A6) / ((1 + s A1 + s^2 A2) (1 + s A3 + s^2 A4))
        lead     = filtered (1 + s T1) / (1 + s T2)
        lead1    = lead (1 + s T3) / (1 + s T4)
        washed   = lead1 KS s T5 / (1 + s T6), KS / (1 + s T6) where T5 = 0
        Vs       = washed between LSMIN and LSMAX; 0 while the terminal voltage is above VCU or below VCL

    The input u by its code ICS is that of :class:`~gridcore_devices.stabilizers.signals.Listener`. A time constant of
    zero in a denominator leaves the numerator out as well; VCU or VCL of zero switches that limit off. A remote bus is
    not supported.
    """

    ICS = Param("", 1.0, ge=1, le=6, doc="code of the input")
    IB = Param("", 0.0, ge=0, le=0, doc="number of a remote bus; 0: that of the machine")
    A1 = Param("s", 0.0, ge=0, doc="filter coefficient, first denominator")
    A2 = Param("s^2", 0.0, ge=0, doc="filter coefficient, first denominator")
    A3 = Param("s", 0.0, ge=0, doc="filter coefficient, second denominator")
    A4 = Param("s^2", 0.0, ge=0, doc="filter coefficient, second denominator")
    A5 = Param("s", 0.0, doc="filter coefficient, numerator")
    A6 = Param("s^2", 0.0, doc="filter coefficient, numerator")
    T1 = Param("s", 0.0, ge=0, doc="first lead time constant")
    T2 = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    T3 = Param("s", 0.0, ge=0, doc="second lead time constant")
    T4 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    T5 = Param("s", 10.0, ge=0, doc="time constant of the washout's numerator; 0: no washout")
    T6 = Param("s", 10.0, ge=0, doc="time constant of the washout's denominator")
    KS = Param("pu", doc="gain")
    LSMAX = Param("pu", 0.1, doc="upper limit of the signal")
    LSMIN = Param("pu", -0.1, doc="lower limit of the signal")
    first = SecondOrderLag("u", A1="A1", A2="A2", doc="behind the first denominator of the filter")
    second = SecondOrderLag("first", A1="A3", A2="A4", doc="behind both denominators of the filter")
    lead = LeadLag("filtered", T1="T1", T2="T2", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="T3", T2="T4", doc="behind the second lead-lag")
    washed = WashoutOrLag("lead1", T1="T5", T2="T6", K="KS", doc="signal before its limits")
    limited = Limit("washed", limits=("LSMIN", "LSMAX"), settles=True, doc="signal between its limits")
    Vs = Algebraic("pu", equals=lambda s: np.where(s.cut == 0, s.limited, 0.0), drives="exciter.Vs",
                   doc="stabilizing signal")

    dyr = ("ICS", "IB", "A1", "A2", "A3", "A4", "A5", "A6", "T1", "T2", "T3", "T4", "T5", "T6", "KS", "LSMAX", "LSMIN",
           "VCU", "VCL")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["ICS"] != round(values["ICS"]):
            return "ICS must be a whole number from 1 to 6"
        if not values["LSMIN"] < values["LSMAX"]:
            return "LSMIN must be below LSMAX"
        if values["T5"] > 0 and values["T6"] == 0:
            return "the washout s T5 / (1 + s T6) needs T6 above zero, or T5 = 0 for none"
        order = [2 if values[b] else 1 if values[a] else 0 for a, b in (("A1", "A2"), ("A3", "A4"), ("A5", "A6"))]
        if order[2] > order[0] + order[1]:
            return "the filter's numerator has a higher order than its denominator"
        return None

    @quantity("s", "time constant of the measured bus voltage")
    def Tv(s: Any) -> Any:
        return measures(s, s.ICS)

    @quantity("pu", "input")
    def u(s: Any, bus: Any, machine: Any) -> Any:
        return heard(s, s.ICS, bus, machine)

    @quantity("pu", "output of the filter")
    def filtered(s: Any) -> Any:
        # the derivatives of the output that the second denominator does not give are those of its input
        rest = np.where(s.A3 > 0, s.A3, 1.0)
        d1 = np.where(np.logical_or(s.A3 > 0, s.A4 > 0), s.second_d1, s.first_d1)
        d2 = np.where(s.A4 > 0, s.second_d2, np.where(s.A3 > 0, (s.first_d1 - s.second_d1) / rest, s.first_d2))
        return s.second + s.A5 * d1 + s.A6 * d2
