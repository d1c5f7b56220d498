"""A phase-locked loop that gives an outer loop the frequency of the grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, Quantity, State, quantity

from ..frames import to_frame


def _seen(index: int, doc: str) -> Quantity:
    return Quantity("pu", lambda s, converter: to_frame(converter.vor, converter.voi, s.theta)[index], doc)


class ConverterPLL(Device):
    """Phase-locked loop on the voltage of the capacitor, with filters and the arc tangent of their outputs.

    Kaura & Blasko, IEEE Trans. Ind. Appl. 33 (1997), as in D'Arco, Suul & Fosso, Electric Power Systems Research 122
    (2015)::

        dv/dt = wlp (vo e^{-jθ} - v),   dε/dt = arctan(vq / vd),   w = 1 + kp dε/dt + ki ε,   dθ/dt = ωb (w - 1)
    """

    attaches = "outer"
    naming = "PLL_{outer}"
    wlp = Param("1/s", 500.0, gt=0, doc="cut-off frequency of the filters")
    kp = Param("pu", gt=0, doc="gain")
    ki = Param("1/s", gt=0, doc="integral gain")
    vd = State("pu", init=1.0, doc="voltage filtered, d axis", rate=lambda s: s.wlp * (s.seen_d - s.vd))
    vq = State("pu", doc="voltage filtered, q axis", rate=lambda s: s.wlp * (s.seen_q - s.vq))
    eps = State("rad", doc="integral of the error of the angle", rate=lambda s: s.error)
    theta = State("rad", doc="angle of the voltage, as followed", rate=lambda s: s.omega_b * (s.omega - 1.0))
    omega = Algebraic("pu", init=1.0, drives="outer.wpll", equals=lambda s: 1.0 + s.kp * s.error + s.ki * s.eps,
                      doc="frequency measured")
    seen_d = _seen(0, "voltage of the capacitor, d axis")
    seen_q = _seen(1, "voltage of the capacitor, q axis")

    @quantity("rad", "error of the angle")
    def error(s: Any) -> Any:
        return np.arctan(s.vq / s.vd)

    def start(s: Any, converter: Any) -> Any:
        return {"vd": np.hypot(converter.vor, converter.voi), "theta": np.arctan2(converter.voi, converter.vor)}
