"""ESST4B: potential- or compound-source controlled-rectifier exciter, IEEE type ST4B."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Algebraic, Param
from gridcore_blocks import PI, Lag, LowGate

from .ac import check_order
from .compound import CompoundFed, bridge_voltage
from .exciter import GatedAbove
from .regulator import check_gains, resting


class ESST4B(GatedAbove, CompoundFed):
    """IEEE type ST4B, IEEE Std 421.5-2005, section 7.4, as PSS/E's ESST4B.

    :class:`~gridcore_devices.exciters.compound.CompoundFed` with the regulators ::

        VR  = (Vref + Vs + VUEL - sensed) (KPR + KIR / s), between VRMIN and VRMAX
        VA  = VR / (1 + s TA)
        VM  = (VA - KG Efd) (KPM + KIM / s), between VMMIN and VMMAX
        Efd = VB VM, or VB VOEL where VOEL is lower than VM

    Limits of the regulators are those of :class:`~gridcore_blocks.PI`.
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
    VR = PI(lambda s: s.wanted - s.sensed, KP="KPR", KI="KIR", limits=("VRMIN", "VRMAX"), doc="voltage regulator")
    VA = Lag("VR", T="TA", doc="output of the voltage regulator")
    VM = PI(lambda s: s.VA - s.KG * s.Efd, KP="KPM", KI="KIM", limits=("VMMIN", "VMMAX"), doc="inner regulator")
    gate = LowGate("VM", "VOEL", settles=False, doc="inner regulator, or the over-excitation limiter's signal")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.gate * s.VB, drives="machine.Efd", doc="field voltage")

    dyr = ("TR", "KPR", "KIR", "VRMAX", "VRMIN", "TA", "KPM", "KIM", "VMMAX", "VMMIN", "KG", "KP", "KI", "VBMAX", "KC",
           "XL", "THETAP")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return (check_gains(values, ("KPR", "KIR"), ("KPM", "KIM"))
                or check_order(values, ("VRMIN", "VRMAX"), ("VMMIN", "VMMAX")))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VM, inner = resting(s.Efd / bridge_voltage(s, machine, bus), s.KPM, s.KIM)
        VA = s.KG * s.Efd + inner
        VR, error = resting(VA, s.KPR, s.KIR)
        return {"sensed": bus.Vm, "VA": VA, "VR_x": VR, "VM_x": VM, "Vref": bus.Vm + error}
