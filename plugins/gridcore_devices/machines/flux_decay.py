"""One-axis (flux-decay) machine."""

from __future__ import annotations

from typing import Any, ClassVar

from gridcore.contract import Input, Param, PerUnit, State, quantity

from ..power import injected_power
from .park import steady_state, to_network, to_rotor
from .rotor import SynchronousMachine, swing


class FluxDecay(SynchronousMachine):
    """One-axis (flux-decay) machine: the field winding alone. Sauer & Pai (1998), eqs. 5.135-5.140.

    ``Td0p dEqp/dt = -Eqp - (Xd - Xdp) Id + Efd``, and a stator without dynamics,
    ``0 = Vd + Rs Id - Xq Iq`` and ``0 = Eqp - Vq - Rs Iq - Xdp Id``, solved for the currents.
    """

    plausible: ClassVar = {"Xdp": (0.0, "Xd"), "Efd": (0.0, 10.0)}
    Xd = Param(PerUnit("ohm"), gt=0, doc="synchronous reactance, d axis")
    Xq = Param(PerUnit("ohm"), gt=0, doc="synchronous reactance, q axis")
    Xdp = Param(PerUnit("ohm"), gt=0, doc="transient reactance, d axis")
    Td0p = Param("s", gt=0, doc="open-circuit transient time constant, d axis")
    Eqp = State("pu", init=1.0, T="Td0p", doc="voltage behind the transient reactance, q axis")
    Efd = Input("pu", doc="field voltage")

    @quantity("pu", "stator current, d axis")
    def Id(s: Any, bus: Any) -> Any:
        Vd, Vq = to_rotor(bus.Vr, bus.Vi, s.delta)
        return (s.Xq * (s.Eqp - Vq) - s.Rs * Vd) / (s.Rs * s.Rs + s.Xq * s.Xdp)

    @quantity("pu", "stator current, q axis")
    def Iq(s: Any, bus: Any) -> Any:
        Vd, Vq = to_rotor(bus.Vr, bus.Vi, s.delta)
        return (s.Rs * (s.Eqp - Vq) + s.Xdp * Vd) / (s.Rs * s.Rs + s.Xq * s.Xdp)

    @quantity("pu", "air-gap power")
    def Pe(s: Any) -> Any:
        return s.Eqp * s.Iq + (s.Xq - s.Xdp) * s.Id * s.Iq

    @quantity("pu", "field current")
    def XadIfd(s: Any) -> Any:
        return s.Eqp + (s.Xd - s.Xdp) * s.Id

    def rates(s: Any) -> Any:
        return *swing(s, s.Pe), s.Efd - s.XadIfd

    def currents(s: Any, bus: Any) -> Any:
        return to_network(s.Id, s.Iq, s.delta)

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        delta, _, Vq, Id, Iq = steady_state(bus, power, s.Rs, s.Xq)
        Eqp = Vq + s.Rs * Iq + s.Xdp * Id
        return {"delta": delta, "omega": 1.0, "Eqp": Eqp, "Efd": Eqp + (s.Xd - s.Xdp) * Id,
                "Pm": Eqp * Iq + (s.Xq - s.Xdp) * Id * Iq}
