"""ST8C: compound-source exciter with a field current regulator, IEEE type ST8C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param
from gridcore_blocks import PI, HighGate, Lag, Limit, LowGate

from ..power import TINY
from .ac import check_order
from .compound import compound_voltage
from .exciter import OFF, Gated, SensingExciter, added
from .rectifier import Rectifier, loaded
from .regulator import check_gains, resting


class ST8C(Gated, SensingExciter):
    """IEEE type ST8C, IEEE Std 421.5-2016, clause 8, as PSS/E's ST8C::

        VPI  = (Vref + Vs + VOEL + VUEL - sensed) (KPR + KIR / s), between VPIMIN and VPIMAX
        gate = VPI, or VUEL where that is higher, or VOEL where that is lower
        VA   = (gate - VF) (KPA + KIA / s), between VAMIN and VAMAX
        VR   = VA KA / (1 + s TA), VRMIN <= VR <= VRMAX (non-windup)
        VF   = IFD KF / (1 + s TF)
        VB1  = FEX(KC1 IFD / VE) VE, at most VB1MAX;  VB2 = FEX(KC2 IFD / (KI2 |I|)) KI2 |I|, at most VB2MAX
        VE   = |Kp V + j (KI1 + Kp XL) I|, Kp = KP at the angle THETAP; KP with ``SW1 = 2``
        Efd  = VR VB1 + VB2

    V and I are terminal voltage and current on the machine's base, IFD PSS/E's XADIFD. FEX is that of
    :class:`~gridcore_devices.exciters.rectifier.Rectifier`, limits of the regulators are those of
    :class:`~gridcore_blocks.PI`. The codes OEL and UEL say where a limiter enters: 2 at the gate, any other at the
    sum. Limiters of the stator current (the code SCL of the record) are not modelled.
    """

    OEL = Param("", 1.0, ge=0, le=2, doc="where over-excitation limiters enter: 2 the gate, otherwise the sum")
    UEL = Param("", 1.0, ge=0, le=2, doc="where under-excitation limiters enter: 2 the gate, otherwise the sum")
    SW1 = Param("", 1.0, ge=0, le=2, doc="source of power: 2 one of its own, otherwise the terminals")
    KPR = Param("pu", ge=0, doc="proportional gain of the voltage regulator")
    KIR = Param("pu/s", 0.0, ge=0, doc="integral gain of the voltage regulator")
    VPIMAX = Param("pu", doc="upper limit of the voltage regulator")
    VPIMIN = Param("pu", doc="lower limit of the voltage regulator")
    KPA = Param("pu", ge=0, doc="proportional gain of the field current regulator")
    KIA = Param("pu/s", 0.0, ge=0, doc="integral gain of the field current regulator")
    VAMAX = Param("pu", doc="upper limit of the field current regulator")
    VAMIN = Param("pu", doc="lower limit of the field current regulator")
    KA = Param("pu", gt=0, doc="gain of the bridge")
    TA = Param("s", 0.0, ge=0, doc="time constant of the bridge")
    VRMAX = Param("pu", doc="upper limit of the bridge")
    VRMIN = Param("pu", doc="lower limit of the bridge")
    KF = Param("pu", 1.0, ge=0, doc="feedback gain of the field current")
    TF = Param("s", 0.0, ge=0, doc="feedback time constant of the field current")
    KC1 = Param("pu", 0.0, ge=0, doc="loading factor of the first rectifier")
    KP = Param("pu", gt=0, doc="gain of the first source in voltage")
    KI1 = Param("pu", 0.0, ge=0, doc="gain of the first source in current")
    XL = Param("pu", 0.0, ge=0, doc="reactance of the first source")
    THETAP = Param("deg", 0.0, doc="phase angle of the first source")
    VB1MAX = Param("pu", gt=0, doc="upper limit of the first source")
    KC2 = Param("pu", 0.0, ge=0, doc="loading factor of the second rectifier")
    KI2 = Param("pu", 0.0, ge=0, doc="gain of the second source, in current")
    VB2MAX = Param("pu", 99.0, ge=0, doc="upper limit of the second source")
    VPI = PI(lambda s: s.Vref + s.Vs + added(s.VOEL, s.OEL < 1.5) + added(s.VUEL, s.UEL < 1.5) - s.sensed, KP="KPR",
             KI="KIR", limits=("VPIMIN", "VPIMAX"), doc="voltage regulator")
    above = HighGate("VPI", lambda s: np.where(s.UEL < 1.5, -OFF, s.VUEL), settles=False,
                     doc="voltage regulator, or the under-excitation limiter's signal")
    gate = LowGate("above", lambda s: np.where(s.OEL < 1.5, OFF, s.VOEL), settles=False,
                   doc="reference of the field current")
    VF = Lag(lambda s, machine: machine.XadIfd, K="KF", T="TF", doc="measured field current")
    VA = PI(lambda s: s.gate - s.VF, KP="KPA", KI="KIA", limits=("VAMIN", "VAMAX"), doc="field current regulator")
    VR = Lag("VA", K="KA", T="TA", limits=("VRMIN", "VRMAX"), doc="control of the bridge")
    first = Rectifier(lambda s, machine, bus: main(s, machine, bus), lambda s, machine: s.KC1 * machine.XadIfd,
                      doc="first source behind its rectifier")
    VB1 = Limit("first", limits=(None, "VB1MAX"), settles=True, doc="voltage of the first source")
    second = Rectifier(lambda s, machine: boost(s, machine), lambda s, machine: s.KC2 * machine.XadIfd,
                       doc="second source behind its rectifier")
    VB2 = Limit("second", limits=(None, "VB2MAX"), settles=True, doc="voltage of the second source")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.VR * s.VB1 + s.VB2, drives="machine.Efd", doc="field voltage")

    dyr = ("OEL", "UEL", None, "SW1", "TR", "KPR", "KIR", "VPIMAX", "VPIMIN", "KPA", "KIA", "VAMAX", "VAMIN", "KA",
           "TA", "VRMAX", "VRMIN", "KF", "TF", "KC1", "KP", "KI1", "XL", "THETAP", "VB1MAX", "KC2", "KI2", "VB2MAX")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return (check_gains(values, ("KPR", "KIR"), ("KPA", "KIA"))
                or check_order(values, ("VPIMIN", "VPIMAX"), ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VB1 = np.minimum(loaded(main(s, machine, bus), s.KC1 * machine.XadIfd), s.VB1MAX)
        current, load = boost(s, machine), s.KC2 * machine.XadIfd
        VB2 = np.minimum(np.where(current > load, loaded(current, load), 0.0), s.VB2MAX)
        VR, VF = (s.Efd - VB2) / VB1, s.KF * machine.XadIfd
        VA, inner = resting(VR / s.KA, s.KPA, s.KIA)
        VPI, error = resting(VF + inner, s.KPR, s.KIR)
        return {"sensed": bus.Vm, "VR": VR, "VF": VF, "VA_x": VA, "VPI_x": VPI, "Vref": bus.Vm + error}


def main(s: Any, machine: Any, bus: Any) -> Any:
    """VE, the voltage of the first source."""
    return np.where(s.SW1 < 1.5, compound_voltage(machine, bus, s.KP, s.KI1, s.THETAP, s.XL), s.KP)


def boost(s: Any, machine: Any) -> Any:
    """``KI2 |I|``, the voltage of the second source."""
    return s.KI2 * np.sqrt(machine.Id * machine.Id + machine.Iq * machine.Iq + TINY)
