"""What the power flow needs to know of sources and loads: the bases of most one-bus devices."""

from __future__ import annotations

from typing import Any

from .device import Device, Field, Param, PerUnit


class Source(Device):
    """A device that holds voltage: a machine, an infinite bus.

    Its equations are in per unit of its own rating ``Sn``; currents are converted to the system's
    base where they enter the bus. ``P0`` and ``Q0`` are on the system's base, as dispatch is given.
    """

    attaches = "bus"
    naming = "GEN{bus}"
    source = True
    regulates = True
    control = Field("PV", choices=("slack", "PV", "PQ"), doc="part in the power flow")
    Sn = Param("MVA", "base_mva", gt=0, doc="rated power: base of this device's per unit")
    P0 = Param(PerUnit("MW", "MVA"), 0.0, doc="active power injected at t0, system base (slack: found)")
    Q0 = Param(PerUnit("MVAr", "MVA"), 0.0, doc="reactive power injected at t0, system base (slack, PV: found)")
    V0 = Param(PerUnit("kV"), 1.0, gt=0, doc="voltage set-point of the power flow (slack, PV)")
    Qmin = Param(PerUnit("MVAr", "MVA"), -float("inf"), doc="lower reactive limit, system base")
    Qmax = Param(PerUnit("MVAr", "MVA"), float("inf"), doc="upper reactive limit, system base")

    def scheduled(s: Any) -> Any:
        return s.P0, s.Q0


class Load(Device):
    """A device that draws ``k (P0 + j Q0)`` at the voltage of the operating point."""

    attaches = "bus"
    naming = "LOAD{bus}"
    P0 = Param(PerUnit("MW", "MVA"), doc="active power drawn at t0 with all of it connected, system base")
    Q0 = Param(PerUnit("MVAr", "MVA"), 0.0, doc="reactive power drawn at t0 with all of it connected, system base")
    k = Param("pu", 1.0, ge=0, doc="part of the load that is connected; load shedding lowers it")

    def scheduled(s: Any) -> Any:
        return -s.k * s.P0, -s.k * s.Q0
