"""ZIP load."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Load, Param, PerUnit, Setpoint

from ..power import drawn_power
from .voltage import drawn_current, power_law


class ZIP(Load):
    """Constant impedance, current and power in parts. Kundur (1994), eqs. 7.3 and 7.4.

    ``P = k P0 (pZ v^2 + pI v + pP)`` with ``v = V / V0``, and Q likewise. Below the voltage `Vlow` the
    current and power parts turn into constant impedances, continuously.
    """

    pZ = Param("", 1.0, doc="part of P0 at constant impedance")
    pI = Param("", 0.0, doc="part of P0 at constant current")
    pP = Param("", 0.0, doc="part of P0 at constant power")
    qZ = Param("", 1.0, doc="part of Q0 at constant impedance")
    qI = Param("", 0.0, doc="part of Q0 at constant current")
    qP = Param("", 0.0, doc="part of Q0 at constant power")
    Vlow = Param(PerUnit("kV"), 0.7, ge=0, doc="voltage below which all is constant impedance")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")

    @classmethod
    def check(cls, values: Any) -> str | None:
        for parts in (("pZ", "pI", "pP"), ("qZ", "qI", "qP")):
            if abs(sum(values[part] for part in parts) - 1.0) > 1e-9:
                return f"{' + '.join(parts)} must be 1"
        return None

    def currents(s: Any, bus: Any) -> Any:
        z, i, p = (power_law(bus.Vm, s.V0, exponent, s.Vlow) for exponent in (2, 1, 0))
        return drawn_current(s.k * s.P0 * (s.pZ * z + s.pI * i + s.pP * p),
                             s.k * s.Q0 * (s.qZ * z + s.qI * i + s.qP * p), bus)

    P, Q = drawn_power(currents)
