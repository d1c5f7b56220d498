"""Phase-locked loops: their base, and the one that gives an outer loop the frequency of the grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit, State, quantity

from ..frames import component


class PhaseLockedLoop(Device):
    """Base of the phase-locked loops: on the voltage of the capacitor, filtered, with the arc tangent of its angle.

    Kaura & Blasko, IEEE Trans. Ind. Appl. 33 (1997), as in D'Arco, Suul & Fosso, Electric Power Systems Research 122
    (2015)::

        dv/dt = wlp (vo e^{-jθ} - v),   dε/dt = arctan(vq / vd),   w = 1 + kp dε/dt + ki ε,   dθ/dt = ωb (w - 1)
    """

    wlp = Param("1/s", 500.0, gt=0, doc="cut-off frequency of the filters")
    kp = Param("pu", gt=0, doc="gain")
    ki = Param("1/s", gt=0, doc="integral gain")
    vd = State("pu", init=1.0, doc="voltage filtered, d axis", rate=lambda s: s.wlp * (s.vod - s.vd))
    vq = State("pu", doc="voltage filtered, q axis", rate=lambda s: s.wlp * (s.voq - s.vq))
    eps = State("rad", doc="integral of the error of the angle", rate=lambda s: s.error)
    theta = State("rad", doc="angle of the voltage, as followed", rate=lambda s: s.omega_b * (s.speed - 1.0))
    vod = component("vor", "voi", 0, "voltage of the capacitor, d axis")
    voq = component("vor", "voi", 1, "voltage of the capacitor, q axis")

    @quantity("rad", "angle of the control's frame")
    def angle(s: Any) -> Any:
        return s.theta

    @quantity("rad", "error of the angle")
    def error(s: Any) -> Any:
        return np.arctan(s.vq / s.vd)

    @quantity("pu", "frequency that turns the angle")
    def speed(s: Any) -> Any:
        return 1.0 + s.kp * s.error + s.ki * s.eps

    def start(s: Any, converter: Any) -> Any:
        return {"vd": np.hypot(converter.vor, converter.voi), "theta": np.arctan2(converter.voi, converter.vor)}


class ConverterPLL(PhaseLockedLoop):
    """Phase-locked loop that gives an outer loop the frequency of the grid.

    The loop of :class:`PhaseLockedLoop`, whose frequency is the one that an outer loop that forms the grid is damped
    against.
    """

    attaches = "outer"
    naming = "PLL_{outer}"
    omega = Algebraic(PerUnit("Hz"), init=1.0, drives="outer.wpll", equals=lambda s: s.speed, doc="frequency measured")
