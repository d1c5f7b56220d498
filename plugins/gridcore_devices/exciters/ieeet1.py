"""IEEE Type 1 exciter, saturation as in PSS/E."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.device import Param

from .dc1 import DC1, dc1_rates, dc1_start


def quadratic(s: Any) -> Any:
    """``SE(Efd) Efd`` of the parabola ``B (Efd - A)^2`` through (E1, SE1) and (E2, SE2), zero below A.

    PSS/E program application guide, saturation of excitation systems. ``SE2 = 0`` is none at all.
    """
    ratio2 = s.SE1 * s.E1 / np.where(s.SE2 > 0, s.SE2 * s.E2, 1.0)
    ratio = np.where(ratio2 > 0, np.sqrt(np.where(ratio2 > 0, ratio2, 1.0)), 0.0)
    A = (s.E1 - ratio * s.E2) / (1.0 - ratio)
    B = s.SE2 * s.E2 / ((s.E2 - A) * (s.E2 - A))
    return np.where(s.Efd > A, B * (s.Efd - A) * (s.Efd - A), 0.0)


class IEEET1(DC1):
    """IEEE Type 1 DC exciter as PSS/E's IEEET1: saturation given at two field voltages.

    The equations are those of :class:`~gridcore_devices.exciters.dc1.DC1`, with
    :func:`quadratic` for the saturation. ``SE1 = SE2 = 0`` leaves it out.
    """

    E1 = Param("pu", 1.0, gt=0, doc="first field voltage")
    SE1 = Param("pu", 0.0, ge=0, doc="saturation at E1")
    E2 = Param("pu", 2.0, gt=0, doc="second field voltage")
    SE2 = Param("pu", 0.0, ge=0, doc="saturation at E2")

    @classmethod
    def check(cls, values: Any) -> str | None:
        if not values["E1"] < values["E2"]:
            return "E1 must be below E2"
        if values["SE1"] > 0 and not values["SE1"] * values["E1"] < values["SE2"] * values["E2"]:
            return "SE1 E1 must be below SE2 E2: saturation grows with the field voltage"
        return super().check(values)

    def rates(s: Any, bus: Any) -> Any:
        return dc1_rates(s, bus, quadratic(s))

    def start(s: Any, bus: Any) -> Any:
        return dc1_start(s, bus, quadratic(s))
