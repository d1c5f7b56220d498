"""UEL1: limiter of under-excitation with a circular characteristic."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Param, quantity
from gridcore_blocks import Limit

from ..machines.park import to_rotor
from ..power import TINY
from .under import UnderExcitationLimiter, terminal_power


class UEL1(UnderExcitationLimiter):
    """IEEE type UEL1, IEEE Std 421.5-2005, section 10.1, figure 10-2, as PSS/E's UEL1.

    :class:`~gridcore_devices.limiters.under.UnderExcitationLimiter` with the error ::

        VUR   = KUR |V|, at most VURMAX
        VUC   = |KUC V - j I|, at most VUCMAX
        error = VUC - VUR - KUF feedback

    V and I are terminal voltage and current on the machine's base, the feedback is the exciter's. The limit is a circle
    in the plane of P and Q, of the radius ``KUR V^2`` about ``Q = KUC V^2``.
    """

    KUR = Param("pu", 1.95, gt=0, doc="radius of the circle")
    KUC = Param("pu", 1.38, ge=0, doc="centre of the circle")
    VURMAX = Param("pu", 5.8, gt=0, doc="upper limit of the radius's magnitude")
    VUCMAX = Param("pu", 5.8, gt=0, doc="upper limit of the operating point's magnitude")
    VUR = Limit(lambda s, bus: s.KUR * bus.Vm, limits=(None, "VURMAX"), settles=True, doc="radius")
    VUC = Limit(lambda s, machine, bus: distance(s, machine, bus), limits=(None, "VUCMAX"), settles=True,
                doc="distance of the operating point from the centre")
    dyr = ("KUR", "KUC", "KUF", "VURMAX", "VUCMAX", "KUI", "KUL", "VUIMAX", "VUIMIN", "TU1", "TU2", "TU3", "TU4",
           "VULMAX", "VULMIN")

    @quantity("pu", "how far the operating point is beyond the limit")
    def error(s: Any, exciter: Any) -> Any:
        return s.VUC - s.VUR - s.KUF * exciter.feedback

    @quantity("pu", "lowest reactive power that the limit allows at this active power and voltage")
    def lowest(s: Any, machine: Any, bus: Any) -> Any:
        P, square = terminal_power(machine, bus)[0], bus.Vm * bus.Vm
        inside = np.square(s.KUR * square) - P * P
        return s.KUC * square - np.where(inside > 0, np.sqrt(np.where(inside > 0, inside, 1.0)), 0.0)


def distance(s: Any, machine: Any, bus: Any) -> Any:
    """``|KUC V - j I|``."""
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, machine.delta)
    d, q = s.KUC * Vd + machine.Iq, s.KUC * Vq - machine.Id
    return np.sqrt(d * d + q * q + TINY)
