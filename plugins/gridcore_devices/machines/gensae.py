"""GENSAE: salient-pole machine with exponential saturation on both axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import State, quantity

from ..power import TINY
from .saturation import check_exponential, exponential
from .subtransient import Subtransient, d_axis, d_axis_start, phasors


class GENSAE(Subtransient):
    """Salient-pole machine with exponential saturation on both axes: PSS/E's GENSAE.

    PSS/E model library, GENSAE; IEEE Std 1110-2002, model 2.1; Kundur (1994), section 5.4. d axis, stator and swing
    equation are those of :class:`~gridcore_devices.machines.subtransient.Subtransient`; the q axis has one damper
    winding. The flux ``psipp = |psidpp + j psiqpp|`` saturates with ``S(psi) = S10 psi^n``: ``S psidpp`` is added to
    XadIfd, and ::

        Tq0pp dpsiqpp/dt = -psiqpp (1 + S (Xq - Xl)/(Xd - Xl)) - (Xq - Xdpp) Iq
    """

    psiqpp = State("pu", T="Tq0pp", doc="sub-transient flux, q axis")
    dyr = ("Td0p", "Td0pp", "Tq0pp", "H", "D", "Xd", "Xq", "Xdp", "Xdpp", "Xl", "S10", "S12")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_exponential(values) or super().check(values)

    @quantity("pu", "sub-transient flux, magnitude")
    def psipp(s: Any) -> Any:
        return np.sqrt(s.psidpp * s.psidpp + s.psiqpp * s.psiqpp + TINY)

    @quantity("pu", "saturation: field current beyond the air-gap line, per flux")
    def Se(s: Any) -> Any:
        return exponential(s.S10, s.S12, s.psipp) / s.psipp

    @quantity("pu", "field current")
    def XadIfd(s: Any) -> Any:
        return s.airgap_line + s.Se * s.psidpp

    def rates(s: Any) -> Any:
        saturated = 1.0 + s.Se * (s.Xq - s.Xl) / (s.Xd - s.Xl)
        return *d_axis(s), -s.psiqpp * saturated - (s.Xq - s.Xdpp) * s.Iq

    def start(s: Any, bus: Any, power: Any) -> Any:
        """The equilibrium: ``|E''|`` is the saturated flux, so its saturation is known before the rotor angle is."""
        current, E = phasors(s, bus, power)
        S = exponential(s.S10, s.S12, np.abs(E)) / np.abs(E)
        q_axis = (1.0 + S * (s.Xq - s.Xl) / (s.Xd - s.Xl)) * E + 1j * (s.Xq - s.Xdpp) * current
        start, _, Ed, Eq = d_axis_start(s, current, E, np.angle(q_axis))
        return start | {"psiqpp": -Ed, "Efd": start["Efd"] + S * Eq}
