"""ESDC1A: DC exciter of IEEE type DC1A."""

from __future__ import annotations

from gridcore_blocks import HighGate, Lag

from .dc import DCExciter
from .exciter import GatedBelow


class ESDC1A(GatedBelow, DCExciter):
    """IEEE type DC1A, IEEE Std 421.5-2005, section 5.1, as PSS/E's ESDC1A.

    The equations are those of :class:`~gridcore_devices.exciters.dc.DCExciter`; the limits of VR are constant,
    and its input is the lead-lag's output, or VUEL where that is higher.
    """

    gate = HighGate("lead", "VUEL", settles=False, doc="input of the regulator")
    VR = Lag("gate", K="KA", T="TA", limits=("VRmin", "VRmax"), names=("VRMIN", "VRMAX"), init=1.0,
             doc="regulator output")
