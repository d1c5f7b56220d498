"""One machine against an infinite bus, as a plain differential equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, PerUnit, State, quantity, timer

NEVER = float("inf")


class SwingEquation(Device):
    """The swing equation on its own, no network.

    ``d delta/dt = omega_b (omega - omega_s)``,
    ``2 H / omega_s d omega/dt = Pm - Pmax sin(delta) - D (omega - omega_s)``:
    Zhang, Abhyankar, Constantinescu, Anitescu, "Discrete adjoint sensitivity analysis of hybrid
    dynamical systems with switching", IEEE Trans. Circuits Syst. I 64 (2017), example of
    mechanical-power maximisation.

    It starts in equilibrium, ``delta = asin(Pm / Pmax)``. Between `t_fault` and `t_clear` the transfer
    limit is `Pmax_fault`.
    """

    naming = "SWING"
    Pm = Param(PerUnit("MW", "MVA"), doc="mechanical power")
    Pmax = Param(PerUnit("MW", "MVA"), gt=0, doc="largest electrical power, E V / X")
    Pmax_fault = Param(PerUnit("MW", "MVA"), 0.0, ge=0, doc="largest electrical power while the fault is there")
    H = Param("s", gt=0, doc="inertia constant")
    D = Param("pu", 0.0, doc="damping power per speed deviation")
    omega_s = Param(PerUnit("Hz"), 1.0, gt=0, doc="synchronous speed")
    t_fault = Param("s", NEVER, doc="time at which the fault strikes")
    t_clear = Param("s", NEVER, doc="time at which it clears itself")
    delta = State("rad", doc="rotor angle against the infinite bus")
    omega = State(PerUnit("Hz"), init=1.0, doc="rotor speed")
    fault = Mode(0, doc="1 while the fault is there")
    strikes = timer("t_fault", then={"fault": 1}, doc="fault")
    clears = timer("t_clear", then={"fault": 0}, doc="fault cleared")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if abs(values["Pm"]) <= values["Pmax"] else "Pm beyond Pmax: there is no equilibrium"

    @quantity("pu", "electrical power")
    def Pe(s: Any) -> Any:
        return np.where(s.fault == 1, s.Pmax_fault, s.Pmax) * np.sin(s.delta)

    def rates(s: Any) -> Any:
        slip = s.omega - s.omega_s
        return s.omega_b * slip, s.omega_s / (2.0 * s.H) * (s.Pm - s.Pe - s.D * slip)

    def start(s: Any) -> Any:
        return {"delta": np.arcsin(s.Pm / s.Pmax), "omega": s.omega_s}
