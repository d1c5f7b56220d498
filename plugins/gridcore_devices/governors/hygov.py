"""HYGOV: hydro turbine and governor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Algebraic, Device, Param, Setpoint, State
from gridcore_blocks import Lag, Limit


class HYGOV(Device):
    """Hydro turbine and governor HYGOV: temporary droop, gate, and a penstock of inelastic water.

    PSS/E model library, HYGOV; IEEE PES-TR1 (2013), section 3.3.2; IEEE Working Group, "Hydraulic turbine and turbine
    control models for system dynamic studies", IEEE Trans. Power Syst. 7 (1992), eqs. 1-8::

        filter    e = 1/(1 + s Tf) (nref - (omega - 1) - R c)
        governor  c = (1 + s Tr)/(r Tr s) e, its rate between -VELM and VELM, c between GMIN and GMAX (non-windup)
        gate      g = 1/(1 + s Tg) c
        penstock  TW dq/dt = 1 - (q/g)^2
        power     Pm = At (q/g)^2 (q - qNL) - Dturb g (omega - 1)

    `c` is the state, its rate being ``(e/Tr + de/dt)/r`` with de/dt from the filter. Power is in per unit of the
    machine's base.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    dyr = ("R", "r", "Tr", "Tf", "Tg", "VELM", "GMAX", "GMIN", "TW", "At", "Dturb", "qNL")
    R = Param("pu", gt=0, doc="permanent droop")
    r = Param("pu", gt=0, doc="temporary droop")
    Tr = Param("s", gt=0, doc="time constant of the temporary droop")
    Tf = Param("s", gt=0, doc="time constant of the filter")
    Tg = Param("s", gt=0, doc="time constant of the gate's servomotor")
    VELM = Param("1/s", gt=0, doc="fastest movement of the gate")
    GMAX = Param("pu", doc="upper limit of the gate")
    GMIN = Param("pu", doc="lower limit of the gate")
    TW = Param("s", gt=0, doc="water starting time")
    At = Param("pu", gt=0, doc="turbine gain")
    Dturb = Param("pu", 0.0, ge=0, doc="turbine damping")
    qNL = Param("pu", 0.0, ge=0, doc="flow at no load")
    nref = Setpoint("pu", init=0.05, doc="speed reference, of the speed deviation")
    e = Lag(lambda s, machine: s.nref - (machine.omega - 1.0) - s.R * s.c, T="Tf", doc="filtered speed error")
    speed = Limit(lambda s: (s.e / s.Tr + (s.e_in - s.e) / s.Tf) / s.r, limits=(lambda s: -s.VELM, "VELM"), unit="1/s",
                  doc="speed of the desired gate")
    c = State("pu", init=0.5, rate=lambda s: s.speed, limits=("GMIN", "GMAX"), doc="desired gate")
    g = Lag("c", T="Tg", init=0.5, doc="gate")
    q = State("pu", init=0.5, T="TW", rate=lambda s: 1.0 - (s.q / s.g) ** 2, doc="flow of water")
    Pm = Algebraic("pu", init=0.5, drives="machine.Pm", doc="turbine power",
                   equals=lambda s, machine: (s.At * (s.q / s.g) ** 2 * (s.q - s.qNL)
                                              - s.Dturb * s.g * (machine.omega - 1.0)))

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["GMIN"] < values["GMAX"] else "GMIN must be below GMAX"

    def start(s: Any) -> Any:
        gate = s.Pm / s.At + s.qNL
        return {"e": 0.0, "c": gate, "g": gate, "q": gate, "nref": s.R * gate}
