"""Exponential-recovery load."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Load, Param, PerUnit, Setpoint, State

from ..power import drawn_power
from .voltage import drawn_current, power_law


class ExponentialRecovery(Load):
    """A load that recovers from its transient to its static characteristic.

    Karlsson & Hill, "Modelling and identification of nonlinear dynamic loads in power systems",
    IEEE Trans. Power Syst. 9 (1994)::

        Tp dxp/dt = P0 (V/V0)^alpha_s - P0 (V/V0)^alpha_t - xp,   P = k (xp + P0 (V/V0)^alpha_t)

    and the same for Q with Tq, xq, beta_s, beta_t. Below the voltage `Vlow` every power of the
    voltage turns into the square, continuously.
    """

    alpha_s = Param("", doc="static exponent of the active power")
    alpha_t = Param("", doc="transient exponent of the active power")
    beta_s = Param("", doc="static exponent of the reactive power")
    beta_t = Param("", doc="transient exponent of the reactive power")
    Tp = Param("s", gt=0, doc="recovery time constant of the active power")
    Tq = Param("s", gt=0, doc="recovery time constant of the reactive power")
    Vlow = Param(PerUnit("kV"), 0.7, ge=0, doc="voltage below which every exponent is 2")
    xp = State("pu", T="Tp", doc="active power recovered")
    xq = State("pu", T="Tq", doc="reactive power recovered")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")

    def rates(s: Any, bus: Any) -> Any:
        def law(exponent: Any) -> Any:
            return power_law(bus.Vm, s.V0, exponent, s.Vlow)

        return (s.P0 * (law(s.alpha_s) - law(s.alpha_t)) - s.xp,
                s.Q0 * (law(s.beta_s) - law(s.beta_t)) - s.xq)

    def currents(s: Any, bus: Any) -> Any:
        # what was recovered is a power: near zero voltage it must vanish with it
        recovered = power_law(bus.Vm, s.V0, 0, s.Vlow)
        P = s.xp * recovered + s.P0 * power_law(bus.Vm, s.V0, s.alpha_t, s.Vlow)
        Q = s.xq * recovered + s.Q0 * power_law(bus.Vm, s.V0, s.beta_t, s.Vlow)
        return drawn_current(s.k * P, s.k * Q, bus)

    P, Q = drawn_power(currents)
