"""AC8B: alternator with rectifiers and a PID regulator, IEEE type AC8B."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Param, State, quantity
from gridcore_blocks import PID, Lag

from .ac import ACExciter, alternator, check_order
from .exciter import Limited
from .regulator import check_gains, resting
from .saturation import unsaturated


class AC8B(Limited, ACExciter):
    """IEEE type AC8B, IEEE Std 421.5-2005, section 6.8, figure 6-8, as PSS/E's AC8B.

    IEEE Std 421.5-2016 has it as AC8C, with a source of power of its own.
    :class:`~gridcore_devices.exciters.ac.ACExciter` with the regulator ::

        VPID = (Vref + Vs + VOEL + VUEL - sensed) (KPR + KIR / s + s KDR / (1 + s TDR)), between VPIDMIN and VPIDMAX
        VR   = VPID KA / (1 + s TA), VRMIN <= VR <= VRMAX (non-windup)
        VEMIN <= VE (non-windup), and VFE <= VFEMAX

    The upper limit of VE is the voltage at which VFE is VFEMAX, which is what the standard's
    ``(VFEMAX - KD IFD) / (KE + SE(VE))`` comes to where VE is at it. Limits of VPID are those of
    :class:`~gridcore_blocks.PID`.
    """

    KPR = Param("pu", ge=0, doc="proportional gain of the regulator")
    KIR = Param("pu/s", 0.0, ge=0, doc="integral gain of the regulator")
    KDR = Param("pu s", 0.0, ge=0, doc="derivative gain of the regulator")
    TDR = Param("s", 0.0, ge=0, doc="time constant of the derivative; 0: none")
    VPIDMAX = Param("pu", doc="upper limit of the regulator")
    VPIDMIN = Param("pu", doc="lower limit of the regulator")
    KA = Param("pu", gt=0, doc="gain of the second stage")
    TA = Param("s", ge=0, doc="time constant of the second stage")
    VRMAX = Param("pu", doc="upper limit of the exciter's field voltage")
    VRMIN = Param("pu", doc="lower limit of the exciter's field voltage")
    VFEMAX = Param("pu", doc="upper limit of the exciter's field current")
    VEMIN = Param("pu", 0.0, doc="lower limit of the alternator's voltage")
    VPID = PID(lambda s: s.wanted - s.sensed, KP="KPR", KI="KIR", KD="KDR", TD="TDR", limits=("VPIDMIN", "VPIDMAX"),
               doc="regulator output")
    VR = Lag("VPID", K="KA", T="TA", limits=("VRMIN", "VRMAX"), init=1.0, doc="field voltage of the exciter")
    VE = State("pu", init=1.0, rate=lambda s: s.VR - s.VFE, T="TE", limits=("VEMIN", "VEMAX"),
               limit_names=("VEMIN", "VFEMAX"), doc="voltage of the alternator")

    dyr = ("TR", "KPR", "KIR", "KDR", "TDR", "VPIDMAX", "VPIDMIN", "KA", "TA", "VRMAX", "VRMIN", "KC", "KD", "KE", "TE",
           "VFEMAX", "VEMIN", "E1", "SE1", "E2", "SE2")

    @quantity("pu", "voltage at which the exciter's field current is at its limit")
    def VEMAX(s: Any, machine: Any) -> Any:
        return unsaturated(s, s.VFEMAX - s.KD * machine.XadIfd)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if not values["KE"] > 0:
            return "KE must be above zero"
        return (check_gains(values, ("KPR", "KIR")) or super().check(values)
                or check_order(values, ("VPIDMIN", "VPIDMAX"), ("VRMIN", "VRMAX")))

    def start(s: Any, machine: Any, bus: Any) -> Any:
        VE, VFE = alternator(s, machine)
        integral, error = resting(VFE / s.KA, s.KPR, s.KIR)
        return {"VE": VE, "VR": VFE, "VPID_x": integral, "sensed": bus.Vm, "Vref": bus.Vm + error}
