"""DC4B: DC commutator exciter with a PID regulator, IEEE type DC4B."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, State
from gridcore_blocks import PID, HighGate, Lag, Limit, LowGate, Washout

from .dc import Commutator, lower, trimmed, upper
from .exciter import OFF, Gated, SensingExciter, added
from .regulator import check_gains, resting
from .saturation import quadratic


class DC4B(Gated, SensingExciter, Commutator):
    """IEEE type DC4B, IEEE Std 421.5-2005, section 5.4, figure 5-4 (DC4C of 2016), as PSS/E's DC4B::

        VPID = (Vref + Vs + VOEL + VUEL - sensed - feedback) KA (KP + KI / s + s KD / (1 + s TD)),
               between VRmin and VRmax
        gate = VPID, or KA VUEL (at most VRmax) where that is higher, or KA VOEL (at least VRmin) where that is lower
        VR   = V gate / (1 + s TA)
        TE dEfd/dt = VR - (KE + SE(Efd)) Efd,  Efd >= VEMIN (non-windup)
        feedback = Efd s KF / (1 + s TF)

    V is the terminal voltage; the gain KA, behind the gate in the figure, stands before it here, and with it the limits
    ``V VRmin`` and ``V VRmax`` of VR, which then hold by themselves. The codes OEL and UEL say where a limiter enters:
    2 at the gate, any other at the sum. Limits of VPID are those of :class:`~gridcore_blocks.PID`; the values that
    PSS/E computes are those of :class:`~gridcore_devices.exciters.dc.Commutator`.
    """

    OEL = Param("", 1.0, ge=0, le=2, doc="where over-excitation limiters enter: 2 the gate, otherwise the sum")
    UEL = Param("", 1.0, ge=0, le=2, doc="where under-excitation limiters enter: 2 the gate, otherwise the sum")
    KP = Param("pu", ge=0, doc="proportional gain of the regulator")
    KI = Param("pu/s", 0.0, ge=0, doc="integral gain of the regulator")
    KD = Param("pu s", 0.0, ge=0, doc="derivative gain of the regulator")
    TD = Param("s", 0.0, ge=0, doc="time constant of the derivative; 0: none")
    TF = Param("s", ge=0, doc="rate feedback time constant")
    VEMIN = Param("pu", 0.0, doc="lower limit of the field voltage")
    VPID = PID(lambda s: (s.Vref + s.Vs + added(s.VOEL, s.OEL < 1.5) + added(s.VUEL, s.UEL < 1.5) - s.sensed
                          - s.feedback),
               KP=lambda s: s.KA * s.KP, KI=lambda s: s.KA * s.KI, KD=lambda s: s.KA * s.KD, TD="TD",
               limits=("VRmin", "VRmax"), names=("VRMIN", "VRMAX"), doc="regulator output times KA")
    under = Limit(lambda s: np.where(s.UEL < 1.5, s.VRmin - OFF, s.KA * s.VUEL), limits=(None, "VRmax"),
                  names=("VRMIN", "VRMAX"), settles=True, doc="under-excitation limiter's signal times KA")
    over = Limit(lambda s: np.where(s.OEL < 1.5, s.VRmax + OFF, s.KA * s.VOEL), limits=("VRmin", None),
                 names=("VRMIN", "VRMAX"), settles=True, doc="over-excitation limiter's signal times KA")
    above = HighGate("VPID", "under", settles=False, doc="regulator output times KA, or the under-excitation limiter's")
    gate = LowGate("above", "over", settles=False, doc="input of the second stage times KA")
    VR = Lag("gate", K=lambda s, bus: bus.Vm, T="TA", init=1.0, doc="exciter's field voltage")
    Efd = State("pu", init=1.0, rate=lambda s: s.VR - s.KEt * s.Efd - quadratic(s, s.Efd), T="TE",
                limits=("VEMIN", None), drives="machine.Efd", doc="field voltage")
    feedback = Washout("Efd", K="KF", T="TF", doc="rate feedback")

    dyr = ("OEL", "UEL", "TR", "KP", "KI", "KD", "TD", "VRMAX", "VRMIN", "KA", "TA", "KE", "TE", "KF", "TF", "VEMIN",
           "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_gains(values, ("KP", "KI")) or super().check(values)

    def start(s: Any, bus: Any) -> Any:
        KE = trimmed(s)
        VR = KE * s.Efd + quadratic(s, s.Efd)
        integral, error = resting(VR / bus.Vm, s.KA * s.KP, s.KI)
        return {"VRmax": upper(s), "VRmin": lower(s), "KEt": KE, "VR": VR, "VPID_x": integral, "feedback_x": s.Efd,
                "sensed": bus.Vm, "Vref": bus.Vm + error}
