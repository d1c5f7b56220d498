"""The compound source of a static exciter: terminal voltage and current, behind a rectifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machines.park import to_rotor


def compound_voltage(s: Any, machine: Any, bus: Any, angle: Any = 0.0, X: Any = 0.0) -> Any:
    """``|Kp V + j (KI + Kp X) I|`` with ``Kp = KP e^{j angle}``. IEEE Std 421.5-2005, section 7.

    V and I are the terminal voltage and current of the machine, on its own base.
    """
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, machine.delta)
    re, im = s.KP * np.cos(angle), s.KP * np.sin(angle)
    across_re, across_im = -im * X, s.KI + re * X  # j (KI + Kp X)
    d = re * Vd - im * Vq + across_re * machine.Id - across_im * machine.Iq
    q = im * Vd + re * Vq + across_im * machine.Id + across_re * machine.Iq
    return np.sqrt(d * d + q * q)
