"""Two-winding transformer."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Param, PerUnit

from ..power import branch_flows
from .pi import admittance, check_impedance, pi_currents, times


class Transformer(Device):
    """An ideal transformer ``tap e^{j phase} : 1`` on the side of bus1, then a pi circuit.

    MATPOWER User's Manual, section 3.2: in ``I = Y V``, with ``y = 1/(r + j x)``,
    ``Y11 = (y + (g + j b)/2) / tap^2``, ``Y12 = -y / (tap e^{-j phase})``,
    ``Y21 = -y / (tap e^{j phase})``, ``Y22 = y + (g + j b)/2``.
    """

    attaches = ("bus1", "bus2")
    naming = "TRANSFORMER{bus1}-{bus2}"
    r = Param(PerUnit("ohm"), 0.0, doc="series resistance")
    x = Param(PerUnit("ohm"), doc="series reactance")
    b = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="shunt susceptance, in all")
    g = Param(PerUnit("S", "MW", "MVA", "MVAr"), 0.0, doc="shunt conductance, in all")
    tap = Param("pu", 1.0, gt=0, doc="off-nominal turns ratio, on the side of bus1")
    phase = Param("rad", 0.0, doc="phase shift: by how much bus1 leads")

    @classmethod
    def check(cls, values: Any) -> str | None:
        return check_impedance(values)

    def currents(s: Any, bus1: Any, bus2: Any) -> Any:
        re, im = np.cos(s.phase) / s.tap, np.sin(s.phase) / s.tap
        inner = times(re, -im, bus1.Vr, bus1.Vi)  # V1 / (tap e^{j phase})
        first, (c, d) = pi_currents(admittance(s.r, s.x), (s.g, s.b), inner, (bus2.Vr, bus2.Vi))
        a, b = times(re, im, *first)  # I / (tap e^{-j phase})
        return (-a, -b), (-c, -d)

    P1, Q1, P2, Q2, I1, I2, S1, S2 = branch_flows(currents)
