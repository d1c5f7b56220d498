"""What the DC commutator exciters of PSS/E share: everything but the limits of the regulator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, Setpoint, State
from gridcore_blocks import HighGate, LeadLag, Washout

from .exciter import GatedBelow, SensingExciter
from .saturation import Saturation, factor, quadratic


class Commutator(Saturation):
    """The parameters of a DC exciter and its regulator, and what zeros among them stand for.

    PSS/E program application guide, volume 2, section 15.2.4: with ``VRMAX = 0`` the ceiling is E2,
    ``VRmax = (KE + SE2) E2`` (``SE2 E2`` where KE is not positive), and ``VRmin = -VRmax``; with ``KE = 0`` the field
    rheostat is trimmed so that the regulator rests at a tenth of its limit,
    ``KEt = VRmax / (10 Efd) - SE(Efd)`` at t0. IEEE Std 421.5 suggests zero instead of a tenth.
    """

    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VRMAX = Param("pu", doc="upper limit of the regulator output; 0: computed")
    VRMIN = Param("pu", doc="lower limit of the regulator output")
    KE = Param("pu", doc="exciter constant; 0: computed")
    TE = Param("s", gt=0, doc="exciter time constant")
    KF = Param("pu", ge=0, doc="rate feedback gain")
    VRmax = Setpoint("pu", init=1.0, equals=lambda s: upper(s), doc="upper limit in effect")
    VRmin = Setpoint("pu", init=-1.0, equals=lambda s: lower(s), doc="lower limit in effect")
    KEt = Setpoint("pu", init=1.0, equals=lambda s: trimmed(s), doc="exciter constant in effect")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order, or none at all."""
        if values["VRMAX"] != 0 and not values["VRMIN"] < values["VRMAX"]:
            return "VRMIN must be below VRMAX"
        if values["VRMAX"] == 0 and not values["E2"] * (max(values["KE"], 0.0) + values["SE2"]) > 0:
            return "VRMAX = 0 stands for (KE + SE2) E2, which must be above zero"
        return super().check(values)


def upper(s: Any) -> Any:
    """VRMAX, or what its zero stands for."""
    return np.where(s.VRMAX == 0, (np.where(s.KE > 0, s.KE, 0.0) + s.SE2) * s.E2, s.VRMAX)


def lower(s: Any) -> Any:
    """VRMIN, or minus the upper limit where that is computed."""
    return np.where(s.VRMAX == 0, -upper(s), s.VRMIN)


def trimmed(s: Any) -> Any:
    """KE, or what its zero stands for at the present field voltage."""
    return np.where(s.KE == 0, upper(s) / (10.0 * s.Efd) - factor(s, s.Efd), s.KE)


def excitation(s: Any) -> Any:
    """Rate of the field voltage, times TE."""
    return s.VR - s.KEt * s.Efd - quadratic(s, s.Efd)


# limits of a regulator that is fed from the terminals
FED = (lambda s, bus: s.VRmin * bus.Vm, lambda s, bus: s.VRmax * bus.Vm)


class DCExciter(SensingExciter, Commutator):
    """Base of the DC exciters with transient gain reduction, IEEE types DC1A and DC2A.

    IEEE Std 421.5-2005, sections 5.1 and 5.2; PSS/E program application guide, volume 2::

        sensed = V / (1 + s TR)
        lead   = (Vref + Vs - sensed - feedback) (1 + s TC) / (1 + s TB)
        VR     = lead KA / (1 + s TA), within its limits (non-windup)
        TE dEfd/dt = VR - (KE + SE(Efd)) Efd
        feedback = Efd s KF / (1 + s TF1)

    ``TB = 0`` bypasses the lead-lag. The values that PSS/E computes are those of
    :class:`~gridcore_devices.exciters.dc.Commutator`.
    """

    TB = Param("s", 0.0, ge=0, doc="lag time constant of the regulator input")
    TC = Param("s", 0.0, ge=0, doc="lead time constant of the regulator input")
    TF1 = Param("s", ge=0, doc="rate feedback time constant")
    lead = LeadLag(lambda s: s.wanted - s.sensed - s.feedback, T1="TC", T2="TB", doc="regulator input")
    Efd = State("pu", init=1.0, rate=excitation, T="TE", drives="machine.Efd", doc="field voltage")
    feedback = Washout("Efd", K="KF", T="TF1", doc="rate feedback")

    dyr = ("TR", "KA", "TA", "TB", "TC", "VRMAX", "VRMIN", "KE", "TE", "KF", "TF1", None, "E1", "SE1", "E2", "SE2")

    def start(s: Any, bus: Any) -> Any:
        KE = trimmed(s)
        VR = KE * s.Efd + quadratic(s, s.Efd)
        return {"VRmax": upper(s), "VRmin": lower(s), "KEt": KE, "VR": VR, "sensed": bus.Vm, "lead_x": VR / s.KA,
                "feedback_x": s.Efd, "Vref": bus.Vm + VR / s.KA}


class GatedDC(GatedBelow, DCExciter):
    """Base of PSS/E's ESDC1A and ESDC2A: a :class:`DCExciter` whose field voltage does not fall below zero.

    The input of the regulator is the lead-lag's output, or VUEL where that is higher. The limit of Efd (non-windup) is
    that of PSS/E's diagrams, as OpenIPSL has it; those of IEEEX1, EXDC2, IEEET1 and IEEET2 have none.
    """

    gate = HighGate("lead", "VUEL", settles=False, doc="input of the regulator")
    Efd = State("pu", init=1.0, rate=excitation, T="TE", limits=(0.0, None), drives="machine.Efd",
                doc="field voltage, not below zero")
