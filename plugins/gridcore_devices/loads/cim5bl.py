"""CIM5BL: induction motor in place of a load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, quantity

from .compload import COMPLOAD


class CIM5BL(COMPLOAD):
    """Induction motor that is the whole of a load. PSS/E model library, CIM5BL; Kundur (1994), section 7.2.4.

    The equations are those of :class:`~gridcore_devices.loads.compload.COMPLOAD` without its static parts: one cage,
    third order, torque of the load ``Tm (1 - slip)^D``. The base is MBASE, or PMULT times the load where that is zero;
    a capacitor makes up for the difference between the motor's reactive power and the load's. Two cages and saturation
    are refused; the codes IT tell circuits of two cages apart. Tnom is for motors that start, and is not used.
    """

    dyr_family = True
    dyr = ("IT", "RA", "XA", "XM", "R1", "X1", "R2", "X2", "E1", "SE1", "E2", "SE2", "MBASE", "PMULT", "H", "VI",
           "TI cycles", "TB cycles", "D", None)
    IT = Param("", 1.0, ge=1, le=2, doc="code of the circuit of two cages")
    MBASE = Param("MVA", 0.0, ge=0, doc="base of the motor; 0: PMULT times the load")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["PL"] or values["IP"] or values["YP"]:
            return "PL, IP and YP must be 0: the motor is the whole of the load"
        return super().check({**values, "MBASE": 0.0})

    @quantity("", "base of the motor over that of the system")
    def base(s: Any) -> Any:
        return np.where(s.MBASE > 0, s.MBASE / s.base_mva, s.PMULT * s.P0)
