"""Two-axis machine."""

from __future__ import annotations

from typing import Any, ClassVar

from gridcore.contract import Algebraic, Input, Param, PerUnit, State, quantity

from ..power import injected_power
from .park import steady_state, to_network, to_rotor
from .rotor import SynchronousMachine, swing


class TwoAxis(SynchronousMachine):
    """Two-axis machine: field winding and one damper winding. Sauer & Pai (1998), eqs. 7.1-7.4 and 7.8.

    ``Td0p dEqp/dt = -Eqp - (Xd - Xdp) Id + Efd``, ``Tq0p dEdp/dt = -Edp + (Xq - Xqp) Iq``; the stator
    equations ``0 = Edp - Vd - Rs Id + Xqp Iq`` and ``0 = Eqp - Vq - Rs Iq - Xdp Id`` are kept as they
    are, with the currents as unknowns. Where Tq0p = 0, Edp is algebraic.
    """

    plausible: ClassVar = {"Xdp": (0.0, "Xd"), "Xqp": (0.0, "Xq"), "Efd": (0.0, 10.0)}
    Xd = Param(PerUnit("ohm"), gt=0, doc="synchronous reactance, d axis")
    Xq = Param(PerUnit("ohm"), gt=0, doc="synchronous reactance, q axis")
    Xdp = Param(PerUnit("ohm"), gt=0, doc="transient reactance, d axis")
    Xqp = Param(PerUnit("ohm"), gt=0, doc="transient reactance, q axis")
    Td0p = Param("s", gt=0, doc="open-circuit transient time constant, d axis")
    Tq0p = Param("s", ge=0, doc="open-circuit transient time constant, q axis")
    Eqp = State("pu", init=1.0, T="Td0p", doc="voltage behind the transient reactance, q axis")
    Edp = State("pu", T="Tq0p", doc="voltage behind the transient reactance, d axis")
    Id = Algebraic("pu", doc="stator current, d axis")
    Iq = Algebraic("pu", doc="stator current, q axis")
    Efd = Input("pu", doc="field voltage")

    @quantity("pu", "air-gap power")
    def Pe(s: Any) -> Any:
        return s.Edp * s.Id + s.Eqp * s.Iq + (s.Xqp - s.Xdp) * s.Id * s.Iq

    @quantity("pu", "field current")
    def XadIfd(s: Any) -> Any:
        return s.Eqp + (s.Xd - s.Xdp) * s.Id

    def rates(s: Any) -> Any:
        return (*swing(s, s.Pe),
                s.Efd - s.XadIfd,
                (s.Xq - s.Xqp) * s.Iq - s.Edp)

    def residuals(s: Any, bus: Any) -> Any:
        Vd, Vq = to_rotor(bus.Vr, bus.Vi, s.delta)
        return s.Edp - Vd - s.Rs * s.Id + s.Xqp * s.Iq, s.Eqp - Vq - s.Rs * s.Iq - s.Xdp * s.Id

    def currents(s: Any, bus: Any) -> Any:
        return to_network(s.Id, s.Iq, s.delta)

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        delta, Vd, Vq, Id, Iq = steady_state(bus, power, s.Rs, s.Xq)
        Edp, Eqp = Vd + s.Rs * Id - s.Xqp * Iq, Vq + s.Rs * Iq + s.Xdp * Id
        return {"delta": delta, "omega": 1.0, "Eqp": Eqp, "Edp": Edp, "Id": Id, "Iq": Iq,
                "Efd": Eqp + (s.Xd - s.Xdp) * Id, "Pm": Edp * Id + Eqp * Iq + (s.Xqp - s.Xdp) * Id * Iq}
