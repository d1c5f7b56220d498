"""IEEEG3: hydro turbine and governor, IEEE 1973."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gridcore.contract import Algebraic, Device, Param, Setpoint, quantity
from gridcore_blocks import Integrator, Lag, LeadLag, Washout


class IEEEG3(Device):
    """Mechanical-hydraulic hydro governor and linear turbine IEEEG3.

    IEEE Committee, "Dynamic models for steam and hydro turbines in power system studies", IEEE Trans. Power App. Syst.
    92 (1973), figures 9 and 10; IEEE PES-TR1 (2013), section 3.3.1; PSS/E model library, IEEEG3::

        pilot    speed = 1/(TG (1 + s TP)) (Pref - (omega - 1) - droop), UC <= speed <= UO (non-windup)
        gate     1/s of that, PMIN <= gate <= PMAX (non-windup)
        droop    (SIGMA + DELTA s TR/(1 + s TR)) gate
        turbine  Pm = A23 (1 + (A11 - A13 A21/A23) s TW)/(1 + A11 s TW) gate

    Power is in per unit of the machine's base.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    dyr = ("TG", "TP", "UO", "UC", "PMAX", "PMIN", "SIGMA", "DELTA", "TR", "TW", "A11", "A13", "A21", "A23")
    plausible: ClassVar = {"TR": (0.0, 200.0)}  # a dashpot; 12 s in ACTIVSg2000
    TG = Param("s", gt=0, doc="response time of the gate's servomotor")
    TP = Param("s", 0.0, ge=0, doc="time constant of the pilot valve")
    UO = Param("1/s", gt=0, doc="fastest opening of the gate")
    UC = Param("1/s", lt=0, doc="fastest closing of the gate")
    PMAX = Param("pu", doc="upper limit of the gate")
    PMIN = Param("pu", doc="lower limit of the gate")
    SIGMA = Param("pu", ge=0, doc="permanent droop")
    DELTA = Param("pu", 0.0, ge=0, doc="temporary droop")
    TR = Param("s", 0.0, ge=0, doc="time constant of the temporary droop")
    TW = Param("s", 0.0, ge=0, doc="water starting time")
    A11 = Param("", 0.5, ge=0, doc="change of the flow with the head")
    A13 = Param("", 1.0, doc="change of the flow with the gate")
    A21 = Param("", 1.5, doc="change of the torque with the head")
    A23 = Param("", 1.0, gt=0, doc="change of the torque with the gate")
    Pref = Setpoint("pu", init=0.02, doc="load reference, of the speed deviation")
    temporary = Washout("gate", K=lambda s: s.DELTA * s.TR, T="TR", doc="temporary droop")
    speed = Lag(lambda s, machine: (s.Pref - (machine.omega - 1.0) - s.SIGMA * s.gate - s.temporary) / s.TG, T="TP",
                limits=("UC", "UO"), unit="1/s", doc="speed of the gate")
    gate = Integrator("speed", limits=("PMIN", "PMAX"), init=0.5, doc="gate")
    turbine = LeadLag("gate", K="A23", T1="TL", T2="T11", doc="power of the water column")
    Pm = Algebraic("pu", init=0.5, equals=lambda s: s.turbine, drives="machine.Pm", doc="turbine power")

    @quantity("s", "lead time constant of the turbine")
    def TL(s: Any) -> Any:
        return (s.A11 - s.A13 * s.A21 / s.A23) * s.TW

    @quantity("s", "lag time constant of the turbine")
    def T11(s: Any) -> Any:
        return s.A11 * s.TW

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["TW"] > 0 and not values["A11"] > 0:
            return "A11 must be above zero where TW is: the turbine would differentiate the gate"
        return None if values["PMIN"] < values["PMAX"] else "PMIN must be below PMAX"

    def start(s: Any) -> Any:
        gate = s.Pm / s.A23
        return {"gate": gate, "temporary_x": gate, "turbine_x": s.Pm, "Pref": s.SIGMA * gate}
