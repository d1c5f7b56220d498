"""What GENROU, GENROE and GENSAL share: a voltage behind one sub-transient impedance, and the d axis.

The stator is algebraic and both axes have the same sub-transient reactance, so in the network's frame the machine is
``E'' = V + (Rs + j Xdpp) I`` with ``E'' = (-psiqpp + j psidpp) e^{j (delta - pi/2)}``: the currents follow from the
fluxes, and there is nothing to solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Input, Param, PerUnit, State, quantity

from ..power import injected_power
from .park import to_network, to_rotor
from .rotor import SynchronousMachine, swing
from .saturation import check_points


class Subtransient(SynchronousMachine):
    """Base of the machines with sub-transient fluxes, after PSS/E's model library.

    d axis, field winding `Eqp` and damper winding `psikd` (Kundur 1994, section 5.4; Sauer & Pai 1998,
    eqs. 3.148-3.159)::

        Td0p dEqp/dt    = Efd - XadIfd
        Td0pp dpsikd/dt = Eqp - psikd - (Xdp - Xl) Id
        XadIfd = Eqp + (Xd - Xdp) (Id + (Xdp - Xdpp)/(Xdp - Xl)^2 (Eqp - psikd - (Xdp - Xl) Id)) + saturation
        psidpp = ((Xdpp - Xl) Eqp + (Xdp - Xdpp) psikd) / (Xdp - Xl)

    The air-gap torque is ``psidpp Iq - psiqpp Id``. Speed voltages in the stator are taken at synchronous speed. In the
    swing equation the power at the shaft is taken as its torque; ``torque = 1`` divides it by the speed,
    ``2 H d omega/dt = (Pm - D (omega - 1))/omega - (psidpp Iq - psiqpp Id)``, which is what PSS/E's trajectories fit.
    """

    plausible: ClassVar = {"Xdpp": (0.0, "Xdp"), "Xdp": ("Xl", "Xd"), "Td0pp": (1e-5, "Td0p"), "Efd": (0.0, 10.0)}
    Xd = Param(PerUnit("ohm"), gt=0, doc="synchronous reactance, d axis")
    Xq = Param(PerUnit("ohm"), gt=0, doc="synchronous reactance, q axis")
    Xdp = Param(PerUnit("ohm"), gt=0, doc="transient reactance, d axis")
    Xdpp = Param(PerUnit("ohm"), gt=0, doc="sub-transient reactance, both axes")
    Xl = Param(PerUnit("ohm"), ge=0, doc="stator leakage reactance")
    Td0p = Param("s", gt=0, doc="open-circuit transient time constant, d axis")
    Td0pp = Param("s", gt=0, doc="open-circuit sub-transient time constant, d axis")
    Tq0pp = Param("s", gt=0, doc="open-circuit sub-transient time constant, q axis")
    S10 = Param("pu", 0.0, ge=0, doc="saturation at 1.0 pu flux")
    S12 = Param("pu", 0.0, ge=0, doc="saturation at 1.2 pu flux")
    torque = Param("", 0.0, ge=0, le=1, doc="1: shaft power over speed is the torque, as in PSS/E; 0: power is torque")
    Eqp = State("pu", init=1.0, T="Td0p", doc="voltage behind the transient reactance, q axis")
    psikd = State("pu", init=1.0, T="Td0pp", doc="flux linkage of the damper winding, d axis")
    Efd = Input("pu", doc="field voltage")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if not values["Xd"] > values["Xl"]:
            return "Xd must be above Xl"
        if values["Xdp"] == values["Xl"]:  # below, as in files of the industry, there are currents, if no such machine
            return "Xdp must not be Xl"
        return check_points(values)

    @quantity("pu", "sub-transient flux, d axis")
    def psidpp(s: Any) -> Any:
        part = (s.Xdpp - s.Xl) / (s.Xdp - s.Xl)
        return part * s.Eqp + (1.0 - part) * s.psikd

    def currents(s: Any, bus: Any) -> Any:
        re, im = to_network(-s.psiqpp, s.psidpp, s.delta)
        re, im = re - bus.Vr, im - bus.Vi
        z2 = s.Rs * s.Rs + s.Xdpp * s.Xdpp
        return (s.Rs * re + s.Xdpp * im) / z2, (s.Rs * im - s.Xdpp * re) / z2

    P, Q = injected_power(currents)

    @quantity("pu", "stator current, d axis")
    def Id(s: Any, bus: Any) -> Any:
        return rotor_currents(s, bus)[0]

    @quantity("pu", "stator current, q axis")
    def Iq(s: Any, bus: Any) -> Any:
        return rotor_currents(s, bus)[1]

    @quantity("pu", "air-gap power")
    def Pe(s: Any) -> Any:
        return s.psidpp * s.Iq - s.psiqpp * s.Id

    @quantity("pu", "field current without saturation")
    def airgap_line(s: Any) -> Any:
        behind = s.Eqp - s.psikd - (s.Xdp - s.Xl) * s.Id
        return s.Eqp + (s.Xd - s.Xdp) * (s.Id + (s.Xdp - s.Xdpp) / (s.Xdp - s.Xl) ** 2 * behind)


def rotor_currents(s: Any, bus: Any) -> tuple[Any, Any]:
    """Stator current as (d, q)."""
    re, im = Subtransient.currents(s, bus)
    return to_rotor(re, im, s.delta)


def d_axis(s: Any) -> tuple[Any, ...]:
    """Right-hand sides of delta, omega, Eqp and psikd."""
    return *swing(s, s.Pe, torque=s.torque), s.Efd - s.XadIfd, s.Eqp - s.psikd - (s.Xdp - s.Xl) * s.Id


def phasors(s: Any, bus: Any, power: Any) -> tuple[Any, Any]:
    """Current and sub-transient voltage E'' of a machine that injects `power`, in the network's frame."""
    V = bus.Vr + 1j * bus.Vi
    current = np.conj((power.P + 1j * power.Q) / V)
    return current, V + (s.Rs + 1j * s.Xdpp) * current


def d_axis_start(s: Any, current: Any, E: Any, delta: Any) -> tuple[dict[str, Any], Any, Any, Any]:
    """Equilibrium of the d axis but for saturation in Efd; with it Iq, and E'' as (d, q)."""
    Id, Iq = to_rotor(current.real, current.imag, delta)
    Ed, Eq = to_rotor(E.real, E.imag, delta)
    Eqp = Eq + (s.Xdp - s.Xdpp) * Id
    return {"delta": delta, "omega": 1.0, "Eqp": Eqp, "psikd": Eqp - (s.Xdp - s.Xl) * Id,
            "Efd": Eqp + (s.Xd - s.Xdp) * Id, "Pm": Eq * Iq + Ed * Id}, Iq, Ed, Eq
