"""A characteristic of straight lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Param
from gridcore_blocks import Block, Signal


class Polygon(Block):
    """A function of straight lines through points, whose coordinates are parameters: ``P0, Q0, P1, Q1``.

    The first and the last line go on beyond their ends. The points end where the abscissa no longer rises. Its kinks
    are not located: it is continuous.

    Parameters
    ----------
    u : str, float or callable
        Input.
    x, y : str
        What the names of abscissas and ordinates begin with.
    last : int
        Number of the last point.
    """

    def __init__(self, u: Signal, *, x: str, y: str, last: int, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.x, self.y, self.last = u, x, y, last

    def expand(self) -> None:
        u = self.input(self.u)
        for k in range(self.last + 1):
            for name in (self.x, self.y):
                self._parts[f"{name}{k}"] = Param(self.unit, 0.0, doc=f"point {k} of {self.words}")

        self.output(lambda s: along(s, self.x, self.y, self.last, u(s)))


def along(s: Any, x: str, y: str, last: int, at: Any) -> Any:
    """The ordinate at an abscissa, of the points that a device has as parameters."""
    X, Y = ([getattr(s, f"{name}{k}") for k in range(last + 1)] for name in (x, y))
    there = [X[k + 1] > X[k] for k in range(last)]
    value = Y[0]
    for k, rises in enumerate(there):
        further = there[k + 1] if k + 1 < last else False
        end = np.where(np.logical_and(further, at > X[k + 1]), X[k + 1], at)
        end = end if k == 0 else np.where(at > X[k], end, X[k])
        slope = (Y[k + 1] - Y[k]) / np.where(rises, X[k + 1] - X[k], 1.0)
        value = value + np.where(rises, slope * (end - X[k]), 0.0)
    return value
