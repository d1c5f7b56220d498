"""What the limiters of under-excitation share: everything behind their error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, State, quantity
from gridcore.errors import InitialisationError
from gridcore_blocks import LeadLag, Limit

from ..exciters.ac import check_order
from ..exciters.exciter import OFF
from ..machines.park import to_rotor


class Sum(Limit):
    """A limit that is left together with that of the state ``integral``, of which the input is the sum with ``KUL``."""

    def expand(self) -> None:
        self.clamp(self.input(self.u), self.limits, settles=True, initial=-1, state="integral", gain=lambda s: s.KUL)


class UnderExcitationLimiter(Device):
    """Base of the limiters of under-excitation, IEEE types UEL1 and UEL2. IEEE Std 421.5-2005, section 10::

        VU   = error (KUL + KUI / s), between VUIMIN and VUIMAX
        VUEL = VU (1 + s TU1) / (1 + s TU2) (1 + s TU3) / (1 + s TU4), between VULMIN and VULMAX

    The error is below zero inside the limit: the integrator rests at VUIMIN. Limits of VU hold the integrator and the
    sum, as those of :class:`~gridcore_blocks.PI`. Where VUEL adds to the reference, VUIMIN and VULMIN are zero.
    """

    attaches = "exciter"
    naming = "UEL_{exciter}"
    KUF = Param("pu", 0.0, ge=0, doc="gain of the exciter's rate feedback")
    KUI = Param("pu/s", 0.0, ge=0, doc="integral gain")
    KUL = Param("pu", 1.0, ge=0, doc="proportional gain")
    VUIMAX = Param("pu", 1.0, doc="upper limit of the integrator")
    VUIMIN = Param("pu", 0.0, doc="lower limit of the integrator")
    TU1 = Param("s", 0.0, ge=0, doc="first lead time constant")
    TU2 = Param("s", 0.0, ge=0, doc="first lag time constant; 0: no lead-lag")
    TU3 = Param("s", 0.0, ge=0, doc="second lead time constant")
    TU4 = Param("s", 0.0, ge=0, doc="second lag time constant; 0: no lead-lag")
    VULMAX = Param("pu", 0.25, doc="upper limit of the signal")
    VULMIN = Param("pu", 0.0, doc="lower limit of the signal")
    integral = State("pu", rate=lambda s: np.where(s.KUI > 0, s.KUI * s.error, -s.integral), T="integrates",
                     limits=("floor", "VUIMAX"), limit_names=("VUIMIN", "VUIMAX"), clamp="VU_limit", at_limit=-1,
                     doc="integrator, zero without an integral gain")
    VU = Sum(lambda s: s.KUL * s.error + s.integral, limits=("VUIMIN", "VUIMAX"), doc="regulator")
    lead = LeadLag("VU", T1="TU1", T2="TU2", doc="behind the first lead-lag")
    lead1 = LeadLag("lead", T1="TU3", T2="TU4", doc="behind the second lead-lag")
    limited = Limit("lead1", limits=("VULMIN", "VULMAX"), settles=True, doc="signal between its limits")
    VUEL = Algebraic("pu", equals=lambda s: s.limited, drives="exciter.VUEL", doc="signal")

    @quantity("pu", "lower limit of the integrator, out of its way where it does not integrate")
    def floor(s: Any) -> Any:
        return s.VUIMIN - np.where(s.KUI > 0, 0.0, OFF)

    @quantity("s", "whether there is an integral gain")
    def integrates(s: Any) -> Any:
        return np.where(s.KUI > 0, 1.0, 0.0)

    def start(s: Any, machine: Any, bus: Any, instances: Any) -> Any:
        """Refuse machines beyond the limit, where an integrator finds no rest: it would go on until they are not."""
        P, Q = terminal_power(machine, bus)
        beyond = np.logical_and(instances.on, np.logical_and(s.KUI > 0, np.real(s.lowest - Q) > 1e-9))
        for k in np.flatnonzero(beyond)[:1]:
            V, P, Q, lowest, KUI = (np.real(x[k]) for x in (bus.Vm, P, Q, s.lowest, s.KUI))
            raise InitialisationError(
                f"{instances.ids[k]}: at t0 its machine is beyond the limit, and with KUI = {KUI:g} the limiter has no "
                f"rest there: Q = {Q:.4g} at P = {P:.4g} and V = {V:.4g} (pu of the machine), where the limit is "
                f"Q = {lowest:.4g}; the dispatch must give Q above it, the data a limit below Q, or KUI = 0 a limiter "
                f"that may act at rest")
        return {}

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("VUIMIN", "VUIMAX"), ("VULMIN", "VULMAX"))


def terminal_power(machine: Any, bus: Any) -> tuple[Any, Any]:
    """P and Q of the machine, on its own base."""
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, machine.delta)
    return Vd * machine.Id + Vq * machine.Iq, Vq * machine.Id - Vd * machine.Iq
