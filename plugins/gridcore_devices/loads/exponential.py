"""Exponential load."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Load, Param, PerUnit, Setpoint

from ..power import drawn_power
from .voltage import drawn_current, power_law


class Exponential(Load):
    """``P = k P0 (V/V0)^alpha``, ``Q = k Q0 (V/V0)^beta``. Kundur (1994), eqs. 7.1 and 7.2.

    Below the voltage `Vlow` it turns into a constant impedance, continuously.
    """

    alpha = Param("", doc="exponent of the active power")
    beta = Param("", doc="exponent of the reactive power")
    Vlow = Param(PerUnit("kV"), 0.7, ge=0, doc="voltage below which it is a constant impedance")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")

    def currents(s: Any, bus: Any) -> Any:
        return drawn_current(s.k * s.P0 * power_law(bus.Vm, s.V0, s.alpha, s.Vlow),
                             s.k * s.Q0 * power_law(bus.Vm, s.V0, s.beta, s.Vlow), bus)

    P, Q = drawn_power(currents)
