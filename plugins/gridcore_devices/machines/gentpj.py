"""GENTPF and GENTPJ: machines whose mutual reactances all saturate, with the stator current in GENTPJ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Algebraic, Input, Param, PerUnit, State, quantity

from ..power import TINY, injected_power
from .park import to_network, to_rotor
from .rotor import SynchronousMachine, swing
from .saturation import check_points, quadratic


class GENTPF(SynchronousMachine):
    """Machine with two windings on each axis, whose saturation is that of its air-gap flux.

    PSS/E model library, GENTPF; J. Undrill, "The gentpj model", WECC Modeling and Validation Work Group (2012)::

        psi  = |V + (Rs + j Xl) I| + Kis |I|,  S = B (psi - A)^2 / psi through S(1.0) and S(1.2)
        Sd   = 1 + S,  Sq = 1 + S Xq/Xd
        Td0p dEqp/dt   = Efd - XadIfd,  XadIfd = Sd (Eqp + (Xd - Xdp)/(Xdp - Xdpp) (Eqp - Eqpp))
        Td0pp dEqpp/dt = Sd (Eqp - Eqpp) - (Xdp - Xdpp) Id
        Tq0p dEdp/dt   = -Sq (Edp + (Xq - Xqp)/(Xqp - Xqpp) (Edp - Edpp))
        Tq0pp dEdpp/dt = Sq (Edp - Edpp) + (Xqp - Xqpp) Iq
        Vq + Rs Iq = Eqpp - ((Xdpp - Xl)/Sd + Xl) Id
        Vd + Rs Id = Edpp + ((Xqpp - Xl)/Sq + Xl) Iq

    with ``Kis = 0``. S is an unknown of the system, since the current that it follows from depends on it. The swing
    equation is that of :class:`~gridcore_devices.machines.subtransient.Subtransient`.
    """

    plausible: ClassVar = {"Xdpp": (0.0, "Xdp"), "Xqpp": (0.0, "Xqp"), "Xdp": (0.0, "Xd"), "Xqp": (0.0, "Xq"),
                           "Td0pp": (1e-5, "Td0p"), "Efd": (0.0, 10.0)}
    Xd = Param(PerUnit("ohm"), 1.8, gt=0, doc="synchronous reactance, d axis")
    Xq = Param(PerUnit("ohm"), 1.7, gt=0, doc="synchronous reactance, q axis")
    Xdp = Param(PerUnit("ohm"), 0.3, gt=0, doc="transient reactance, d axis")
    Xqp = Param(PerUnit("ohm"), 0.55, gt=0, doc="transient reactance, q axis")
    Xdpp = Param(PerUnit("ohm"), 0.22, gt=0, doc="sub-transient reactance, d axis")
    Xqpp = Param(PerUnit("ohm"), 0.25, gt=0, doc="sub-transient reactance, q axis")
    Xl = Param(PerUnit("ohm"), 0.15, ge=0, doc="stator leakage reactance")
    Td0p = Param("s", gt=0, doc="open-circuit transient time constant, d axis")
    Td0pp = Param("s", gt=0, doc="open-circuit sub-transient time constant, d axis")
    Tq0p = Param("s", ge=0, doc="open-circuit transient time constant, q axis")
    Tq0pp = Param("s", gt=0, doc="open-circuit sub-transient time constant, q axis")
    S10 = Param("pu", 0.0, ge=0, doc="saturation at 1.0 pu flux")
    S12 = Param("pu", 0.0, ge=0, doc="saturation at 1.2 pu flux")
    torque = Param("", 0.0, ge=0, le=1, doc="1: shaft power over speed is the torque, as in PSS/E; 0: power is torque")
    Eqp = State("pu", init=1.0, T="Td0p", doc="voltage behind the transient reactance, q axis")
    Eqpp = State("pu", init=1.0, T="Td0pp", doc="voltage behind the sub-transient reactance, q axis")
    Edp = State("pu", T="Tq0p", doc="voltage behind the transient reactance, d axis")
    Edpp = State("pu", T="Tq0pp", doc="voltage behind the sub-transient reactance, d axis")
    S = Algebraic("", equals=lambda s, bus: factor(s, flux(s, bus.Vr, bus.Vi, *s_currents(s, bus))),
                  doc="saturation, of the d axis")
    Efd = Input("pu", doc="field voltage")
    dyr: tuple[str, ...] = ("Td0p", "Td0pp", "Tq0p", "Tq0pp", "H", "D", "Xd", "Xq", "Xdp", "Xqp", "Xdpp", "Xqpp", "Xl",
                            "S10", "S12")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        for lower, upper in (("Xl", "Xdpp"), ("Xl", "Xqpp"), ("Xdpp", "Xdp"), ("Xqpp", "Xqp")):
            if not values[lower] < values[upper]:
                return f"{upper} must be above {lower}"
        return check_points(values)

    @quantity("pu", "reading of the stator current in the saturation")
    def current_part(s: Any) -> Any:
        return 0.0 * s.Xl

    @quantity("pu", "stator current, d axis")
    def Id(s: Any, bus: Any) -> Any:
        return rotor_currents(s, bus)[0]

    @quantity("pu", "stator current, q axis")
    def Iq(s: Any, bus: Any) -> Any:
        return rotor_currents(s, bus)[1]

    @quantity("pu", "field current")
    def XadIfd(s: Any) -> Any:
        return (1.0 + s.S) * (s.Eqp + (s.Xd - s.Xdp) / (s.Xdp - s.Xdpp) * (s.Eqp - s.Eqpp))

    @quantity("pu", "air-gap power")
    def Pe(s: Any, bus: Any) -> Any:
        Vd, Vq = to_rotor(bus.Vr, bus.Vi, s.delta)
        return Vd * s.Id + Vq * s.Iq + s.Rs * (s.Id * s.Id + s.Iq * s.Iq)

    def rates(s: Any) -> Any:
        Sd, Sq = saturated(s)
        open_q = s.Edp + (s.Xq - s.Xqp) / (s.Xqp - s.Xqpp) * (s.Edp - s.Edpp)
        return (*swing(s, s.Pe, torque=s.torque), s.Efd - s.XadIfd,
                Sd * (s.Eqp - s.Eqpp) - (s.Xdp - s.Xdpp) * s.Id,
                -Sq * open_q, Sq * (s.Edp - s.Edpp) + (s.Xqp - s.Xqpp) * s.Iq)

    def currents(s: Any, bus: Any) -> Any:
        return to_network(*rotor_currents(s, bus), s.delta)

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        """The equilibrium, in closed form: flux and current do not depend on the rotor angle, nor does S."""
        V = bus.Vr + 1j * bus.Vi
        current = np.conj((power.P + 1j * power.Q) / V)
        S = factor(s, flux(s, V.real, V.imag, current.real, current.imag))
        Sd, Sq = 1.0 + S, 1.0 + S * s.Xq / s.Xd
        E = V + (s.Rs + 1j * ((s.Xq - s.Xl) / Sq + s.Xl)) * current
        delta = np.angle(E)
        Id, Iq = to_rotor(current.real, current.imag, delta)
        _, Vq = to_rotor(V.real, V.imag, delta)
        Eqpp = Vq + s.Rs * Iq + ((s.Xdpp - s.Xl) / Sd + s.Xl) * Id
        Eqp, Edp = Eqpp + (s.Xdp - s.Xdpp) / Sd * Id, (s.Xq - s.Xqp) / Sq * Iq
        return {"delta": delta, "omega": 1.0, "S": S, "Eqp": Eqp, "Eqpp": Eqpp, "Edp": Edp,
                "Edpp": Edp + (s.Xqp - s.Xqpp) / Sq * Iq, "Efd": Sd * Eqp + (s.Xd - s.Xdp) * Id,
                "Pm": power.P + s.Rs * np.abs(current) ** 2}


class GENTPJ(GENTPF):
    """Machine whose saturation follows its air-gap flux and its stator current: :class:`GENTPF` with ``Kis``.

    PSS/E model library, GENTPJ; J. Undrill, "The gentpj model", WECC Modeling and Validation Work Group (2012).
    """

    Kis = Param("pu", 0.0, ge=0, doc="flux that a unit of stator current counts for in the saturation")
    dyr = (*GENTPF.dyr, "Kis")

    @quantity("pu", "reading of the stator current in the saturation")
    def current_part(s: Any) -> Any:
        return s.Kis


class GENTPJ1(GENTPJ):
    """:class:`GENTPJ` under the name that it has in PSS/E from version 34 (2015) on."""


class GENTPJU1(GENTPJ):
    """:class:`GENTPJ` under the name of its user model in PSS/E before version 34 (2015)."""


def saturated(s: Any) -> tuple[Any, Any]:
    """Sd and Sq."""
    return 1.0 + s.S, 1.0 + s.S * s.Xq / s.Xd


def rotor_currents(s: Any, bus: Any) -> tuple[Any, Any]:
    """Stator current as (d, q): the stator's two equations with the saturation that is."""
    Sd, Sq = saturated(s)
    Xd, Xq = (s.Xdpp - s.Xl) / Sd + s.Xl, (s.Xqpp - s.Xl) / Sq + s.Xl
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, s.delta)
    d, q, z2 = s.Edpp - Vd, s.Eqpp - Vq, s.Rs * s.Rs + Xd * Xq
    return (s.Rs * d + Xq * q) / z2, (s.Rs * q - Xd * d) / z2


def s_currents(s: Any, bus: Any) -> tuple[Any, Any]:
    """Stator current as (re, im)."""
    return to_network(*rotor_currents(s, bus), s.delta)


def flux(s: Any, Vr: Any, Vi: Any, re: Any, im: Any) -> Any:
    """The flux that saturates, with the part of the current."""
    gap_re, gap_im = Vr + s.Rs * re - s.Xl * im, Vi + s.Rs * im + s.Xl * re
    return (np.sqrt(gap_re * gap_re + gap_im * gap_im + TINY)
            + s.current_part * np.sqrt(re * re + im * im + TINY))


def factor(s: Any, psi: Any) -> Any:
    """S."""
    return quadratic(s.S10, s.S12, psi) / psi
