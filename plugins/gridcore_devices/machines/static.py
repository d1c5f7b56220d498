"""A generator of which nothing but its dispatch is known."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Param, PerUnit, Setpoint, Source

from ..loads.voltage import power_law


class StaticGenerator(Source):
    """Injects the power of the power flow, constant or by the voltage: ``I = conj((P + j Q) / V)``.

    ``P = P0 (V/V0)^alpha`` and ``Q = Q0 (V/V0)^beta``, V0 being the voltage at t0; below the voltage `Vlow` it turns
    into a constant admittance, continuously, as loads do. It takes part in the power flow as any generator does, but
    holds no voltage afterwards: an island that is to be simulated needs a machine or an infinite bus as well.
    """

    source = False
    alpha = Param("", 0.0, doc="exponent of the active power")
    beta = Param("", 0.0, doc="exponent of the reactive power")
    Vlow = Param(PerUnit("kV"), 0.7, ge=0, doc="voltage below which it is a constant admittance")
    Rs = Param(PerUnit("ohm"), 0.0, ge=0, doc="internal resistance, for the machine model that may take its place")
    Xdp = Param(PerUnit("ohm"), 0.0, doc="internal reactance, for the machine model that may take its place")
    P = Setpoint(PerUnit("MW", "MVA"), doc="active power injected at t0, on Sn")
    Q = Setpoint(PerUnit("MVAr", "MVA"), doc="reactive power injected at t0, on Sn")
    V = Setpoint(PerUnit("kV"), init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")

    def currents(s: Any, bus: Any) -> Any:
        """The current of these powers."""
        P = s.P * power_law(bus.Vm, s.V, s.alpha, s.Vlow)
        Q = s.Q * power_law(bus.Vm, s.V, s.beta, s.Vlow)
        return (P * bus.Vr + Q * bus.Vi) / bus.V2, (P * bus.Vi - Q * bus.Vr) / bus.V2

    def start(s: Any, bus: Any, power: Any) -> Any:
        """The power flow's: exact above `Vlow`."""
        return {"P": power.P, "Q": power.Q, "V": bus.Vm}
