"""EXDC1: DC exciter of IEEE type DC1 (1979)."""

from __future__ import annotations

from .ieeex1 import IEEEX1


class EXDC1(IEEEX1):
    """IEEE type DC1 of 1979 under the name that PSLF, GridPACK and files made with them have for it.

    Its record and its equations are those of PSS/E's IEEEX1. IEEE Working Group, Excitation system models for power
    system stability studies, IEEE Trans. PAS-100 (2), 1981.
    """
