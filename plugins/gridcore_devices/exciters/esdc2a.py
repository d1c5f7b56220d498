"""ESDC2A: DC exciter of IEEE type DC2A."""

from __future__ import annotations

from gridcore_blocks import Lag

from .dc import FED, GatedDC


class ESDC2A(GatedDC):
    """IEEE type DC2A, IEEE Std 421.5-2005, section 5.2, as PSS/E's ESDC2A.

    The equations are those of :class:`~gridcore_devices.exciters.dc.GatedDC`; the regulator is fed from the
    terminals: its limits are ``V VRMIN`` and ``V VRMAX``.
    """

    VR = Lag("gate", K="KA", T="TA", limits=FED, names=("VRMIN", "VRMAX"), init=1.0, doc="regulator output")
