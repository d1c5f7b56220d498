"""GAST: gas turbine and governor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Device, Param, Setpoint
from gridcore_blocks import Lag, LowGate


class GAST(Device):
    """Gas turbine and governor GAST. IEEE PES-TR1 (2013), section 3.2.2; PSS/E model library, GAST::

        request  = the lower of Pref - (omega - 1)/R and AT + KT (AT - exhaust)
        valve    = request / (1 + s T1), VMIN <= valve <= VMAX (non-windup)
        Pm       = valve / (1 + s T2), from which Dturb (omega - 1) is taken
        exhaust  = Pm / (1 + s T3)

    The damping Dturb acts behind the state Pm and reaches the machine as an input of its own, as that of TGOV1.
    Power is in per unit of the machine's base.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    dyr = ("R", "T1", "T2", "T3", "AT", "KT", "VMAX", "VMIN", "Dturb")
    R = Param("pu", gt=0, doc="permanent droop")
    T1 = Param("s", ge=0, doc="time constant of the fuel valve")
    T2 = Param("s", ge=0, doc="time constant of the combustion chamber")
    T3 = Param("s", ge=0, doc="time constant of the measured exhaust temperature")
    AT = Param("pu", doc="load that the ambient temperature allows")
    KT = Param("pu", ge=0, doc="gain of the temperature limit")
    VMAX = Param("pu", doc="upper limit of the fuel valve")
    VMIN = Param("pu", doc="lower limit of the fuel valve")
    Dturb = Param("pu", 0.0, drives="machine.Dt", doc="turbine damping")
    Pref = Setpoint("pu", init=0.5, doc="load reference")
    request = LowGate(lambda s, machine: s.Pref - (machine.omega - 1.0) / s.R,
                      lambda s: s.AT + s.KT * (s.AT - s.exhaust), settles=False,
                      doc="lower request of governor and temperature limit")
    valve = Lag("request", T="T1", limits=("VMIN", "VMAX"), init=0.5, doc="fuel valve")
    Pm = Lag("valve", T="T2", init=0.5, drives="machine.Pm", doc="turbine power, before damping")
    exhaust = Lag("Pm", T="T3", init=0.5, doc="measured exhaust temperature")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["VMIN"] < values["VMAX"] else "VMIN must be below VMAX"

    def start(s: Any) -> Any:
        return dict.fromkeys(("valve", "exhaust", "Pref"), s.Pm)
