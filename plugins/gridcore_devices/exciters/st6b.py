"""ST6B: potential-source controlled-rectifier exciter with a field voltage regulator, IEEE type ST6B."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param
from gridcore_blocks import PID, HighGate, Lag, Limit, LowGate

from .ac import check_order
from .exciter import Gated, SensingExciter, added
from .regulator import check_gains, resting


class ST6B(Gated, SensingExciter):
    """IEEE type ST6B, IEEE Std 421.5-2005, section 7.6, figure 7-6 (ST6C of 2016), as PSS/E's ST6B, with a PID::

        gate = Vref + VOEL - sensed, or VUEL where that is higher
        VA   = (gate + Vs + VOEL) (KPA + KIA / s + s KDA / (1 + s TDA)), between VAMIN and VAMAX
        VR   = KFF VA + KM (VA - VG), between VRMIN and VRMAX
        VL   = KLR (KCI ILR - IFD), at least VRMIN
        Efd  = V times the smaller of VR and VL
        VG   = Efd KG / (1 + s TG)

    V is the terminal voltage, IFD PSS/E's XADIFD. VOEL enters once: behind the gate with the code ``OEL = 2``,
    otherwise before it. It is added, below zero where it acts, as IEEE Std 421.5-2016 has it; the diagrams of 2005
    and of PSS/E subtract it. Limits of VA are those of :class:`~gridcore_blocks.PID`.
    """

    OEL = Param("", 1.0, ge=0, le=2, doc="where over-excitation limiters enter: 2 behind the gate, otherwise before it")
    KPA = Param("pu", ge=0, doc="proportional gain of the voltage regulator")
    KIA = Param("pu/s", 0.0, ge=0, doc="integral gain of the voltage regulator")
    KDA = Param("pu s", 0.0, ge=0, doc="derivative gain of the voltage regulator")
    TDA = Param("s", 0.0, ge=0, doc="time constant of the derivative; 0: none")
    VAMAX = Param("pu", doc="upper limit of the voltage regulator")
    VAMIN = Param("pu", doc="lower limit of the voltage regulator")
    KFF = Param("pu", 0.0, ge=0, doc="pre-control gain of the inner regulator")
    KM = Param("pu", 0.0, ge=0, doc="gain of the inner regulator")
    KCI = Param("pu", 1.0, ge=0, doc="adjustment of the limit of the field current")
    KLR = Param("pu", ge=0, doc="gain of the limiter of the field current")
    ILR = Param("pu", doc="limit of the field current")
    VRMAX = Param("pu", doc="upper limit of the field voltage at 1 pu terminal voltage")
    VRMIN = Param("pu", doc="lower limit of the field voltage at 1 pu terminal voltage")
    KG = Param("pu", 0.0, ge=0, doc="feedback gain of the inner regulator")
    TG = Param("s", 0.0, ge=0, doc="feedback time constant of the inner regulator")
    gate = HighGate(lambda s: s.Vref + added(s.VOEL, s.OEL < 1.5) - s.sensed, "VUEL", settles=False,
                    doc="voltage error, or the under-excitation limiter's signal")
    VA = PID(lambda s: s.gate + s.Vs + added(s.VOEL, s.OEL > 1.5), KP="KPA", KI="KIA", KD="KDA", TD="TDA",
             limits=("VAMIN", "VAMAX"), doc="voltage regulator")
    VR = Limit(lambda s: (s.KFF + s.KM) * s.VA - s.KM * s.VG, limits=("VRMIN", "VRMAX"), doc="inner regulator")
    VL = Limit(lambda s, machine: s.KLR * (s.KCI * s.ILR - machine.XadIfd), limits=("VRMIN", None), settles=True,
               doc="signal of the limiter of the field current")
    bridge = LowGate("VR", "VL", settles=False, doc="what the bridge is asked for")
    Efd = Algebraic("pu", init=1.0, equals=lambda s, bus: s.bridge * bus.Vm, drives="machine.Efd",
                    doc="field voltage")
    VG = Lag("Efd", K="KG", T="TG", doc="feedback of the inner regulator")

    dyr = ("OEL", "TR", "KPA", "KIA", "KDA", "TDA", "VAMAX", "VAMIN", "KFF", "KM", "KCI", "KLR", "ILR", "VRMAX",
           "VRMIN", "KG", "TG")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return (check_gains(values, ("KPA", "KIA"), ("KFF", "KM"))
                or check_order(values, ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")))

    def start(s: Any, bus: Any) -> Any:
        VG = s.KG * s.Efd
        VA = (s.Efd / bus.Vm + s.KM * VG) / np.where(s.KFF + s.KM > 0, s.KFF + s.KM, 1.0)
        integral, error = resting(VA, s.KPA, s.KIA)
        return {"sensed": bus.Vm, "VG": VG, "VA_x": integral, "Vref": bus.Vm + error}
