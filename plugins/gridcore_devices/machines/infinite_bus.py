"""Infinite bus."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param, PerUnit, Setpoint, Source

from ..power import injected_power


class InfiniteBus(Source):
    """A voltage source of constant magnitude, angle and frequency, behind ``R + j X``.

    ``E e^{j angle} - V = (R + j X) I``, Kundur (1994), section 12.3.1. With R = X = 0, the default, it holds
    the voltage of its bus whatever the current, so the current is an unknown in either case.
    """

    naming = "INF{bus}"
    R = Param(PerUnit("ohm"), 0.0, ge=0, doc="source resistance")
    X = Param(PerUnit("ohm"), 0.0, ge=0, doc="source reactance")
    E = Setpoint("pu", init=1.0, doc="voltage magnitude of the source")
    angle = Setpoint("rad", doc="voltage angle of the source")
    Ir = Algebraic(PerUnit("kA"), doc="real part of the current injected")
    Ii = Algebraic(PerUnit("kA"), doc="imaginary part of the current injected")

    def residuals(s: Any, bus: Any) -> Any:
        re = s.E * np.cos(s.angle) - bus.Vr - s.R * s.Ir + s.X * s.Ii
        im = s.E * np.sin(s.angle) - bus.Vi - s.R * s.Ii - s.X * s.Ir
        # an ideal source would go on holding its bus when open
        return np.where(s.status == 1, re, s.Ir), np.where(s.status == 1, im, s.Ii)

    def currents(s: Any, bus: Any) -> Any:
        return s.Ir, s.Ii

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        V = bus.Vr + 1j * bus.Vi
        current = np.conj((power.P + 1j * power.Q) / V)
        source = V + (s.R + 1j * s.X) * current
        return {"E": np.abs(source), "angle": np.angle(source), "Ir": current.real, "Ii": current.imag}
