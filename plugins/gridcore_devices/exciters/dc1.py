"""What the IEEE Type 1 exciters share: everything but the saturation function."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Param, PerUnit, State, quantity

from .exciter import Limited


class DC1(Limited):
    """Base of the DC commutator exciters with continuously acting regulator, IEEE Type DC1A.

    IEEE Std 421.5-1992, section 5.1; Sauer & Pai (1998), eqs. 7.5-7.7::

        TR dVm/dt  = V + Vc - Vm
        TA dVR/dt  = KA (wanted - Vm + Rf - KF/TF Efd) - VR,  VRMIN <= VR <= VRMAX (non-windup)
        TE dEfd/dt = VR - KE Efd - SE(Efd) Efd
        TF dRf/dt  = KF/TF Efd - Rf

    ``KF/TF Efd - Rf`` is the output of the rate feedback ``s KF / (1 + s TF)``. TR = 0 makes the
    measured voltage algebraic. The transient gain reduction (TC, TB) of the standard is left out. What is wanted is
    that of :class:`~gridcore_devices.exciters.exciter.Limited`.
    """

    TR = Param("s", 0.0, ge=0, doc="time constant of the voltage measurement")
    KA = Param("pu", gt=0, doc="regulator gain")
    TA = Param("s", ge=0, doc="regulator time constant")
    VRMIN = Param("pu", doc="lower limit of the regulator output")
    VRMAX = Param("pu", doc="upper limit of the regulator output")
    KE = Param("pu", doc="exciter constant")
    TE = Param("s", gt=0, doc="exciter time constant")
    KF = Param("pu", ge=0, doc="rate feedback gain")
    TF = Param("s", gt=0, doc="rate feedback time constant")
    Vm = State(PerUnit("kV"), init=1.0, T="TR", doc="measured terminal voltage")
    VR = State("pu", init=1.0, T="TA", limits=("VRMIN", "VRMAX"), doc="regulator output")
    Efd = State("pu", init=1.0, T="TE", drives="machine.Efd", doc="field voltage")
    Rf = State("pu", T="TF", doc="rate feedback")

    @quantity("pu", "rate feedback")
    def feedback(s: Any) -> Any:
        return s.KF / s.TF * s.Efd - s.Rf

    @classmethod
    def check(cls, values: Any) -> str | None:
        return None if values["VRMIN"] < values["VRMAX"] else "VRMIN must be below VRMAX"


def dc1_rates(s: Any, bus: Any, own: Any) -> tuple[Any, ...]:
    """Right-hand sides of Vm, VR, Efd and Rf; `own` is ``KE Efd + SE(Efd) Efd``."""
    return (bus.Vm + s.Vc - s.Vm,
            s.KA * (s.wanted - s.Vm - s.feedback) - s.VR,
            s.VR - own,
            s.feedback)


def dc1_start(s: Any, bus: Any, own: Any) -> dict[str, Any]:
    """The equilibrium for the field voltage that the machine needs."""
    return {"Vm": bus.Vm, "VR": own, "Rf": s.KF / s.TF * s.Efd, "Vref": bus.Vm + own / s.KA}
