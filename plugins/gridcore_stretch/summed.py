"""A method whose steps are sums of points and slopes: derivatives are swept over many of them at once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.integrate import Stepper
from gridcore.tape import Steps

from .sweeps import Sums, Sweeps

if TYPE_CHECKING:
    from gridcore.sensitivity import ReverseSweep


class Summed(Stepper):
    """A stepper that says what its steps are sums of; it needs an `operator` for one of them all the same."""

    @abstractmethod
    def sums(self, steps: Steps, sweep: Any) -> Sums:
        """Of these steps, one after the other, in a sweep."""

    def transpose(self, steps: Steps, sweep: ReverseSweep) -> int | None:
        """Of few objectives."""
        return Sweeps.of(sweep).transpose(sweep, steps, self.sums(steps, sweep).last())

    def forward(self, steps: Steps, sweep: Any) -> np.ndarray | None:
        """In few directions."""
        return Sweeps.of(sweep).forward(sweep, steps, self.sums(steps, sweep).first())
