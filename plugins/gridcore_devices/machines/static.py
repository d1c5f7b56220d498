"""A generator of which nothing but its dispatch is known."""

from __future__ import annotations

from typing import Any

from gridcore.device import Param, Setpoint
from gridcore.injectors import Source

from ..loads.voltage import power_law


class StaticGenerator(Source):
    """Injects constant power, found by the power flow: ``I = conj((P + j Q) / V)``.

    It takes part in the power flow as any generator does, but holds no voltage afterwards: an island
    that is to be simulated needs a machine or an infinite bus as well. Below the voltage `Vlow` it turns
    into a constant admittance, continuously, as loads do.
    """

    source = False
    Vlow = Param("pu", 0.7, ge=0, doc="voltage below which it is a constant admittance")
    Rs = Param("pu", 0.0, ge=0, doc="internal resistance, for the machine model that may take its place")
    Xdp = Param("pu", 0.0, doc="internal reactance, for the machine model that may take its place")
    P = Setpoint("pu", doc="active power injected, on Sn")
    Q = Setpoint("pu", doc="reactive power injected, on Sn")

    def currents(s: Any, bus: Any) -> Any:
        """The current of constant power, but for low voltages."""
        part = power_law(bus.Vm, 1.0, 0, s.Vlow)
        P, Q = s.P * part, s.Q * part
        return (P * bus.Vr + Q * bus.Vi) / bus.V2, (P * bus.Vi - Q * bus.Vr) / bus.V2

    def start(s: Any, power: Any) -> Any:
        """The power flow's: exact above `Vlow`."""
        return {"P": power.P, "Q": power.Q}
