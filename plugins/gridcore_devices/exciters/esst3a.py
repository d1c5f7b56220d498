"""ESST3A: potential- or compound-source controlled-rectifier exciter, IEEE type ST3A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param
from gridcore_blocks import HighGate, Lag, LeadLag, Limit

from .ac import check_order
from .compound import CompoundFed, bridge_voltage
from .exciter import GatedBelow


class ESST3A(GatedBelow, CompoundFed):
    """IEEE type ST3A, IEEE Std 421.5-2005, section 7.3, as PSS/E's ESST3A.

    :class:`~gridcore_devices.exciters.compound.CompoundFed` with the regulators ::

        VI  = Vref + Vs + VOEL - sensed, between VIMIN and VIMAX
        lead = gate (1 + s TC) / (1 + s TB)
        gate = VI, or VUEL where that is higher
        VR  = lead KA / (1 + s TA), VRMIN <= VR <= VRMAX (non-windup)
        VG  = KG Efd, at most VGMAX
        VM  = (VR - VG) KM / (1 + s TM), VMMIN <= VM <= VMMAX (non-windup)
    """

    VIMAX = Param("pu", 99.0, doc="upper limit of the regulator input")
    VIMIN = Param("pu", -99.0, doc="lower limit of the regulator input")
    KM = Param("pu", gt=0, doc="gain of the inner regulator")
    TC = Param("s", 0.0, ge=0, doc="lead time constant")
    TB = Param("s", 0.0, ge=0, doc="lag time constant; 0: no lead-lag")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", 0.0, ge=0, doc="regulator time constant")
    VRMAX = Param("pu", doc="upper limit of the voltage regulator")
    VRMIN = Param("pu", doc="lower limit of the voltage regulator")
    KG = Param("pu", 0.0, ge=0, doc="feedback gain of the inner regulator")
    VGMAX = Param("pu", 99.0, doc="upper limit of the feedback of the inner regulator")
    TM = Param("s", gt=0, doc="time constant of the inner regulator")
    VMMAX = Param("pu", doc="upper limit of the inner regulator")
    VMMIN = Param("pu", doc="lower limit of the inner regulator")
    VI = Limit(lambda s: s.wanted - s.sensed, limits=("VIMIN", "VIMAX"), doc="regulator input")
    gate = HighGate("VI", "VUEL", settles=False, doc="regulator input, or the under-excitation limiter's signal")
    lead = LeadLag("gate", T1="TC", T2="TB", doc="behind the lead-lag")
    VR = Lag("lead", K="KA", T="TA", limits=("VRMIN", "VRMAX"), doc="regulator output")
    VG = Limit(lambda s: s.KG * s.Efd, limits=(None, "VGMAX"), settles=True, doc="feedback of the inner regulator")
    VM = Lag(lambda s: s.VR - s.VG, K="KM", T="TM", limits=("VMMIN", "VMMAX"), doc="inner regulator")

    dyr = ("TR", "VIMAX", "VIMIN", "KM", "TC", "TB", "KA", "TA", "VRMAX", "VRMIN", "KG", "KP", "KI", "VBMAX", "KC",
           "XL", "VGMAX", "THETAP", "TM", "VMMAX", "VMMIN")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VIMIN", "VIMAX"), ("VRMIN", "VRMAX"), ("VMMIN", "VMMAX"))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VM = s.Efd / bridge_voltage(s, machine, bus)
        VR = VM / s.KM + np.minimum(s.KG * s.Efd, s.VGMAX)
        error = VR / s.KA
        return {"sensed": bus.Vm, "VM": VM, "VR": VR, "lead_x": error, "Vref": bus.Vm + error}
