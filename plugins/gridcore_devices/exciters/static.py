"""Fast static exciter."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Input, Param, Setpoint, State


class StaticExciter(Device):
    """One gain and one lag: ``TA dEfd/dt = KA (Vref + Vs - V) - Efd``.

    Sauer & Pai (1998), section 8.6.1, where it makes the flux-decay machine one of fourth order.
    """

    attaches = "machine"
    naming = "EXC_{machine}"
    KA = Param("pu", gt=0, doc="gain")
    TA = Param("s", ge=0, doc="time constant")
    Efd = State("pu", init=1.0, T="TA", drives="machine.Efd", doc="field voltage")
    Vs = Input("pu", 0.0, doc="stabilizing signal")
    Vref = Setpoint("pu", init=1.0, doc="voltage reference")

    def rates(s: Any, bus: Any) -> Any:
        return s.KA * (s.Vref + s.Vs - bus.Vm) - s.Efd

    def start(s: Any, bus: Any) -> Any:
        return {"Vref": bus.Vm + s.Efd / s.KA}
