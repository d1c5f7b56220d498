"""IEEEX1: DC exciter of IEEE type DC1 (1979)."""

from __future__ import annotations

from gridcore_blocks import Lag

from .dc import DCExciter
from .exciter import Limited


class IEEEX1(Limited, DCExciter):
    """IEEE type DC1 of 1979, as PSS/E's IEEEX1: IEEET1 with a lead-lag before the regulator.

    The equations are those of :class:`~gridcore_devices.exciters.dc.DCExciter`; the limits of VR are constant. IEEE
    Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981.
    """

    VR = Lag("lead", K="KA", T="TA", limits=("VRmin", "VRmax"), names=("VRMIN", "VRMAX"), init=1.0,
             doc="regulator output")
