"""PIDGOV and WPIDHY: hydro turbines and Woodward's PID governors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit, Setpoint, quantity
from gridcore_blocks import PI, Curve, Integrator, Lag, LeadLag, Limit, RateLimitedLag, Washout


class WoodwardHydro(Device):
    """Base of the hydro turbines with a PID governor: all but what is fed back, and what moves the gate.

    PSS/E model library, PIDGOV and WPIDHY, as PowerSimulationsDynamics.jl has them; IEC 61970-302, GovHydroPID2 and
    GovHydroWPID::

        error   = droop - (omega - 1)
        request = (Kp + Ki/s + s Kd) / (1 + s Ta)^2 of the error
        power   = the curve through (G0, 0), (G1, P1), (G2, P2), (1, P3) at the gate
        water   = (1 - s Tz) / (1 + s Tz/2) of the power

    Power is in per unit of the machine's base.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    Treg = Param("s", 0.0, ge=0, doc="time constant of the droop")
    Kp = Param("pu", ge=0, doc="proportional gain")
    Ki = Param("1/s", gt=0, doc="integral gain")
    Kd = Param("s", 0.0, ge=0, doc="derivative gain")
    Ta = Param("s", ge=0, doc="time constant of the controller; 0: no derivative")
    G0 = Param("pu", 0.0, doc="gate at no load")
    G1 = Param("pu", doc="first intermediate gate")
    P1 = Param(PerUnit("MW", "MVA"), doc="power at G1")
    G2 = Param("pu", doc="second intermediate gate")
    P2 = Param(PerUnit("MW", "MVA"), doc="power at G2")
    P3 = Param("pu", doc="power at the full gate, 1")
    Tw = Param("s", ge=0, doc="water starting time")
    Pref = Setpoint("pu", init=0.5, doc="load reference")
    control = PI("error", KP="Kp", KI="Ki", init=0.5, doc="proportional and integral part")
    filtered = Lag("control", T="Ta", init=0.5, doc="proportional and integral part, filtered")
    derivative = Washout("error", K="Kd", T="Ta", doc="derivative part, filtered")
    request = Lag(lambda s: s.filtered + s.derivative, T="Ta", init=0.5, doc="request of the controller")
    power = Curve("gate", points=(("G0", 0.0), ("G1", "P1"), ("G2", "P2"), (1.0, "P3")), doc="power at the gate")
    water = LeadLag("power", T1="falls", T2="lags", doc="power of the water column")

    @quantity(PerUnit("Hz"), "speed error")
    def error(s: Any, machine: Any) -> Any:
        return s.droop - (machine.omega - 1.0)

    @quantity("s", "lead time constant of the water column")
    def falls(s: Any) -> Any:
        return -2.0 * s.lags

    @quantity("s", "lag time constant of the water column")
    def lags(s: Any) -> Any:
        return 0.5 * s.Tw

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if not values["G0"] < values["G1"] < values["G2"] < 1.0:
            return "G0, G1, G2 and 1 must rise"
        return None if 0.0 < values["P1"] < values["P2"] < values["P3"] else "0, P1, P2 and P3 must rise"


def gate_at(s: Any, power: Any) -> Any:
    """The gate of a power."""
    return Curve.inverse(((s.G0, 0.0), (s.G1, s.P1), (s.G2, s.P2), (1.0, s.P3)), power)


