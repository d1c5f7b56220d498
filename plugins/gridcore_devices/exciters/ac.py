"""What the exciters with an alternator and rectifiers share: everything behind the regulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gridcore.contract import Algebraic, Param, State, quantity
from gridcore_blocks import LeadLag, Washout

from .exciter import SensingExciter
from .rectifier import Rectifier, source
from .saturation import Saturation, quadratic


class ACExciter(SensingExciter, Saturation):
    """Base of the AC exciters: an alternator, its demagnetisation by field current, and uncontrolled rectifiers.

    IEEE Std 421.5-2005, section 6::

        TE dVE/dt = VR - VFE,  VE >= 0
        VFE = KE VE + SE(VE) VE + KD IFD
        Efd = FEX(KC IFD / VE) VE

    VR is the output of the regulator, IFD PSS/E's XADIFD. FEX is that of
    :class:`~gridcore_devices.exciters.rectifier.Rectifier`.
    """

    TE = Param("s", gt=0, doc="exciter time constant")
    KC = Param("pu", 0.0, ge=0, doc="rectifier loading factor")
    KD = Param("pu", 0.0, ge=0, doc="demagnetising factor")
    KE = Param("pu", 1.0, doc="exciter constant")
    VE = State("pu", init=1.0, rate=lambda s: s.VR - s.VFE, T="TE", limits=(0.0, None),
               doc="voltage of the alternator")
    rectified = Rectifier("VE", lambda s, machine: s.KC * machine.XadIfd, doc="voltage behind the rectifier")
    Efd = Algebraic("pu", init=1.0, equals=lambda s: s.rectified, drives="machine.Efd", doc="field voltage")

    @quantity("pu", "exciter field current")
    def VFE(s: Any, machine: Any) -> Any:
        return s.KE * s.VE + quadratic(s, s.VE) + s.KD * machine.XadIfd


class RegulatedAC(ACExciter):
    """An AC exciter behind a regulator with transient gain reduction and rate feedback: IEEE types AC1, AC1A and AC2.

    ``lead = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)``, ``feedback = VFE s KF / (1 + s TF)``.
    """

    TB = Param("s", 0.0, ge=0, doc="lag time constant of the regulator input; 0: no lead-lag")
    TC = Param("s", 0.0, ge=0, doc="lead time constant of the regulator input")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    KF = Param("pu", ge=0, doc="rate feedback gain")
    TF = Param("s", ge=0, doc="rate feedback time constant")
    lead = LeadLag(lambda s: s.wanted - s.sensed - s.feedback, T1="TC", T2="TB", doc="regulator input")
    feedback = Washout("VFE", K="KF", T="TF", doc="rate feedback")


def regulated(s: Any, machine: Any, bus: Any, regulator: str, VA: Callable[[Any], Any]) -> dict[str, Any]:
    """What a :class:`RegulatedAC` rests at, with the output `regulator` of its regulator that ``VA(VFE)`` gives."""
    VE, VFE = alternator(s, machine)
    output = VA(VFE)
    return {"VE": VE, regulator: output, "feedback_x": VFE, "lead_x": output / s.KA, "sensed": bus.Vm,
            "Vref": bus.Vm + output / s.KA}


def alternator(s: Any, machine: Any) -> tuple[Any, Any]:
    """VE and VFE at rest for the field voltage that the machine needs."""
    VE = source(s.Efd, s.KC * machine.XadIfd)
    return VE, s.KE * VE + quadratic(s, VE) + s.KD * machine.XadIfd


def check_order(values: Mapping[str, float], *pairs: tuple[str, str]) -> str | None:
    """What is wrong with pairs of limits, in words."""
    return next((f"{low} must be below {high}" for low, high in pairs if not values[low] < values[high]), None)
