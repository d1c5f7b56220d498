"""IEEE Type 1 exciter, saturation as in Sauer & Pai."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Param

from .dc1 import DC1, dc1_rates, dc1_start


class IEEEType1(DC1):
    """IEEE Type 1 DC exciter with ``SE(Efd) = Ax exp(Bx Efd)``. Sauer & Pai (1998), eqs. 4.22 and 7.5-7.7.

    The equations are those of :class:`~gridcore_devices.exciters.dc1.DC1`.
    """

    Ax = Param("pu", 0.0, ge=0, doc="saturation at zero field voltage")
    Bx = Param("1/pu", 0.0, ge=0, doc="exponent of the saturation")

    def rates(s: Any, bus: Any) -> Any:
        return dc1_rates(s, bus, (s.KE + s.Ax * np.exp(s.Bx * s.Efd)) * s.Efd)

    def start(s: Any, bus: Any) -> Any:
        return dc1_start(s, bus, (s.KE + s.Ax * np.exp(s.Bx * s.Efd)) * s.Efd)
