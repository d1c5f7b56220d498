"""A resistance and an inductance in series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Load, Setpoint, State
from gridcore_devices.power import drawn_power


class RLLoad(Load):
    """A load of resistance and inductance in series, its current in the network's frame a state.

    Milano, Power System Modelling and Scripting (2010), section 14.2; with ``R + j X`` found at t0::

        X/ωb di/dt = V - (R + j X) i
    """

    R = Setpoint("pu", init=1.0, doc="resistance with all of it connected",
                 equals=lambda s, bus: s.P0 * bus.V2 / (s.P0 * s.P0 + s.Q0 * s.Q0))
    X = Setpoint("pu", init=1.0, doc="reactance with all of it connected",
                 equals=lambda s, bus: s.Q0 * bus.V2 / (s.P0 * s.P0 + s.Q0 * s.Q0))
    ir = State("pu", doc="current with all of it connected, real part")
    ii = State("pu", doc="current with all of it connected, imaginary part")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["Q0"] > 0 else "Q0 must be above zero: an inductance draws it"

    def rates(s: Any, bus: Any) -> Any:
        return (s.omega_b * ((bus.Vr - s.R * s.ir) / s.X + s.ii), s.omega_b * ((bus.Vi - s.R * s.ii) / s.X - s.ir))

    def currents(s: Any, bus: Any) -> Any:
        return -s.k * s.ir, -s.k * s.ii

    P, Q = drawn_power(currents)

    def start(s: Any, bus: Any) -> Any:
        S2 = s.P0 * s.P0 + s.Q0 * s.Q0
        return {"R": s.P0 * bus.V2 / S2, "X": s.Q0 * bus.V2 / S2, "ir": (s.P0 * bus.Vr + s.Q0 * bus.Vi) / bus.V2,
                "ii": (s.P0 * bus.Vi - s.Q0 * bus.Vr) / bus.V2}
