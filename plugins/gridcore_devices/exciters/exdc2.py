"""EXDC2: DC exciter of IEEE type DC2 (1979)."""

from __future__ import annotations

from gridcore_blocks import Lag

from .dc import FED, DCExciter
from .exciter import Limited


class EXDC2(Limited, DCExciter):
    """IEEE type DC2 of 1979, as PSS/E's EXDC2. Its record is that of ESDC2A, and so are its equations but for limiters
    and the limit of the field voltage.

    IEEE Working Group, Excitation system models for power system stability studies, IEEE Trans. PAS-100 (2), 1981.
    """

    VR = Lag("lead", K="KA", T="TA", limits=FED, names=("VRMIN", "VRMAX"), init=1.0, doc="regulator output")
