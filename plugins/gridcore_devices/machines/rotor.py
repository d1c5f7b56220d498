"""The rotor that all synchronous machines have: angle, speed, inertia."""

from __future__ import annotations

from typing import Any, ClassVar

from gridcore.contract import Input, Param, PerUnit, Source, State


class SynchronousMachine(Source):
    """Base of the synchronous machines: a rotor on its shaft, in per unit of the rating ``Sn``.

    ``d delta/dt = omega_b (omega - 1)`` and ``2 H d omega/dt = Pm - Pe - (D + Dt)(omega - 1)``:
    Sauer & Pai (1998), eqs. 7.3 and 7.4, speed in per unit, torque and power taken as equal.

    The turbine's damping `Dt` is an input, because turbine models of the TGOV1 kind subtract
    ``Dt (omega - 1)`` from the mechanical power after their last state, and that state is what
    drives `Pm`.
    """

    plausible: ClassVar = {"H": (0.1, 3e4), "D": (0.0, 1e4)}
    H = Param("s", gt=0, doc="inertia constant")
    D = Param("pu", 0.0, doc="damping torque per speed deviation")
    Rs = Param(PerUnit("ohm"), 0.0, ge=0, doc="stator resistance")
    delta = State("rad", doc="rotor angle: q axis against the synchronous frame")
    omega = State(PerUnit("Hz"), init=1.0, doc="rotor speed")
    Pm = Input("pu", doc="mechanical power")
    Dt = Input("pu", 0.0, doc="turbine damping")


def swing(s: Any, Pe: Any, H: Any = None, torque: Any = 0.0) -> tuple[Any, Any]:
    """D delta/dt and d omega/dt under the air-gap power `Pe`, with the machine's own inertia or `H`.

    With ``torque = 1`` the power at the shaft acts by its torque, ``(Pm - (D + Dt)(omega - 1))/omega``.
    """
    slip = s.omega - 1.0
    shaft = (s.Pm - (s.D + s.Dt) * slip) / (1.0 + torque * slip)
    return s.omega_b * slip, (shaft - Pe) / (2.0 * (s.H if H is None else H))
