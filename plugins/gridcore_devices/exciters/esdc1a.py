"""ESDC1A: DC exciter of IEEE type DC1A."""

from __future__ import annotations

from gridcore_blocks import Lag

from .dc import GatedDC


class ESDC1A(GatedDC):
    """IEEE type DC1A, IEEE Std 421.5-2005, section 5.1, as PSS/E's ESDC1A.

    The equations are those of :class:`~gridcore_devices.exciters.dc.GatedDC`; the limits of VR are constant.
    """

    VR = Lag("gate", K="KA", T="TA", limits=("VRmin", "VRmax"), names=("VRMIN", "VRMAX"), init=1.0,
             doc="regulator output")
