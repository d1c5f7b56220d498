"""The compound source of a static exciter: terminal voltage and current, behind a rectifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Param
from gridcore_blocks import Limit

from ..machines.park import to_rotor
from ..power import TINY
from .exciter import SensingExciter
from .rectifier import Rectifier, loaded


class CompoundFed(SensingExciter):
    """Base of the exciters whose controlled bridge is fed from terminal voltage and current: IEEE types ST3A and ST4B.

    IEEE Std 421.5-2005, sections 7.3 and 7.4::

        VE  = |Kp V + j (KI + Kp XL) I|, Kp = KP at the angle THETAP
        VB  = FEX(KC IFD / VE) VE, at most VBMAX
        Efd = VM VB

    V and I are terminal voltage and current on the machine's base, IFD PSS/E's XADIFD. FEX is that of
    :class:`~gridcore_devices.exciters.rectifier.Rectifier`, VM the output of the subclass's regulators.
    """

    KP = Param("pu", gt=0, doc="gain of the source in voltage")
    KI = Param("pu", 0.0, ge=0, doc="gain of the source in current")
    VBMAX = Param("pu", gt=0, doc="upper limit of the source voltage")
    KC = Param("pu", 0.0, ge=0, doc="rectifier loading factor")
    XL = Param("pu", 0.0, ge=0, doc="reactance of the source")
    THETAP = Param("deg", 0.0, doc="phase angle of the source")
    rectified = Rectifier(lambda s, machine, bus: source_voltage(s, machine, bus),
                          lambda s, machine: s.KC * machine.XadIfd, doc="voltage behind the rectifier")
    VB = Limit("rectified", limits=(None, "VBMAX"), settles=True, doc="source voltage")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.VM * s.VB, drives="machine.Efd", doc="field voltage")


def source_voltage(s: Any, machine: Any, bus: Any) -> Any:
    """VE."""
    return compound_voltage(machine, bus, s.KP, s.KI, s.THETAP, s.XL)


def bridge_voltage(s: Any, machine: Any, bus: Any) -> Any:
    """VB, on numbers."""
    return np.minimum(loaded(source_voltage(s, machine, bus), s.KC * machine.XadIfd), s.VBMAX)


def compound_voltage(machine: Any, bus: Any, KP: Any, KI: Any, angle: Any = 0.0, X: Any = 0.0) -> Any:
    """``|Kp V + j (KI + Kp X) I|`` with KP at an angle in degrees. IEEE Std 421.5-2005, section 7.

    V and I are the terminal voltage and current of the machine, on its own base.
    """
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, machine.delta)
    re, im = KP * np.cos(angle * np.pi / 180.0), KP * np.sin(angle * np.pi / 180.0)
    across_re, across_im = -im * X, KI + re * X  # j (KI + Kp X)
    d = re * Vd - im * Vq + across_re * machine.Id - across_im * machine.Iq
    q = im * Vd + re * Vq + across_im * machine.Id + across_re * machine.Iq
    return np.sqrt(d * d + q * q + TINY)
