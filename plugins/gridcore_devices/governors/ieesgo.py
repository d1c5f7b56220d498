"""IEESGO: steam turbine and governor, IEEE standard model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, Setpoint, quantity
from gridcore_blocks import Lag, LeadLag, Limit


class IEESGO(Device):
    """IEEE standard steam turbine and governor. IEEE PES-TR1 (2013), section 3.1.3; PSS/E model library, IEESGO::

        speed    droop = K1 (1 + s T2) / ((1 + s T1) (1 + s T3)) of the speed deviation
        valve    Pref - droop, between PMIN and PMAX (windup)
        turbine  x4, x5, x6: lags T4, T5, T6 in a row
        power    Pm = (1 - K2) x4 + K2 (1 - K3) x5 + K2 K3 x6

    A time constant of zero leaves its lag out; the lead T2 is left out where ``T1 = T3 = 0``. Power is in per unit of
    the machine's base.
    """

    attaches = "machine"
    naming = "GOV_{machine}"
    dyr = ("T1", "T2", "T3", "T4", "T5", "T6", "K1", "K2", "K3", "PMAX", "PMIN")
    T1 = Param("s", 0.0, ge=0, doc="lag time constant of the controller")
    T2 = Param("s", 0.0, ge=0, doc="lead time constant of the controller")
    T3 = Param("s", 0.0, ge=0, doc="time constant of the governor")
    T4 = Param("s", 0.0, ge=0, doc="time constant of the steam inlet")
    T5 = Param("s", 0.0, ge=0, doc="time constant of the reheater")
    T6 = Param("s", 0.0, ge=0, doc="time constant of the crossover")
    K1 = Param("pu", gt=0, doc="gain, 1 over the droop")
    K2 = Param("", 0.0, ge=0, le=1, doc="part of the power behind the reheater")
    K3 = Param("", 0.0, ge=0, le=1, doc="part of that behind the crossover")
    PMAX = Param("pu", doc="upper limit of the valve")
    PMIN = Param("pu", doc="lower limit of the valve")
    Pref = Setpoint("pu", init=0.5, doc="load reference")
    controller = LeadLag(lambda s, machine: machine.omega - 1.0, K="K1", T1="T2", T2="T1", doc="answer to the speed")
    droop = LeadLag("controller", T1="late", T2="T3", doc="answer to the speed, behind the governor")
    valve = Limit(lambda s: s.Pref - s.droop, limits=("PMIN", "PMAX"), doc="valve position")
    x4 = Lag("valve", T="T4", init=0.5, doc="steam behind T4")
    x5 = Lag("x4", T="T5", init=0.5, doc="steam behind T5")
    x6 = Lag("x5", T="T6", init=0.5, doc="steam behind T6")
    Pm = Algebraic("pu", init=0.5, drives="machine.Pm", doc="turbine power",
                   equals=lambda s: (1.0 - s.K2) * s.x4 + s.K2 * ((1.0 - s.K3) * s.x5 + s.K3 * s.x6))

    @quantity("s", "lead time constant of the governor, where the controller has no lag")
    def late(s: Any) -> Any:
        return np.where(s.T1 > 0, 0.0, s.T2)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["PMIN"] < values["PMAX"] else "PMIN must be below PMAX"

    def start(s: Any) -> Any:
        return dict.fromkeys(("x4", "x5", "x6", "Pref"), s.Pm)
