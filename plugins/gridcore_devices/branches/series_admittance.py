"""A branch given by its series admittance."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, PerUnit

from ..power import branch_flows
from .pi import pi_currents


class SeriesAdmittance(Device):
    """A branch whose parameters are the entries of the admittance matrix: ``y = g + j b``, no shunt.

    Kundur (1994), section 6.4.1. A lossless reactance x is ``b = -1/x``. Estimation of network parameters is linear
    in y, and studies state it: ``b = -17.3604`` for x = 0.0576.
    """

    attaches = ("bus1", "bus2")
    naming = "LINE{bus1}-{bus2}"
    g = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="series conductance")
    b = Param(PerUnit("S", "MW", "MVA", "MVAr"), doc="series susceptance, negative for a reactance")

    @classmethod
    def check(cls, values: Any) -> str | None:
        return "g and b are both zero: this is no branch" if values["g"] == 0 and values["b"] == 0 else None

    def currents(s: Any, bus1: Any, bus2: Any) -> Any:
        (a, b), (c, d) = pi_currents((s.g, s.b), (0.0, 0.0), (bus1.Vr, bus1.Vi), (bus2.Vr, bus2.Vi))
        return (-a, -b), (-c, -d)

    P1, Q1, P2, Q2, I1, I2, S1, S2 = branch_flows(currents)
