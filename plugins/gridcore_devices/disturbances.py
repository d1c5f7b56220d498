"""Events that a study adds to a case: devices like any other, with timers.

A fault is an admittance that a timer switches; a trip sets a ``status``; a step changes a parameter;
a ramp takes a parameter's place. Times, impedances and new values are parameters with names
(``fault.clear``), so that results can be differentiated by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore import Algebraic, Device, Mode, Param, PerUnit, Reference, timer

NEVER = float("inf")


class BusFault(Device):
    """A three-phase fault to ground through ``r + j x``, from ``t`` to ``clear``."""

    attaches = "bus"
    naming = "fault"
    t = Param("s", doc="time at which the fault strikes")
    clear = Param("s", NEVER, doc="time at which it is gone")
    r = Param(PerUnit("ohm"), 0.0, doc="fault resistance, system base")
    x = Param(PerUnit("ohm"), 1e-4, doc="fault reactance, system base")
    on = Mode(0, doc="1 while the fault is there")
    strikes = timer("t", then={"on": 1}, doc="fault")
    clears = timer("clear", then={"on": 0}, doc="fault cleared")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["r"] == 0 and values["x"] == 0:
            return "r and x are both zero: give a small impedance, as x = 1e-4"
        after = values["clear"] > values["t"] or values["clear"] == NEVER
        return None if after else "clear must be after t: the fault is there in between (t = clear = inf: never)"

    def currents(s: Any, bus: Any) -> Any:
        z2 = s.r * s.r + s.x * s.x
        g, b = s.r / z2, -s.x / z2
        return np.where(s.on, -(g * bus.Vr - b * bus.Vi), 0.0), np.where(s.on, -(g * bus.Vi + b * bus.Vr), 0.0)


class BranchTrip(Device):
    """A line or transformer opens at ``t``, and closes again at ``reclose``."""

    attaches = "branch"
    naming = "trip"
    t = Param("s", doc="time at which the branch opens")
    reclose = Param("s", NEVER, doc="time at which it closes again")
    opens = timer("t", then={"branch.status": 0}, doc="opened")
    closes = timer("reclose", then={"branch.status": 1}, doc="reclosed")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["reclose"] > values["t"] or values["t"] == NEVER else "reclose must be after t"


class Trip(Device):
    """Any device goes out of service at ``t``, with all that hangs on it."""

    attaches = "device"
    naming = "trip"
    t = Param("s", doc="time of the trip")
    trips = timer("t", then={"device.status": 0}, doc="tripped")


class ParameterStep(Device):
    """Any parameter or set-point changes at ``t``: to ``scale`` times its value, plus ``by``.

    ``scale=0, by=1.05`` sets it to 1.05.
    """

    naming = "step"
    parameter = Reference(doc="address of the parameter: LOAD5.P0, EXC1.Vref")
    t = Param("s", doc="time of the step")
    scale = Param("", 1.0, doc="factor")
    by = Param("", 0.0, doc="what is added, in the parameter's unit")
    steps = timer("t", then={"parameter": lambda s: s.parameter * s.scale + s.by}, doc="step")


class Ramp(Device):
    """Any parameter or set-point moves from ``t0`` to ``t1``, to ``scale`` times its value plus ``by``."""

    naming = "ramp"
    parameter = Reference(doc="address of the parameter: GEN1.Pm, GOV2.Pref")
    t0 = Param("s", doc="start of the ramp")
    t1 = Param("s", doc="end of the ramp")
    scale = Param("", 1.0, doc="factor at the end")
    by = Param("", 0.0, doc="what is added at the end, in the parameter's unit")
    value = Algebraic("", drives="parameter", doc="the parameter's value now")
    phase = Mode(0, doc="0 before, 1 during, 2 after the ramp")
    begins = timer("t0", then={"phase": 1}, doc="ramp begins")
    ends = timer("t1", then={"phase": 2}, doc="ramp ends")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["t1"] > values["t0"] else "t1 must be after t0"

    def residuals(s: Any) -> Any:
        along = np.where(s.phase == 1, (s.time - s.t0) / (s.t1 - s.t0), np.where(s.phase == 2, 1.0, 0.0))
        return s.value - s.parameter - along * (s.parameter * (s.scale - 1) + s.by)

    def start(s: Any) -> Any:
        return {"value": s.parameter}
