"""Buses: the nodes that devices attach to."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import Algebraic, Device, Field, Mode, Param, quantity


class Bus(Device):
    """A node: two voltages in rectangular coordinates, and the balance of the currents injected.

    The balance itself is summed by the assembly; a bus without energy is held at zero volts.
    """

    naming = "BUS{id}"
    label = Field("", doc="its name, for people: not unique")
    kv = Param("kV", 1.0, gt=0, doc="nominal voltage")
    Vm0 = Param("pu", 1.0, ge=0, doc="voltage magnitude at t0 (found by the power flow; before it, its start)")
    Va0 = Param("rad", 0.0, doc="voltage angle at t0 (found by the power flow; before it, its start)")
    Vr = Algebraic("pu", init=1.0, doc="real part of the voltage")
    Vi = Algebraic("pu", doc="imaginary part of the voltage")
    energised = Mode(1.0, doc="0 in an island that was taken out of service")

    def residuals(s: Any) -> Any:
        return np.where(s.energised, 0.0, s.Vr), np.where(s.energised, 0.0, s.Vi)

    @quantity("pu", "squared voltage magnitude, never exactly zero, so that it may be divided by")
    def V2(s: Any) -> Any:
        return s.Vr * s.Vr + s.Vi * s.Vi + 1e-100

    @quantity("pu", "voltage magnitude")
    def Vm(s: Any) -> Any:
        return np.sqrt(s.V2)

    @quantity("rad", "voltage angle")
    def Va(s: Any) -> Any:
        return np.arctan2(s.Vi, s.Vr)
