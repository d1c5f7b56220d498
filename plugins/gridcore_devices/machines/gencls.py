"""GENCLS: classical machine, or constant voltage."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Param

from .classical import Classical
from .rotor import swing

_INFINITE = 1e9  # s: a second of full load moves such a rotor's speed by 1e-9


class GENCLS(Classical):
    """Classical machine under its name in PSS/E: a constant voltage behind the machine's impedance.

    PSS/E model library, GENCLS: ``Rs + j Xdp`` is the impedance ZSORCE of the power-flow data, and ``H = 0`` stands for
    a rotor of infinite inertia, an infinite bus behind that impedance. Otherwise it is
    :class:`~gridcore_devices.machines.classical.Classical`, Kundur (1994), section 5.3.1.
    """

    plausible: ClassVar = {"H": (0.0, 3e4)}
    H = Param("s", ge=0, doc="inertia constant; 0: infinite")
    torque = Param("", 0.0, ge=0, le=1, doc="1: power over speed is the torque, as in PowerWorld; 0: power is torque")
    dyr = ("H", "D")

    def rates(s: Any) -> Any:
        return swing(s, s.Pe, np.where(s.H > 0, s.H, _INFINITE), s.torque)
