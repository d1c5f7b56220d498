"""IEEET2: IEEE Type 2 exciter, rotating rectifiers."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Param, State
from gridcore_blocks import Lag, Washout

from .dc import Commutator, lower, trimmed, upper
from .exciter import Limited, SensingExciter
from .saturation import quadratic


class IEEET2(Limited, SensingExciter, Commutator):
    """IEEE Type 2 exciter, whose rate feedback is of the regulator's output: PSS/E's IEEET2.

    IEEE Committee Report, Computer representation of excitation systems, IEEE Trans. PAS-87 (6), 1968, figure 3::

        sensed = V / (1 + s TR)
        VR     = (Vref + Vs - sensed - feedback) KA / (1 + s TA), between VRMIN and VRMAX (non-windup)
        TE dEfd/dt = VR - (KE + SE(Efd)) Efd
        feedback = VR s KF / ((1 + s TF1) (1 + s TF2))

    The values that PSS/E computes are those of :class:`~gridcore_devices.exciters.dc.Commutator`.
    """

    TF1 = Param("s", gt=0, doc="first rate feedback time constant")
    TF2 = Param("s", 0.0, ge=0, doc="second rate feedback time constant")
    VR = Lag(lambda s: s.wanted - s.sensed - s.feedback, K="KA", T="TA", limits=("VRmin", "VRmax"),
             names=("VRMIN", "VRMAX"), init=1.0, doc="regulator output")
    Efd = State("pu", init=1.0, rate=lambda s: s.VR - s.KEt * s.Efd - quadratic(s, s.Efd), T="TE",
                drives="machine.Efd", doc="field voltage")
    slow = Lag("VR", T="TF2", doc="regulator output behind the second time constant of the rate feedback")
    feedback = Washout("slow", K="KF", T="TF1", doc="rate feedback")

    dyr = ("TR", "KA", "TA", "VRMAX", "VRMIN", "KE", "TE", "KF", "TF1", "TF2", "E1", "SE1", "E2", "SE2")

    def start(s: Any, bus: Any) -> Any:
        KE = trimmed(s)
        VR = KE * s.Efd + quadratic(s, s.Efd)
        return {"VRmax": upper(s), "VRmin": lower(s), "KEt": KE, "VR": VR, "slow": VR, "feedback_x": VR,
                "sensed": bus.Vm, "Vref": bus.Vm + VR / s.KA}
