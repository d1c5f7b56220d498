"""Further numbers of a bus: of buses that a branch without impedance makes one."""

from __future__ import annotations

from typing import Any

from gridcore import Bus
from gridcore.contract import Device, Field, PerUnit, quantity


class JoinedBus(Device):
    """Another name of the bus that it is at: what is said to be at it is at that one, whose voltage is its own.

    ``JoinedBus(id="BUS3006", bus=153)``.
    """

    attaches = "bus"
    naming = Bus.naming
    label = Field("", doc="its name, for people: not unique")

    @quantity(PerUnit("kV"), "real part of the voltage")
    def Vr(s: Any, bus: Any) -> Any:
        return bus.Vr

    @quantity(PerUnit("kV"), "imaginary part of the voltage")
    def Vi(s: Any, bus: Any) -> Any:
        return bus.Vi

    @quantity(PerUnit("kV"), "voltage magnitude")
    def Vm(s: Any, bus: Any) -> Any:
        return bus.Vm

    @quantity("rad", "voltage angle")
    def Va(s: Any, bus: Any) -> Any:
        return bus.Va
