"""Under-frequency load shedding."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, State, guard


class UnderFrequencyLoadShedding(Device):
    """One stage: disconnects a part of its load when the frequency has been too low for `delay`.

    The frequency of the bus is the derivative of its voltage angle through a washout and a lag, the
    usual estimate in phasor models (Milano & Ortega, "Frequency divider", IEEE Trans. Power Syst. 32, 2017)::

        Ta dtheta/dt = sin(angle(V) - theta),   Tf dslip/dt = (dtheta/dt) / omega_b - slip

    For small differences the first is the washout itself. With the sine, and no angle computed, it
    follows the phasor through any number of turns, as long as ``|d angle/dt| Ta < 1``. The jump of an
    angle at a switching is spread over Ta and Tf: the delay must outlast it.

    The part is disconnected once. Several stages on one load are several devices.
    """

    attaches = "load"
    naming = "UFLS_{load}"
    threshold = Param("Hz", gt=0, doc="frequency below which the stage acts")
    delay = Param("s", 0.0, ge=0, doc="time below the threshold before it acts")
    shed = Param("pu", gt=0, le=1, doc="part of the whole load that is disconnected")
    Ta = Param("s", 0.02, gt=0, doc="time constant of the angle's washout")
    Tf = Param("s", 0.05, gt=0, doc="time constant of the frequency's lag")
    theta = State("rad", doc="angle that follows the bus's")
    slip = State("pu", T="Tf", doc="frequency deviation, measured")
    armed = Mode(1, doc="0 once it has acted")

    def rates(s: Any, bus: Any) -> Any:
        turn = (bus.Vi * np.cos(s.theta) - bus.Vr * np.sin(s.theta)) / (bus.Vm * s.Ta)
        return turn, turn / s.omega_b - s.slip

    @guard("down", when={"armed": 1, "load.status": 1}, delay="delay",
           then={"load.k": lambda s, load: np.maximum(load.k - s.shed, 0.0), "armed": 0})
    def underfrequency(s: Any) -> Any:
        """under-frequency load shedding"""
        return s.omega_b / (2.0 * np.pi) * (1.0 + s.slip) - s.threshold

    def start(s: Any, bus: Any) -> Any:
        return {"theta": bus.Va}
