"""ESST4B: potential- or compound-source controlled-rectifier exciter, IEEE type ST4B."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param
from gridcore_blocks import PI, Lag, Limit

from .ac import check_order
from .compound import compound_voltage
from .exciter import SensingExciter
from .rectifier import Rectifier, loaded


class ESST4B(SensingExciter):
    """IEEE type ST4B, IEEE Std 421.5-2005, section 7.4, as PSS/E's ESST4B::

        VR  = (Vref + Vs - sensed) (KPR + KIR / s), between VRMIN and VRMAX
        VA  = VR / (1 + s TA)
        VM  = (VA - KG Efd) (KPM + KIM / s), between VMMIN and VMMAX
        VE  = |Kp V + j (KI + Kp XL) I|, Kp = KP at the angle THETAP
        VB  = FEX(KC IFD / VE) VE, at most VBMAX
        Efd = VM VB

    V and I are terminal voltage and current on the machine's base, IFD PSS/E's XADIFD. FEX is that of
    :class:`~gridcore_devices.exciters.rectifier.Rectifier`, limits of the regulators are those of
    :class:`~gridcore_blocks.PI`.
    """

    KPR = Param("pu", ge=0, doc="proportional gain of the voltage regulator")
    KIR = Param("pu/s", ge=0, doc="integral gain of the voltage regulator")
    VRMAX = Param("pu", doc="upper limit of the voltage regulator")
    VRMIN = Param("pu", doc="lower limit of the voltage regulator")
    TA = Param("s", 0.0, ge=0, doc="time constant of the voltage regulator")
    KPM = Param("pu", ge=0, doc="proportional gain of the inner regulator")
    KIM = Param("pu/s", ge=0, doc="integral gain of the inner regulator")
    VMMAX = Param("pu", doc="upper limit of the inner regulator")
    VMMIN = Param("pu", doc="lower limit of the inner regulator")
    KG = Param("pu", 0.0, ge=0, doc="feedback gain of the inner regulator")
    KP = Param("pu", gt=0, doc="gain of the source in voltage")
    KI = Param("pu", 0.0, ge=0, doc="gain of the source in current")
    VBMAX = Param("pu", gt=0, doc="upper limit of the source voltage")
    KC = Param("pu", 0.0, ge=0, doc="rectifier loading factor")
    XL = Param("pu", 0.0, ge=0, doc="reactance of the source")
    THETAP = Param("deg", 0.0, doc="phase angle of the source")
    VR = PI(lambda s: s.Vref + s.Vs - s.sensed, KP="KPR", KI="KIR", limits=("VRMIN", "VRMAX"), doc="voltage regulator")
    VA = Lag("VR", T="TA", doc="output of the voltage regulator")
    VM = PI(lambda s: s.VA - s.KG * s.Efd, KP="KPM", KI="KIM", limits=("VMMIN", "VMMAX"), doc="inner regulator")
    rectified = Rectifier(lambda s, machine, bus: compound_voltage(s, machine, bus, s.THETAP * np.pi / 180.0, s.XL),
                          lambda s, machine: s.KC * machine.XadIfd, doc="voltage behind the rectifier")
    VB = Limit("rectified", limits=(None, "VBMAX"), settles=True, doc="source voltage")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.VM * s.VB, drives="machine.Efd", doc="field voltage")

    dyr = ("TR", "KPR", "KIR", "VRMAX", "VRMIN", "TA", "KPM", "KIM", "VMMAX", "VMMIN", "KG", "KP", "KI", "VBMAX", "KC",
           "XL", "THETAP")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        for gains in (("KPR", "KIR"), ("KPM", "KIM")):
            if not any(values[gain] > 0 for gain in gains):
                return f"{' and '.join(gains)} are both zero: nothing is regulated"
        return check_order(values, ("VRMIN", "VRMAX"), ("VMMIN", "VMMAX"))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VE = compound_voltage(s, machine, bus, s.THETAP * np.pi / 180.0, s.XL)
        VB = np.minimum(loaded(VE, s.KC * machine.XadIfd), s.VBMAX)
        VM, VG = s.Efd / VB, s.KG * s.Efd
        VA = VG + np.where(s.KIM > 0, 0.0, VM / np.where(s.KPM > 0, s.KPM, 1.0))
        error = np.where(s.KIR > 0, 0.0, VA / np.where(s.KPR > 0, s.KPR, 1.0))
        return {"sensed": bus.Vm, "VA": VA, "VR_x": np.where(s.KIR > 0, VA, 0.0), "VM_x": np.where(s.KIM > 0, VM, 0.0),
                "Vref": bus.Vm + error}
