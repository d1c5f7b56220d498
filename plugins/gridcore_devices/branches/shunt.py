"""Shunt admittance at a bus."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, PerUnit

from ..power import drawn_power
from .pi import times


class Shunt(Device):
    """A constant admittance ``g + j b`` to ground, a capacitor where b > 0.

    MATPOWER User's Manual, section 3.5.
    """

    attaches = "bus"
    naming = "SHUNT{bus}"
    g = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="conductance, system base")
    b = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="susceptance, system base")

    def currents(s: Any, bus: Any) -> Any:
        re, im = times(s.g, s.b, bus.Vr, bus.Vi)
        return -re, -im

    P, Q = drawn_power(currents)
