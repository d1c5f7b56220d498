"""The frequency of a bus, as relays measure it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Param, State, quantity


class FrequencyRelay(Device):
    """Base of the relays that measure the frequency of their bus.

    It is the derivative of the angle of the voltage through a washout and a lag, the usual estimate in phasor models
    (Milano & Ortega, "Frequency divider", IEEE Trans. Power Syst. 32, 2017)::

        Ta dtheta/dt = sin(angle(V) - theta),   Tf dslip/dt = (dtheta/dt) / omega_b - slip

    For small differences the first is the washout itself. With the sine, and no angle computed, it follows the phasor
    through any number of turns, as long as ``|d angle/dt| Ta < 1``. The jump of an angle at a switching is spread over
    Ta and Tf: the delay of a relay must outlast it.
    """

    Ta = Param("s", 0.02, gt=0, doc="time constant of the angle's washout")
    Tf = Param("s", 0.05, gt=0, doc="time constant of the frequency's lag")
    theta = State("rad", doc="angle that follows the bus's")
    slip = State("pu", T="Tf", doc="frequency deviation, measured")

    @quantity("Hz", "frequency, measured")
    def frequency(s: Any) -> Any:
        return s.omega_b / (2.0 * np.pi) * (1.0 + s.slip)

    def rates(s: Any, bus: Any) -> Any:
        turn = (bus.Vi * np.cos(s.theta) - bus.Vr * np.sin(s.theta)) / (bus.Vm * s.Ta)
        return turn, turn / s.omega_b - s.slip

    def start(s: Any, bus: Any) -> Any:
        return {"theta": bus.Va}
