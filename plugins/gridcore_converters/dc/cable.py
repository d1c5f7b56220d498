"""A cable or overhead line between two DC buses."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, PerUnit, Port, State, quantity

from .bus import DCBus


class DCCable(Device):
    """Resistance and inductance in series.

    Milano, Power System Modelling and Scripting (2010), part on DC devices::

        l di/dt = V1 - V2 - r i

    Its capacitance belongs to the :class:`~gridcore_converters.dc.capacitor.DCCapacitor` at either end.
    """

    attaches = (Port("dc1", node=DCBus), Port("dc2", node=DCBus))
    naming = "CABLE{dc1}-{dc2}"
    r = Param(PerUnit("ohm"), gt=0, doc="resistance")
    l = Param("s", 0.0, ge=0, doc="inductance over base resistance; 0: a resistance alone")  # noqa: E741
    i = State("pu", T="l", rate=lambda s, dc1, dc2: dc1.V - dc2.V - s.r * s.i, doc="current from dc1 to dc2")

    @quantity("pu", "power from dc1 into the cable")
    def P1(s: Any, dc1: Any) -> Any:
        return s.status * dc1.V * s.i

    @quantity("pu", "losses")
    def losses(s: Any) -> Any:
        return s.status * s.r * s.i * s.i

    def flows(s: Any, dc1: Any, dc2: Any) -> Any:
        return (-s.i,), (s.i,)

    def start(s: Any, dc1: Any, dc2: Any) -> Any:
        return {"i": (dc1.V - dc2.V) / s.r}
