"""DEGOV and DEGOV1: diesel engines and their Woodward governors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit, Setpoint, State, quantity
from gridcore_blocks import Integrator, Lag, LeadLag, SecondOrderLag


class WoodwardDiesel(Device):
    """Base of the diesel engines: all but the error. PSS/E model library, DEGOV and DEGOV1::

        box       (1 + s T3) / (1 + s T1 + s^2 T1 T2) of the error
        actuator  K (1 + s T4) / (s (1 + s T5) (1 + s T6)) of that, TMIN <= fuel <= TMAX (non-windup)
        engine    torque = e^(-s TD) of the fuel
        power     Pm = torque omega

    The actuator's integrator comes last: its state, the fuel, is what the limits hold. The delay TD is its Padé
    approximation of first order. With ``T1 = 0`` the box is a gain, with ``T5 = T6 = 0`` the actuator has no lead.
    Power is in per unit of the machine's base.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    T1 = Param("s", 0.0, ge=0, doc="first time constant of the electric control box; 0: a gain")
    T2 = Param("s", 0.0, ge=0, doc="second time constant of the electric control box")
    T3 = Param("s", 0.0, ge=0, doc="lead time constant of the electric control box")
    K = Param("1/s", gt=0, doc="gain of the actuator")
    T4 = Param("s", 0.0, ge=0, doc="lead time constant of the actuator")
    T5 = Param("s", 0.0, ge=0, doc="first lag time constant of the actuator")
    T6 = Param("s", 0.0, ge=0, doc="second lag time constant of the actuator")
    TD = Param("s", 0.0, ge=0, doc="delay of the engine")
    TMAX = Param("pu", doc="upper limit of the fuel")
    TMIN = Param("pu", doc="lower limit of the fuel")
    nref = Setpoint("pu", doc="speed reference, of the speed deviation")

    @quantity("s", "lead time constant of the actuator's second lag, where there is no first")
    def late(s: Any) -> Any:
        return np.where(s.T5 > 0, 0.0, s.T4)

    @quantity("s^2", "second coefficient of the electric control box")
    def T12(s: Any) -> Any:
        return s.T1 * s.T2

    box = SecondOrderLag("error", A1="T1", A2="T12", doc="electric control box, without its lead")
    lead = LeadLag(lambda s: s.box + s.T3 * s.box_d1, T1="T4", T2="T5", doc="actuator behind its first lag")
    moved = LeadLag("lead", T1="late", T2="T6", doc="actuator behind its second lag")
    fuel = Integrator("moved", K="K", limits=("TMIN", "TMAX"), init=0.5, doc="fuel")
    halfway = State("pu", init=0.5, T="half", rate=lambda s: s.fuel - s.halfway, doc="delay of the engine")
    Pm = Algebraic("pu", init=0.5, drives="machine.Pm", doc="engine power",
                   equals=lambda s, machine: np.where(s.TD > 0, 2.0 * s.halfway - s.fuel, s.fuel) * machine.omega)

    @quantity("s", "half of the delay")
    def half(s: Any) -> Any:
        return 0.5 * s.TD

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["TMIN"] < values["TMAX"] else "TMIN must be below TMAX"


class DEGOV(WoodwardDiesel):
    """Diesel engine and isochronous Woodward governor: PSS/E's DEGOV.

    :class:`WoodwardDiesel` with the error ``nref - (omega - 1)``. IEEE PES-TR1 (2013); PSS/E model library, DEGOV.
    """

    dyr = ("T1", "T2", "T3", "K", "T4", "T5", "T6", "TD", "TMAX", "TMIN")

    @quantity(PerUnit("Hz"), "speed error")
    def error(s: Any, machine: Any) -> Any:
        return s.nref - (machine.omega - 1.0)

    def start(s: Any) -> Any:
        return {"fuel": s.Pm, "halfway": s.Pm, "nref": 0.0}


class DEGOV1(WoodwardDiesel):
    """Diesel engine and Woodward governor with droop: PSS/E's DEGOV1.

    :class:`WoodwardDiesel` with the error ``nref - (omega - 1) - DROOP y``, y being the fuel where the code ``M = 0``,
    the electrical power through ``1 / (1 + s TE)`` where it is 1. IEEE PES-TR1 (2013); PSS/E model library, DEGOV1.
    """

    dyr = ("M", "T1", "T2", "T3", "K", "T4", "T5", "T6", "TD", "TMAX", "TMIN", "DROOP", "TE")
    M = Param("", 0.0, ge=0, le=1, doc="what the droop is of: 0 the fuel, 1 the electrical power")
    DROOP = Param("pu", 0.0, ge=0, doc="permanent droop")
    TE = Param("s", 0.0, ge=0, doc="time constant of the measured electrical power")
    Pe = Lag(lambda s, machine: machine.P, T="TE", init=0.5, doc="measured electrical power")

    @quantity(PerUnit("Hz"), "speed error")
    def error(s: Any, machine: Any) -> Any:
        return s.nref - (machine.omega - 1.0) - s.DROOP * np.where(s.M > 0.5, s.Pe, s.fuel)

    def start(s: Any, machine: Any) -> Any:
        droop = s.DROOP * np.where(s.M > 0.5, machine.P, s.Pm)
        return {"fuel": s.Pm, "halfway": s.Pm, "Pe": machine.P, "nref": droop}
