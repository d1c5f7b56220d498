"""The dynamics of a line's inductance."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Port, State
from gridcore_devices.branches.line import Line
from gridcore_devices.branches.pi import admittance, times


class LineInductor(Device):
    """Makes the series current of a line a state, in the network's frame.

    Milano, Power System Modelling and Scripting (2010), section 14.2::

        x/ωb di/dt = V1 - V2 - (r + j x) i

    The line itself gives the power flow its admittance, and goes on injecting ``(V1 - V2) / (r + j x)``; this device,
    between the same buses, injects what is missing to i, nothing at rest, and goes out of service with the line.
    Charging stays static: a bus needs something else beside lines and converters whose currents are states, a load or
    charging, or its voltage is not determined.
    """

    attaches = ("bus1", "bus2", Port("line", node=Line))
    naming = "INDUCTOR_{line}"
    ir = State("pu", doc="current from bus1 to bus2, real part")
    ii = State("pu", doc="current from bus1 to bus2, imaginary part")

    def scheduled(s: Any) -> Any:
        return 0.0, 0.0

    def rates(s: Any, bus1: Any, bus2: Any, line: Any) -> Any:
        re, im = bus1.Vr - bus2.Vr, bus1.Vi - bus2.Vi
        return (s.omega_b * ((re - line.r * s.ir) / line.x + s.ii), s.omega_b * ((im - line.r * s.ii) / line.x - s.ir))

    def currents(s: Any, bus1: Any, bus2: Any, line: Any) -> Any:
        re, im = times(*admittance(line.r, line.x), bus1.Vr - bus2.Vr, bus1.Vi - bus2.Vi)
        return (re - s.ir, im - s.ii), (s.ir - re, s.ii - im)

    def start(s: Any, bus1: Any, bus2: Any, line: Any) -> Any:
        re, im = times(*admittance(line.r, line.x), bus1.Vr - bus2.Vr, bus1.Vi - bus2.Vi)
        return {"ir": re, "ii": im}
