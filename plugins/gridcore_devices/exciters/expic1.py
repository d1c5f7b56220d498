"""EXPIC1: exciter with proportional and integral regulator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, State, quantity
from gridcore_blocks import PI, Lag, LeadLag, Limit, Washout

from .ac import check_order
from .compound import compound_voltage
from .exciter import Limited, SensingExciter
from .rectifier import Rectifier, loaded
from .saturation import Saturation, quadratic


class EXPIC1(Limited, SensingExciter, Saturation):
    """Exciter with proportional and integral regulator. PSS/E model library, EXPIC1::

        VA = (Vref + Vs - sensed - feedback) KA (1 + s TA1) / s, between VR2 and VR1
        VR = VA (1 + s TA3) / ((1 + s TA2) (1 + s TA4)), between VRMIN and VRMAX
        VB = FEX(KC IFD / VE) VE,  VE = |KP V + j KI I|; 1 where KP and KI are zero
        E0 = VR VB, between EFDMIN and EFDMAX
        TE dEfd/dt = E0 - (KE + SE(Efd)) Efd;  Efd = E0 where TE = 0
        feedback = VR s KF / ((1 + s TF1) (1 + s TF2))

    V and I are terminal voltage and current on the machine's base, IFD PSS/E's XADIFD. FEX is that of
    :class:`~gridcore_devices.exciters.rectifier.Rectifier`, the limits of VA are those of
    :class:`~gridcore_blocks.PI`. The lead TA3 is left out where ``TA2 = TA4 = 0``.
    """

    KA = Param("1/s", gt=0, doc="integral gain of the regulator")
    TA1 = Param("s", 0.0, ge=0, doc="lead time constant of the regulator: KA TA1 is its proportional gain")
    VR1 = Param("pu", doc="upper limit of the regulator")
    VR2 = Param("pu", doc="lower limit of the regulator")
    TA2 = Param("s", 0.0, ge=0, doc="first lag time constant behind the regulator")
    TA3 = Param("s", 0.0, ge=0, doc="lead time constant behind the regulator")
    TA4 = Param("s", 0.0, ge=0, doc="second lag time constant behind the regulator")
    VRMAX = Param("pu", doc="upper limit of the regulator output")
    VRMIN = Param("pu", doc="lower limit of the regulator output")
    KF = Param("pu", 0.0, ge=0, doc="rate feedback gain")
    TF1 = Param("s", 1.0, ge=0, doc="first rate feedback time constant")
    TF2 = Param("s", 0.0, ge=0, doc="second rate feedback time constant")
    EFDMAX = Param("pu", doc="upper limit of the exciter's input")
    EFDMIN = Param("pu", doc="lower limit of the exciter's input")
    KE = Param("pu", 0.0, doc="exciter constant")
    TE = Param("s", 0.0, ge=0, doc="exciter time constant; 0: no exciter")
    KP = Param("pu", ge=0, doc="gain of the source in voltage")
    KI = Param("pu", 0.0, ge=0, doc="gain of the source in current")
    KC = Param("pu", 0.0, ge=0, doc="rectifier loading factor")
    VA = PI(lambda s: s.wanted - s.sensed - s.feedback, KP=lambda s: s.KA * s.TA1, KI="KA", limits=("VR2", "VR1"),
            doc="regulator")
    filtered = LeadLag("VA", T1="early", T2="TA2", doc="behind the first lag")
    VR = LeadLag("filtered", T1="TA3", T2="TA4", limits=("VRMIN", "VRMAX"), doc="regulator output")
    slow = Lag("VR", T="TF2", doc="regulator output behind the second time constant of the rate feedback")
    feedback = Washout("slow", K="KF", T="TF1", doc="rate feedback")
    rectified = Rectifier(lambda s, machine, bus: compound_voltage(machine, bus, s.KP, s.KI),
                          lambda s, machine: s.KC * machine.XadIfd, doc="voltage behind the rectifier")
    E0 = Limit(lambda s: s.VR * np.where(s.KP + s.KI > 0, s.rectified, 1.0), limits=("EFDMIN", "EFDMAX"),
               doc="input of the exciter")
    Efd = State("pu", init=1.0, rate=lambda s: s.E0 - np.where(s.TE > 0, s.KE * s.Efd + quadratic(s, s.Efd), s.Efd),
                T="TE", drives="machine.Efd", doc="field voltage")

    dyr = ("TR", "KA", "TA1", "VR1", "VR2", "TA2", "TA3", "TA4", "VRMAX", "VRMIN", "KF", "TF1", "TF2", "EFDMAX",
           "EFDMIN", "KE", "TE", "E1", "SE1", "E2", "SE2", "KP", "KI", "KC")

    @quantity("s", "lead time constant of the first lag, where there is no second")
    def early(s: Any) -> Any:
        return np.where(s.TA4 > 0, 0.0, s.TA3)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return (check_order(values, ("VR2", "VR1"), ("VRMIN", "VRMAX"), ("EFDMIN", "EFDMAX"))
                or super().check(values))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        E0 = np.where(s.TE > 0, s.KE * s.Efd + quadratic(s, s.Efd), s.Efd)
        VB = np.where(s.KP + s.KI > 0, loaded(compound_voltage(machine, bus, s.KP, s.KI), s.KC * machine.XadIfd), 1.0)
        VR = E0 / VB
        return {**dict.fromkeys(("sensed", "Vref"), bus.Vm),
                **dict.fromkeys(("VA_x", "filtered_x", "VR_x", "slow", "feedback_x"), VR)}
