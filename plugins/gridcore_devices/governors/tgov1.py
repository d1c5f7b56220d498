"""TGOV1: steam turbine and governor."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Param, Setpoint, State


class TGOV1(Device):
    """Steam turbine and governor TGOV1. IEEE PES-TR1 (2013), section 3.1.1; PSS/E's TGOV1.

    ``x1 = 1/(1 + s T1) (Pref - (omega - 1)/R)`` is the valve, held between VMIN and VMAX (non-windup);
    ``Pm = (1 + s T2)/(1 + s T3) x1`` the turbine, from which ``Dt (omega - 1)`` is taken.

    The turbine is written so that its output is the state:
    ``T3 dPm/dt = x1 - Pm + T2 dx1/dt``, dx1/dt being zero at a valve limit. So `Pm` drives the machine
    as it is. The damping `Dt` acts after that state and reaches the machine as an input of its own.

    Pref is in per unit of power on the machine's base: PSS/E's reference VAR(L) divided by R.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    dyr = ("R", "T1", "VMAX", "VMIN", "T2", "T3", "Dt")
    R = Param("pu", gt=0, doc="permanent droop")
    T1 = Param("s", gt=0, doc="time constant of the valve")
    T2 = Param("s", ge=0, doc="lead time constant of the turbine")
    T3 = Param("s", gt=0, doc="lag time constant of the turbine")
    VMIN = Param("pu", doc="lower limit of the valve")
    VMAX = Param("pu", doc="upper limit of the valve")
    Dt = Param("pu", 0.0, drives="machine.Dt", doc="turbine damping")
    x1 = State("pu", init=0.5, T="T1", limits=("VMIN", "VMAX"), doc="valve position")
    Pm = State("pu", init=0.5, T="T3", drives="machine.Pm", doc="turbine power, before damping")
    Pref = Setpoint("pu", init=0.5, doc="load reference")

    @classmethod
    def check(cls, values: Any) -> str | None:
        return None if values["VMIN"] < values["VMAX"] else "VMIN must be below VMAX"

    def rates(s: Any, machine: Any) -> Any:
        valve = s.Pref - (machine.omega - 1.0) / s.R - s.x1
        speed = np.where(s.x1_limit == 0, valve / s.T1, 0.0)
        return valve, s.x1 - s.Pm + s.T2 * speed

    def start(s: Any) -> Any:
        return {"x1": s.Pm, "Pref": s.Pm}
