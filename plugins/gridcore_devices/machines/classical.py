"""Classical machine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Param, PerUnit, Setpoint, quantity

from ..power import complex_power, injected_power
from .rotor import SynchronousMachine, swing


class Classical(SynchronousMachine):
    """A constant voltage behind the transient reactance.

    ``E e^{j delta} - V = (Rs + j Xdp) I``: Sauer & Pai (1998), section 5.7 (of many machines: section
    7.9.3); Kundur (1994), section 5.3.1 and eq. 13.1.
    """

    plausible: ClassVar = {"E": (0.0, 10.0)}
    Xdp = Param(PerUnit("ohm"), gt=0, doc="transient reactance, d axis")
    E = Setpoint("pu", init=1.0, doc="voltage behind the transient reactance")

    def currents(s: Any, bus: Any) -> Any:
        re, im = s.E * np.cos(s.delta) - bus.Vr, s.E * np.sin(s.delta) - bus.Vi
        z2 = s.Rs * s.Rs + s.Xdp * s.Xdp
        return (s.Rs * re + s.Xdp * im) / z2, (s.Rs * im - s.Xdp * re) / z2

    P, Q = injected_power(currents)

    @quantity("pu", "air-gap power")
    def Pe(s: Any, bus: Any) -> Any:
        re, im = Classical.currents(s, bus)
        return complex_power(bus, (re, im))[0] + s.Rs * (re * re + im * im)

    def rates(s: Any) -> Any:
        return swing(s, s.Pe)

    def start(s: Any, bus: Any, power: Any) -> Any:
        V = bus.Vr + 1j * bus.Vi
        current = np.conj((power.P + 1j * power.Q) / V)
        E = V + (s.Rs + 1j * s.Xdp) * current
        return {"delta": np.angle(E), "omega": 1.0, "E": np.abs(E), "Pm": (E * np.conj(current)).real}
