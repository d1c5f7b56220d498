"""Gates that pass nearly the right signal also where a switch has moved both, and no event has told them yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore_blocks import HighGate

SLACK = 0.02  # of both signals: more than a step changes them by, and less than matters to what a line decides


class Larger(HighGate):
    """The larger of two signals.

    A :class:`~gridcore_blocks.HighGate` passes what was larger before a switch until its own event has fired. Where
    what it passes decides whether a line is blocked, voltages that never are would decide that. Here it is no further
    beyond the other signal than a small part of both; where its events have fired, it is what that gate passes.
    """

    def expand(self) -> None:
        super().expand()
        first = self.reader(self.first, "first", f"first input: {self.words}")
        second = self.reader(self.second, "second", f"second input: {self.words}")
        mode, larger = f"{self.name}_side", self.larger

        def passed(s: Any) -> Any:
            a, b = first(s), second(s)
            return np.where(getattr(s, mode) == 1, beside(b, a, larger), beside(a, b, larger))

        self.output(passed)


class Smaller(Larger):
    """The smaller of two signals: see :class:`Larger`."""

    larger = False


def beside(chosen: Any, other: Any, larger: bool) -> Any:
    """The chosen signal, or what is a little beyond the other, which should have been chosen then."""
    slack = SLACK * (np.where(chosen > 0, chosen, -chosen) + np.where(other > 0, other, -other))
    return np.maximum(chosen, other - slack) if larger else np.minimum(chosen, other + slack)
