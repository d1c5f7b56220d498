"""IEELBL: load in powers of voltage, with frequency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Load, Param, PerUnit, Setpoint, State, quantity

from ..power import drawn_power
from .voltage import drawn_current, power_law


class IEELBL(Load):
    """IEEE load model of one load. PSS/E model library, IEELBL; IEEE Task Force, IEEE Trans. Power Syst. 8 (1993)::

        P = Pload (a1 v^n1 + a2 v^n2 + a3 v^n3) (1 + a7 df)
        Q = Qload (a4 v^n4 + a5 v^n5 + a6 v^n6) (1 + a8 df)

    v is the voltage in per unit; Pload and Qload are such that at t0 the load is ``k P0`` and ``k Q0``. The deviation
    df of the bus frequency is that of a filtered bus angle, time constant T. Below the voltage `Vlow` every power of
    the voltage turns into the square, continuously. Records of IEELOW, IEELZN, IEELAR and IEELAL are for
    the loads of an owner, a zone, an area, or all, that have none of their own.
    """

    dyr_family = True
    dyr = ("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "n1", "n2", "n3", "n4", "n5", "n6")
    a1 = Param("", 1.0, doc="active part of the power n1")
    a2 = Param("", 0.0, doc="active part of the power n2")
    a3 = Param("", 0.0, doc="active part of the power n3")
    a4 = Param("", 1.0, doc="reactive part of the power n4")
    a5 = Param("", 0.0, doc="reactive part of the power n5")
    a6 = Param("", 0.0, doc="reactive part of the power n6")
    a7 = Param("", 0.0, doc="change of active power with the frequency")
    a8 = Param("", 0.0, doc="change of reactive power with the frequency")
    n1 = Param("", 2.0, doc="first exponent of the active power")
    n2 = Param("", 1.0, doc="second exponent of the active power")
    n3 = Param("", 0.0, doc="third exponent of the active power")
    n4 = Param("", 2.0, doc="first exponent of the reactive power")
    n5 = Param("", 1.0, doc="second exponent of the reactive power")
    n6 = Param("", 0.0, doc="third exponent of the reactive power")
    T = Param("s", 0.05, gt=0, doc="time constant of the measured frequency")
    Vlow = Param(PerUnit("kV"), 0.7, ge=0, doc="voltage below which every exponent is 2")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")
    xr = State("pu", init=1.0, T="T", doc="filtered voltage, real part")
    xi = State("pu", T="T", doc="filtered voltage, imaginary part")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        for parts, power in ((("a1", "a2", "a3"), "P0"), (("a4", "a5", "a6"), "Q0")):
            if values[power] and not sum(values[part] for part in parts):
                return f"{' + '.join(parts)} must not be 0: it is what the load is at 1 pu, over its {power}"
        return None

    @quantity("pu", "deviation of the bus frequency")
    def df(s: Any, bus: Any) -> Any:
        turn = (bus.Vi * s.xr - bus.Vr * s.xi) / (s.xr * s.xr + s.xi * s.xi)
        return turn / (s.T * s.omega_b)

    def rates(s: Any, bus: Any) -> Any:
        return bus.Vr - s.xr, bus.Vi - s.xi

    def currents(s: Any, bus: Any) -> Any:
        def part(parts: Any) -> Any:
            now, then = (sum(a * power_law(V, 1.0, n, s.Vlow) for a, n in parts) for V in (bus.Vm, s.V0))
            return now / np.where(then != 0, then, 1.0)

        P = s.P0 * part(((s.a1, s.n1), (s.a2, s.n2), (s.a3, s.n3))) * (1.0 + s.a7 * s.df)
        Q = s.Q0 * part(((s.a4, s.n4), (s.a5, s.n5), (s.a6, s.n6))) * (1.0 + s.a8 * s.df)
        return drawn_current(s.k * P, s.k * Q, bus)

    P, Q = drawn_power(currents)

    def start(s: Any, bus: Any) -> Any:
        return {"xr": bus.Vr, "xi": bus.Vi, "V0": bus.Vm}
