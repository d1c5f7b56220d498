"""The forward sweep: tangents on their way through a tape, one method for each type of record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore.sensitivity import Replay
from gridcore.tape import Arm, Cancel, Resolve, Step, Switch

_BACK = 8  # steps, whose starts one may read


class ForwardSweep:
    """Tangents in K directions at once.

    Parameters
    ----------
    replay : Replay
    rule : jump rule
    dX, dP : (K, n), (K, n_c) arrays
        Tangents of the state and of the carried parameters at t0.

    Attributes
    ----------
    X, P : arrays
        Tangents at the point that has been reached.
    T : (clocks, K) array
        Tangents of the times of the clocks.
    """

    def __init__(self, replay: Replay, rule: Any, dX: np.ndarray, dP: np.ndarray):
        self.replay, self.rule = replay, rule
        self.X, self.P = dX, dP
        clocks = replay.tape.clocks
        self._behind: dict[int, np.ndarray] = {}  # tangents of points that later steps may read
        self.T = np.zeros((len(clocks), len(dX)))
        for number, clock in enumerate(clocks):
            if clock.kind == "timer":
                self.T[number] = dP[:, replay.column_of[clock.of]]

    def run(self, visit: Callable[[int, np.ndarray], None]) -> None:
        """From the first point to the last; `visit` is called with each point and the state's tangent."""
        handlers: dict[type, Callable[[Any], None]] = {
            Step: self.step, Resolve: self.resolve, Switch: self.switch, Arm: self.arm, Cancel: lambda record: None}
        visit(0, self.X)
        for record in self.replay.tape.records:
            handlers[type(record)](record)
            if isinstance(record, Step | Resolve):
                visit(record.k + 1, self.X)

    def step(self, record: Step) -> None:
        """A step."""
        operator = self.replay.step(record)
        if not self.replay.steppers[record.method].one_step:
            clock = self.replay.tape.point_clock
            operator.before = [(self._behind[k], self.T[clock[k]] * self.rule.moving) for k in operator.past]
            if record.h:
                self._behind = dict([*self._behind.items(), (record.k, self.X)][-_BACK:])
        self.X, self.T[record.end] = self.rule.step(operator, self.X, self.P, self.T[record.start], self.T[record.end])
        self.T[0] = 0.0

    def switch(self, record: Switch) -> None:
        """The changes of a switch."""
        moved = self.T[self.replay.tape.point_clock[record.k]]
        before = self.rule.shift(self.replay, record.k)
        if before is not None:
            self.X = self.X + np.outer(moved, before)
        self.X, self.P = self.replay.switch(record).forward(self.X, self.P, moved)

    def resolve(self, record: Resolve) -> None:
        """The algebraic equations solved again."""
        moved = self.T[self.replay.tape.point_clock[record.k + 1]]
        self.X = self.replay.resolve(record.k).forward(self.X, self.P, moved)
        after = self.rule.shift(self.replay, record.k + 1)
        if after is not None:
            self.X = self.X - np.outer(moved, after)

    def arm(self, record: Arm) -> None:
        """A delay: its end follows the trigger and the delay."""
        clock = self.replay.tape.clocks[record.clock]
        self.T[record.clock] = self.T[clock.after] + self.P[:, self.replay.column_of[clock.of]]
