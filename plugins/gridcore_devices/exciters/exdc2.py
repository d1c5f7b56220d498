"""EXDC2: DC exciter of IEEE type DC2 (1979)."""

from __future__ import annotations

from gridcore_blocks import Lag

from .dc import FED, DCExciter
from .exciter import Limited


class EXDC2(Limited, DCExciter):
    """IEEE type DC2 of 1979, as PSS/E's EXDC2. Its record and, without limiters, its equations are those of ESDC2A.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981.
    """

    VR = Lag("lead", K="KA", T="TA", limits=FED, names=("VRMIN", "VRMAX"), init=1.0, doc="regulator output")
