"""A DC network, alone or beside an AC one: against public names only.

Voltages in pu of a base voltage of the DC network, currents in pu of ``base_mva`` over it.
"""

from __future__ import annotations

import gridcore as gc


class DCNode(gc.Node):
    """A node of a DC network."""

    naming = "DC{id}"
    kind = "DC node"
    V = gc.Algebraic("pu", init=1.0, doc="voltage")


class DCLine(gc.Device):
    """A resistance between two DC nodes."""

    attaches = (gc.Port("dc1", node=DCNode), gc.Port("dc2", node=DCNode))
    naming = "DCLINE{dc1}-{dc2}"
    r = gc.Param("pu", gt=0, doc="resistance")

    @gc.quantity("pu", "current from dc1 to dc2")
    def I(s, dc1, dc2):  # noqa: E743
        return (dc1.V - dc2.V) / s.r

    def flows(s, dc1, dc2):
        return (-s.I,), (s.I,)


class DCSource(gc.Device):
    """A voltage behind a resistance; it falls with the current it gives, with a lag: droop control.

    J. Beerten, S. Cole, R. Belmans, "Modeling of multi-terminal VSC HVDC systems with distributed DC voltage control",
    IEEE Trans. Power Systems 29(1), 2014.
    """

    attaches = gc.Port("dc", node=DCNode)
    naming = "DCSRC{dc}"
    source = True
    E = gc.Param("pu", 1.0, gt=0, doc="voltage without load")
    r = gc.Param("pu", 0.004, gt=0, doc="resistance")
    droop = gc.Param("pu", 0.006, ge=0, doc="droop of the voltage behind it")
    T = gc.Param("s", 0.05, gt=0, doc="lag of the droop")
    V = gc.State("pu", init=1.0, T="T", doc="voltage behind the resistance")

    @gc.quantity("pu", "current into the node")
    def i(s, dc):
        return (s.V - dc.V) / s.r

    def rates(s, dc):
        return s.E - s.droop * s.i - s.V

    def flows(s, dc):
        return s.i


class DCLoad(gc.Device):
    """A load that draws constant power once its conductance has followed the voltage, with a lag.

    Constant power as in A. Kwasinski, C. N. Onwuchekwa, "Dynamic behavior and stabilization of DC microgrids with
    instantaneous constant-power loads", IEEE Trans. Power Electronics 26(3), 2011.
    """

    attaches = gc.Port("dc", node=DCNode)
    naming = "DCLOAD{dc}"
    P0 = gc.Param("pu", doc="power drawn")
    T = gc.Param("s", 0.1, gt=0, doc="lag of the voltage")
    Vf = gc.State("pu", init=1.0, T="T", doc="voltage, followed")

    def rates(s, dc):
        return dc.V - s.Vf

    def flows(s, dc):
        return (-s.P0 * dc.V / s.Vf**2,)


class Converter(gc.Device):
    """Takes constant power from an AC bus, at unity power factor, and gives it to a DC node."""

    attaches = ("bus", gc.Port("dc", node=DCNode))
    naming = "CONV{bus}-{dc}"
    P0 = gc.Param("pu", doc="power from the AC bus to the DC node")

    def scheduled(s):
        return -s.P0, 0.0

    def flows(s, bus, dc):
        return (-s.P0 * bus.Vr / bus.V2, -s.P0 * bus.Vi / bus.V2), s.P0 / dc.V


class DCTrip(gc.Device):
    """A DC line opens when its current exceeds a limit."""

    attaches = gc.Port("line", node=DCLine)
    naming = "DCTRIP_{line}"
    Imax = gc.Param("pu", 10.0, gt=0, doc="limit")
    tripped = gc.Mode(0, doc="1 once it has opened the line")

    @gc.guard("up", when={"tripped": 0, "line.status": 1}, then={"tripped": 1, "line.status": 0})
    def above(s, line):
        """Line current above its limit."""
        return line.I - s.Imax


DEVICES = (DCNode, DCLine, DCSource, DCLoad, Converter, DCTrip)
