"""Magnetic saturation of a machine, from its two points: S(1.0) and S(1.2).

What a function here returns is ``S(psi) psi``, the field current (pu) that the flux `psi` takes beyond the air-gap
line; ``S10 = S12 = 0`` is none at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def quadratic(S10: Any, S12: Any, psi: Any) -> Any:
    """``B (psi - A)^2`` above ``psi = A``, zero below: through S10 at 1.0 and ``1.2 S12`` at 1.2.

    PSS/E's saturation of GENROU and GENSAL; with ``a = sqrt(S10 / (1.2 S12))``,
    ``A = (1 - 1.2 a) / (1 - a)`` and ``B = 1.2 S12 / (1.2 - A)^2``. With ``S10 = 0`` there is none, whatever S12:
    PSS/E's own trajectories of GENROU with the points 0 and 1.0 are those of a machine without saturation.
    """
    some = np.logical_and(S10 > 0, S12 > 0)
    last = 1.2 * np.where(some, S12, 1.0)
    a = np.sqrt(np.where(some, S10, 0.5) / last)
    A = (1.0 - 1.2 * a) / (1.0 - a)
    above = np.where(psi > A, psi - A, 0.0)
    return np.where(some, last * (above / (1.2 - A)) ** 2, 0.0)


def exponential(S10: Any, S12: Any, psi: Any) -> Any:
    """``S10 psi^(n + 1)`` with ``n = ln(S12 / S10) / ln(1.2)``: PSS/E's saturation of GENROE."""
    some = S10 > 0
    n = np.log(np.where(some, S12, 1.0) / np.where(some, S10, 1.0)) / np.log(1.2)
    return np.where(some, S10 * psi ** (n + 1.0), 0.0)


def check_points(values: Mapping[str, float]) -> str | None:
    """What is wrong with S10 and S12 taken together, in words."""
    S10, S12 = values["S10"], values["S12"]
    if S10 == S12 == 0:
        return None
    return None if S10 < S12 else "S10 must be below S12: saturation grows with the flux"


def check_exponential(values: Mapping[str, float]) -> str | None:
    """What is wrong with the points of an exponential, in words."""
    if values["S12"] > 0 and not values["S10"] > 0:
        return "S10 must be above zero where S12 is: no exponential passes through the two points"
    return None
