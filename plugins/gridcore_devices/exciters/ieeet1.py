"""IEEET1: IEEE Type 1 exciter, saturation as in PSS/E."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import State

from .dc import Commutator, lower, trimmed, upper
from .dc1 import DC1, dc1_rates, dc1_start
from .saturation import quadratic


class IEEET1(DC1, Commutator):
    """IEEE Type 1 DC exciter as PSS/E's IEEET1.

    The equations are those of :class:`~gridcore_devices.exciters.dc1.DC1`, the saturation is
    :func:`~gridcore_devices.exciters.saturation.quadratic`, and the values that PSS/E computes are those of
    :class:`~gridcore_devices.exciters.dc.Commutator`. IEEE Committee Report, Computer representation of excitation
    systems, IEEE Trans. PAS-87 (6), 1968.
    """

    VR = State("pu", init=1.0, T="TA", limits=("VRmin", "VRmax"), limit_names=("VRMIN", "VRMAX"),
               doc="regulator output")

    dyr = ("TR", "KA", "TA", "VRMAX", "VRMIN", "KE", "TE", "KF", "TF", None, "E1", "SE1", "E2", "SE2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return super(DC1, cls).check(values)

    def rates(s: Any, bus: Any) -> Any:
        return dc1_rates(s, bus, s.KEt * s.Efd + quadratic(s, s.Efd))

    def start(s: Any, bus: Any) -> Any:
        KE = trimmed(s)
        return {"VRmax": upper(s), "VRmin": lower(s), "KEt": KE} | dc1_start(s, bus, KE * s.Efd + quadratic(s, s.Efd))
