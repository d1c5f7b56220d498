"""What GENROU and GENROE share: everything but the saturation function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Param, PerUnit, State, quantity

from ..power import TINY
from .subtransient import Subtransient, d_axis, d_axis_start, phasors


class RoundRotor(Subtransient):
    """Base of the round-rotor machines: two windings on the q axis, saturation of the air-gap flux.

    d axis, stator and swing equation are those of :class:`Subtransient`; on the q axis::

        Tq0p dEdp/dt    = -XaqI1q
        Tq0pp dpsikq/dt = -Edp - psikq - (Xqp - Xl) Iq
        XaqI1q = Edp - (Xq - Xqp) (Iq - (Xqp - Xdpp)/(Xqp - Xl)^2 (Edp + psikq + (Xqp - Xl) Iq)) + saturation
        psiqpp = (-(Xdpp - Xl) Edp + (Xqp - Xdpp) psikq) / (Xqp - Xl)

    The flux ``psipp = |psidpp + j psiqpp|`` saturates: ``S(psipp) psidpp`` is added to XadIfd, and
    ``-S(psipp) psiqpp (Xq - Xl)/(Xd - Xl)`` to XaqI1q.
    """

    plausible: ClassVar = {"Xqp": ("Xl", "Xq"), "Tq0pp": (1e-5, "Tq0p")}
    Xqp = Param(PerUnit("ohm"), gt=0, doc="transient reactance, q axis")
    Tq0p = Param("s", gt=0, doc="open-circuit transient time constant, q axis")
    Edp = State("pu", T="Tq0p", doc="voltage behind the transient reactance, d axis")
    psikq = State("pu", T="Tq0pp", doc="flux linkage of the damper winding, q axis")
    dyr = ("Td0p", "Td0pp", "Tq0p", "Tq0pp", "H", "D", "Xd", "Xq", "Xdp", "Xqp", "Xdpp", "Xl", "S10", "S12")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return super().check(values) or (None if values["Xqp"] != values["Xl"] else "Xqp must not be Xl")

    @quantity("pu", "sub-transient flux, q axis")
    def psiqpp(s: Any) -> Any:
        part = (s.Xdpp - s.Xl) / (s.Xqp - s.Xl)
        return (1.0 - part) * s.psikq - part * s.Edp

    @quantity("pu", "sub-transient flux, magnitude")
    def psipp(s: Any) -> Any:
        return np.sqrt(s.psidpp * s.psidpp + s.psiqpp * s.psiqpp + TINY)

    @quantity("pu", "field current")
    def XadIfd(s: Any) -> Any:
        return s.airgap_line + s.Se * s.psidpp

    def rates(s: Any) -> Any:
        behind = s.Edp + s.psikq + (s.Xqp - s.Xl) * s.Iq
        XaqI1q = (s.Edp - (s.Xq - s.Xqp) * (s.Iq - (s.Xqp - s.Xdpp) / (s.Xqp - s.Xl) ** 2 * behind)
                  - s.Se * s.psiqpp * (s.Xq - s.Xl) / (s.Xd - s.Xl))
        return *d_axis(s), -XaqI1q, -behind


def round_rotor_start(s: Any, bus: Any, power: Any, saturation: Callable[[Any, Any, Any], Any]) -> dict[str, Any]:
    """The equilibrium, in closed form.

    ``|E''|`` is the saturated flux and does not depend on the rotor angle, so its saturation S is known at once;
    and the q axis is where ``(1 + S (Xq - Xl)/(Xd - Xl)) E'' + j (Xq - Xdpp) I`` points.
    """
    current, E = phasors(s, bus, power)
    S = saturation(s.S10, s.S12, np.abs(E)) / np.abs(E)
    delta = np.angle((1.0 + S * (s.Xq - s.Xl) / (s.Xd - s.Xl)) * E + 1j * (s.Xq - s.Xdpp) * current)
    start, Iq, Ed, Eq = d_axis_start(s, current, E, delta)
    Edp = Ed - (s.Xqp - s.Xdpp) * Iq
    return start | {"Edp": Edp, "psikq": -Edp - (s.Xqp - s.Xl) * Iq, "Efd": start["Efd"] + S * Eq}
