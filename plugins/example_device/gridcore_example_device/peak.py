"""A kind of objective of one's own: nearly the largest value of a quantity along a run, and smooth in everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gridcore.sensitivity import Pointwise, Taken


@dataclass
class SmoothPeak(Pointwise):
    """``log(sum(exp(sharpness r))) / sharpness`` of the values r of a function at the points of a run.

    Parameters
    ----------
    function : callable
        Of named quantities, ``lambda v: v["GEN2", "omega"]``.
    sharpness : float
        The larger, the nearer to the maximum: of N equal values it is ``log(N) / sharpness`` above them.
    """

    function: object
    sharpness: float
    name: str = ""
    unit: str = ""

    def take(self, points, r):
        """The number, and its derivative in each value."""
        powers = np.exp(self.sharpness * (r - r.max()))
        return Taken(r.max() + np.log(powers.sum()) / self.sharpness, powers / powers.sum())


def of_file(table, quantity):
    """What a table with ``kind = "smooth peak"`` of an objective file means."""
    return SmoothPeak(lambda v: v[quantity.device, quantity.name], table.number("sharpness", quantity),
                      unit=quantity.unit)
