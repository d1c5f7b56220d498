"""Capacitors at DC buses, and the one that takes the part of the slack."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Algebraic, Device, Param, PerUnit, Port, Quantity, Setpoint, State

from .bus import DCBus


class DCCapacitor(Device):
    """A capacitor with its equivalent series resistance: of a converter, or half of a cable's.

    Cole & Belmans, Electric Power Systems Research 81 (2011) 967::

        c dv/dt = i,   V = v + r i

    It holds its island. Two at one bus need a resistance each, or their voltages would be one.
    """

    attaches = Port("dc", node=DCBus)
    naming = "CAP{dc}"
    source = True
    c = Param("s", gt=0, doc="capacitance times base resistance")
    r = Param(PerUnit("ohm"), 0.0, ge=0, doc="equivalent series resistance")
    v = State("pu", init=1.0, T="c", rate=lambda s: s.charging, doc="voltage")
    i = Algebraic("pu", doc="current from the bus into the capacitor")
    charging = Quantity("pu", lambda s: s.i, "current that charges it")

    def residuals(s: Any, dc: Any) -> Any:
        return dc.V - s.v - s.r * s.i

    def flows(s: Any, dc: Any) -> Any:
        return (-s.i,)


class DCSlack(DCCapacitor):
    """A capacitor whose voltage at t0 is given.

    The powers of all converters of a DC network are given by the dispatch of the AC network; together with all losses
    they should add up to nothing. What they leave, `spare`, is a constant current found at t0, so that the voltage can
    be the given one; :func:`~gridcore_converters.dc.balance.balance_dc` makes it zero.
    """

    naming = "SLACK{dc}"
    V0 = Param(PerUnit("kV"), 1.0, gt=0, doc="voltage at t0")
    v = State("pu", init=1.0, T="c", start_at="V0", rate=lambda s: s.charging, doc="voltage")
    spare = Setpoint("pu", equals=lambda s: s.i, doc="current that the dispatch leaves at t0")
    charging = Quantity("pu", lambda s: s.i - s.spare, "current that charges it")
