"""GENSAL: salient-pole machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import State, quantity

from .saturation import quadratic
from .subtransient import Subtransient, d_axis, d_axis_start, phasors


class GENSAL(Subtransient):
    """Salient-pole machine with quadratic saturation of the d axis: PSS/E's GENSAL.

    PSS/E model library, GENSAL; IEEE Std 1110-2002, model 2.1; Kundur (1994), section 5.4. d axis, stator and swing
    equation are those of :class:`~gridcore_devices.machines.subtransient.Subtransient`; the q axis has one damper
    winding, ``Tq0pp dpsiqpp/dt = -psiqpp - (Xq - Xdpp) Iq``. Saturation is a function of Eqp alone: XadIfd grows by
    ``B (Eqp - A)^2``.
    """

    psiqpp = State("pu", T="Tq0pp", doc="sub-transient flux, q axis")
    dyr = ("Td0p", "Td0pp", "Tq0pp", "H", "D", "Xd", "Xq", "Xdp", "Xdpp", "Xl", "S10", "S12")

    @quantity("pu", "field current")
    def XadIfd(s: Any) -> Any:
        return s.airgap_line + quadratic(s.S10, s.S12, s.Eqp)

    def rates(s: Any) -> Any:
        return *d_axis(s), -s.psiqpp - (s.Xq - s.Xdpp) * s.Iq

    def start(s: Any, bus: Any, power: Any) -> Any:
        """The equilibrium: saturation does not move the q axis, which is where ``V + (Rs + j Xq) I`` points."""
        current, E = phasors(s, bus, power)
        start, _, Ed, _ = d_axis_start(s, current, E, np.angle(E + 1j * (s.Xq - s.Xdpp) * current))
        return start | {"psiqpp": -Ed, "Efd": start["Efd"] + quadratic(s.S10, s.S12, start["Eqp"])}
