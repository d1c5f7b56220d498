"""A generator of which nothing but its dispatch is known."""

from __future__ import annotations

from typing import Any

from gridcore.device import Setpoint
from gridcore.injectors import Source


class StaticGenerator(Source):
    """Injects constant power, found by the power flow: ``I = conj((P + j Q) / V)``.

    It takes part in the power flow as any generator does, but holds no voltage afterwards: an island
    that is to be simulated needs a machine or an infinite bus as well.
    """

    source = False
    P = Setpoint("pu", doc="active power injected, on Sn")
    Q = Setpoint("pu", doc="reactive power injected, on Sn")

    def currents(s: Any, bus: Any) -> Any:
        """The current of constant power at any voltage."""
        return (s.P * bus.Vr + s.Q * bus.Vi) / bus.V2, (s.P * bus.Vi - s.Q * bus.Vr) / bus.V2

    def start(s: Any, power: Any) -> Any:
        """The power flow's, which is exact."""
        return {"P": power.P, "Q": power.Q}
