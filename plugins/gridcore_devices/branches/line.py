"""Transmission line."""

from __future__ import annotations

from typing import Any, ClassVar

from gridcore.contract import Device, Param, PerUnit

from ..power import branch_flows
from .pi import admittance, check_impedance, pi_currents


class Line(Device):
    """A line as a pi circuit: series ``r + j x``, half of the shunt ``g + j b`` at each end.

    Kundur (1994), section 6.1.4 (fig. 6.6); per unit of the system's base.
    """

    attaches = ("bus1", "bus2")
    naming = "LINE{bus1}-{bus2}"
    plausible: ClassVar = {"b": (-20.0, 20.0), "g": (-20.0, 20.0)}
    r = Param(PerUnit("ohm"), 0.0, doc="series resistance")
    x = Param(PerUnit("ohm"), doc="series reactance")
    b = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="shunt susceptance, of the whole line")
    g = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="shunt conductance, of the whole line")

    @classmethod
    def check(cls, values: Any) -> str | None:
        return check_impedance(values)

    def currents(s: Any, bus1: Any, bus2: Any) -> Any:
        (a, b), (c, d) = pi_currents(admittance(s.r, s.x), (s.g, s.b), (bus1.Vr, bus1.Vi), (bus2.Vr, bus2.Vi))
        return (-a, -b), (-c, -d)

    P1, Q1, P2, Q2, I1, I2, S1, S2 = branch_flows(currents)
