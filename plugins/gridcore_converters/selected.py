"""A PI controller that a flag may take away."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore_blocks import Block, Limits, Signal


class SelectedPI(Block):
    """``KP + KI / s`` of an input where `flag` is 1, and otherwise a signal, both between the same limits.

    As :class:`gridcore_blocks.PI`, but without an integrator that nothing determines where it is not used.
    """

    def __init__(self, u: Signal, *, KP: str, KI: str, flag: str, otherwise: Signal, limits: Limits, init: float = 0.0,
                 unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.KP, self.KI, self.flag, self.otherwise = u, KP, KI, flag, otherwise
        self.limits, self.init = limits, init

    def expand(self) -> None:
        u, KP, KI, flag = self.input(self.u), self.value(self.KP), self.value(self.KI), self.value(self.flag)
        x, otherwise = f"{self.name}_x", self.reader(self.otherwise, "otherwise", f"without it: {self.words}")
        there = self.quantity(f"{self.name}_there", lambda s: np.where(flag(s) > 0.5, 1.0, 0.0),
                              "whether it integrates")

        def gain(s: Any) -> Any:
            return np.where(flag(s) > 0.5, KP(s), 0.0)

        def rate(s: Any) -> Any:
            return np.where(flag(s) > 0.5, KI(s) * u(s), otherwise(s) - getattr(s, x))

        self.limited(x, rate, self.limits, gain, lambda s: gain(s) * u(s), at_limit=0, T=there, init=self.init,
                     doc=f"{self.words}: its integrator")
