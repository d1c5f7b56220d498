"""Gates that pass the right signal also where a switch has moved both, and no event has told them yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Quantity
from gridcore_blocks import HighGate

NEAR = 1e-9  # relative: signals that are as close are told apart by the mode, whose change is located


class Larger(HighGate):
    """The larger of two signals; the quantity ``<gate>_takes`` is 1 where that is the second.

    A :class:`~gridcore_blocks.HighGate` passes what was larger before a switch until its own event has fired. Where
    what it passes decides whether a line is blocked, that would be decided by voltages that never are.
    """

    def expand(self) -> None:
        super().expand()
        first = self.reader(self.first, "first", f"first input: {self.words}")
        second = self.reader(self.second, "second", f"second input: {self.words}")
        sign, side = 1.0 if self.larger else -1.0, f"{self.name}_side"

        def takes_second(s: Any) -> Any:
            beyond, size = sign * (second(s) - first(s)), np.abs(first(s)) + np.abs(second(s))
            there = np.where(beyond > 0, 1.0, 0.0)
            return np.where(np.abs(beyond) > NEAR * size, there, np.where(getattr(s, side) == 1, 1.0, 0.0))

        self._parts[f"{self.name}_takes"] = Quantity("", takes_second, f"1 where it takes its second: {self.words}")
        self.output(lambda s: np.where(getattr(s, f"{self.name}_takes") == 1, second(s), first(s)))


class Smaller(Larger):
    """The smaller of two signals: see :class:`Larger`."""

    larger = False
