"""ESAC1A: alternator with rectifiers, IEEE type AC1A."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Param
from gridcore_blocks import HighGate, Lag, Limit, LowGate

from .ac import RegulatedAC, check_order, regulated
from .exciter import Gated


class ESAC1A(Gated, RegulatedAC):
    """IEEE type AC1A, IEEE Std 421.5-2005, section 6.1, as PSS/E's ESAC1A.

    :class:`~gridcore_devices.exciters.ac.RegulatedAC` with the regulator ::

        lead = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VA   = lead KA / (1 + s TA), VAMIN <= VA <= VAMAX (non-windup)
        gate = VA, or VUEL where that is higher, or VOEL where that is lower
        VR   = gate between VRMIN and VRMAX
        feedback = VFE s KF / (1 + s TF)
    """

    VAMAX = Param("pu", doc="upper limit of the regulator")
    VAMIN = Param("pu", doc="lower limit of the regulator")
    VRMAX = Param("pu", doc="upper limit of the exciter's field voltage")
    VRMIN = Param("pu", doc="lower limit of the exciter's field voltage")
    VA = Lag("lead", K="KA", T="TA", limits=("VAMIN", "VAMAX"), init=1.0, doc="regulator output")
    above = HighGate("VA", "VUEL", settles=False, doc="regulator output, or the under-excitation limiter's signal")
    gate = LowGate("above", "VOEL", settles=False, doc="what is asked of the exciter")
    VR = Limit("gate", limits=("VRMIN", "VRMAX"), doc="field voltage of the exciter")

    dyr = ("TR", "TB", "TC", "KA", "TA", "VAMAX", "VAMIN", "TE", "KF", "TF", "KC", "KD", "KE", "E1", "SE1", "E2", "SE2",
           "VRMAX", "VRMIN")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VAMIN", "VAMAX"), ("VRMIN", "VRMAX")) or super().check(values)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        return regulated(s, machine, bus, "VA", lambda VFE: VFE)