class PIDGOV(WoodwardHydro):
    """Hydro turbine and Woodward's PID governor PIDGOV.

    :class:`WoodwardHydro` with ``Tz = Atw Tw`` and::

        droop = Rperm / (1 + s Treg) (Pref - y), y the gate where Feedback is 1, the electrical power where it is 0
        gate  = 1/(1 + s Tb) of the request, its rate between Velmin and Velmax, the gate between Gmin and Gmax
        Pm    = water - Dturb (omega - 1)

    The gate's limits are non-windup.
    """

    dyr = ("Feedback", "Rperm", "Treg", "Kp", "Ki", "Kd", "Ta", "Tb", "Dturb", "G0", "G1", "P1", "G2", "P2", "P3",
           "Gmax", "Gmin", "Atw", "Tw", "Velmax", "Velmin")
    Feedback = Param("", 0.0, ge=0, le=1, doc="what the droop is of: 0 the electrical power, 1 the gate")
    Rperm = Param("pu", ge=0, doc="permanent droop")
    Tb = Param("s", gt=0, doc="time constant of the gate's servomotor")
    Dturb = Param("pu", 0.0, doc="turbine damping")
    Gmax = Param("pu", doc="upper limit of the gate")
    Gmin = Param("pu", doc="lower limit of the gate")
    Atw = Param("", 1.0, ge=0, doc="factor of Tw")
    Velmax = Param("1/s", gt=0, doc="fastest opening of the gate")
    Velmin = Param("1/s", lt=0, doc="fastest closing of the gate")
    droop = Lag(lambda s, machine: s.Pref - np.where(s.Feedback > 0.5, s.gate, machine.P), K="Rperm", T="Treg",
                doc="droop")
    gate = RateLimitedLag("request", T="Tb", rates=("Velmin", "Velmax"), limits=("Gmin", "Gmax"), init=0.5, doc="gate")
    Pm = Algebraic("pu", init=0.5, drives="machine.Pm", doc="turbine power",
                   equals=lambda s, machine: s.water - s.Dturb * (machine.omega - 1.0))

    @quantity("s", "lag time constant of the water column")
    def lags(s: Any) -> Any:
        return 0.5 * s.Atw * s.Tw

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return super().check(values) or (None if values["Gmin"] < values["Gmax"] else "Gmin must be below Gmax")

    def start(s: Any, machine: Any) -> Any:
        gate = gate_at(s, s.Pm)
        return {"droop": 0.0, **dict.fromkeys(("control_x", "filtered", "request", "gate"), gate), "water_x": s.Pm,
                "Pref": np.where(s.Feedback > 0.5, gate, machine.P)}


class WPIDHY(WoodwardHydro):
    """Hydro turbine and Woodward's PID governor WPIDHY, whose request is the speed of the gate.

    :class:`WoodwardHydro` with ``Tz = Tw`` and::

        droop = Reg / (1 + s Treg) (P - Pref), P the electrical power
        speed = 1/(1 + s Tb) of the request between Velmn and Velmx
        gate  = 1/s of the speed, Gatmn <= gate <= Gatmx (non-windup)
        Pm    = water between Pmin and Pmax, less D (omega - 1)

    So Reg is below zero. Of other programs PowerSimulationsDynamics.jl and InterPSS have 1/(1 + s Tb), too, OpenIPSL
    has s/(1 + s Tb); no trajectory of PSS/E was there to decide.
    """

    dyr = ("Treg", "Reg", "Kp", "Ki", "Kd", "Ta", "Tb", "Velmx", "Velmn", "Gatmx", "Gatmn", "Tw", "Pmax", "Pmin", "D",
           "G0", "G1", "P1", "G2", "P2", "P3")
    Tb = Param("s", ge=0, doc="time constant of the gate's servomotor")
    Reg = Param("pu", lt=0, doc="permanent droop, negative")
    Velmx = Param("1/s", gt=0, doc="fastest opening of the gate")
    Velmn = Param("1/s", lt=0, doc="fastest closing of the gate")
    Gatmx = Param("pu", doc="upper limit of the gate")
    Gatmn = Param("pu", doc="lower limit of the gate")
    Pmax = Param(PerUnit("MW", "MVA"), doc="upper limit of the power")
    Pmin = Param(PerUnit("MW", "MVA"), doc="lower limit of the power")
    D = Param("pu", 0.0, doc="turbine damping")
    droop = Lag(lambda s, machine: machine.P - s.Pref, K="Reg", T="Treg", doc="droop")
    moved = Lag("request", T="Tb", unit="1/s", doc="request of the gate's speed")
    speed = Limit("moved", limits=("Velmn", "Velmx"), unit="1/s", doc="speed of the gate")
    gate = Integrator("speed", limits=("Gatmn", "Gatmx"), init=0.5, doc="gate")
    held = Limit("water", limits=("Pmin", "Pmax"), doc="power of the water column, limited")
    Pm = Algebraic("pu", init=0.5, drives="machine.Pm", doc="turbine power",
                   equals=lambda s, machine: s.held - s.D * (machine.omega - 1.0))

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        for low, high in (("Gatmn", "Gatmx"), ("Pmin", "Pmax")):
            if not values[low] < values[high]:
                return f"{low} must be below {high}"
        return super().check(values)

    def start(s: Any, machine: Any) -> Any:
        return {**dict.fromkeys(("droop", "control_x", "filtered", "request", "moved"), 0.0), "gate": gate_at(s, s.Pm),
                "water_x": s.Pm, "Pref": machine.P}
