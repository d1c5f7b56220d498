"""A generator of which nothing but its dispatch is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Param, Setpoint, Source, quantity

from ..loads.voltage import BelowVlow, power_law


class StaticGenerator(BelowVlow, Source):
    """Injects the power of the power flow, constant or by the voltage: ``I = conj((P + j Q) / V)``.

    ``P = P0 (V/V0)^alpha`` and ``Q = Q0 (V/V0)^beta``, V0 being the voltage at t0; below the voltage `Vlow` it turns
    into a constant admittance, continuously, as loads do. It takes part in the power flow as any generator does, but
    holds no voltage afterwards: an island that is to be simulated needs a machine or an infinite bus as well.
    """

    source = False
    alpha = Param("", 0.0, doc="exponent of the active power")
    beta = Param("", 0.0, doc="exponent of the reactive power")
    Rs = Param("pu", 0.0, ge=0, doc="internal resistance, for the machine model that may take its place")
    Xdp = Param("pu", 0.0, doc="internal reactance, for the machine model that may take its place")
    P = Setpoint("pu", doc="active power injected at t0, on Sn")
    Q = Setpoint("pu", doc="reactive power injected at t0, on Sn")
    V = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")

    @quantity("", "1 where it does not follow the square of the voltage anyway")
    def bends(s: Any) -> Any:
        return np.logical_or(s.alpha != 2, s.beta != 2)

    def currents(s: Any, bus: Any) -> Any:
        """The current of these powers."""
        P = s.P * power_law(bus.Vm, s.V, s.alpha, s.Vlow)
        Q = s.Q * power_law(bus.Vm, s.V, s.beta, s.Vlow)
        return (P * bus.Vr + Q * bus.Vi) / bus.V2, (P * bus.Vi - Q * bus.Vr) / bus.V2

    def start(s: Any, bus: Any, power: Any) -> Any:
        """The power flow's: exact above `Vlow`."""
        return {"P": power.P, "Q": power.Q, "V": bus.Vm}
