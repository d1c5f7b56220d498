"""What the current with priority leaves of a limit to the other one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore_blocks import Limit

LEAST = 0.01  # of the limit: what is left when the current with priority takes everything


class LeftSquared(Limit):
    """``limit^2 - current^2``, but not below the square of a hundredth of the limit: that is a located event.

    Parameters
    ----------
    limit : str
        Parameter of the device: the limit of both currents together (pu).
    current : callable
        The one with priority.
    """

    def __init__(self, limit: str, *, current: Callable[[Any], Any]):
        def squared(s: Any) -> Any:
            return getattr(s, limit) ** 2 - current(s) ** 2

        super().__init__(squared, limits=(lambda s: (LEAST * getattr(s, limit)) ** 2, None), names=(limit, "none"),
                         settles=True, doc="what the current with priority leaves, squared")


def left_of(s: Any) -> Any:
    """Root of the block ``left``: a step may go beyond its limit before that is located."""
    return np.sqrt(np.maximum(s.left, s.left_min))
