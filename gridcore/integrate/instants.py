"""The order of what happens at one instant: by how its events would part.

Events of one instant stand for events that follow each other after a vanishing time. What the state moves by
meanwhile decides which of the guards that rest at zero is crossed first.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..linear import Newton
from ..system import System


class Instant:
    """One instant of a run, at the present point of its workspace.

    `apart`, (n + 1,), is what differential variables and time (the last) have moved by since its first event, for each
    vanishing second; None as long as it has one event only.
    """

    def __init__(self, newton: Newton, system: System):
        self.newton, self.ws, self.system = newton, newton.ws, system
        self.apart: np.ndarray | None = None

    def part(self, time: float = 1.0) -> None:
        """The next event is later than the last, by a multiple of a vanishing time."""
        moved = time * np.append(np.where(self.ws.differential, self.ws.rhs(), 0.0), 1.0)
        self.apart = moved if self.apart is None else self.apart + moved

    def rates(self, guards: Iterable[int], along: np.ndarray | None = None) -> np.ndarray:
        """How fast guards move (1/s), if nothing switches, (k,); or how far, `along` a direction as `apart` is one."""
        ws = self.ws
        moved, time = self.newton.derivative(ws.differential, along), 1.0 if along is None else along[-1]
        rows = (self.system.guard_row(int(guard))(ws.Z) for guard in guards)
        return np.array([gradient @ moved[columns] + gamma_t * time for columns, gradient, gamma_t in rows])

    def lateness(self, guards: np.ndarray) -> np.ndarray:
        """How long after the last event guards at zero cross it, where events part by a vanishing second, (k,)."""
        speed, off = self.rates(guards), self.rates(guards, self.apart)
        return np.maximum(np.divide(-off, speed, out=np.zeros(len(guards)), where=speed != 0), 0.0)
