"""The forward sweep: tangents on their way through a tape, one method for each type of record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore.sensitivity import Discrete, Replay
from gridcore.tape import GRID, Arm, Cancel, Resolve, Step, Switch

_BACK = 8  # steps, whose starts one may read
_AT_ONCE = 512  # steps that a method is asked for; it makes fewer, and then would find their formulas again


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
    behind, kept : dict
        Tangents of points that later steps may read, by number; and what methods keep with it.
    """

    def __init__(self, replay: Replay, rule: Any, dX: np.ndarray, dP: np.ndarray):
        self.replay, self.rule = replay, rule
        self.X, self.P, self.kept = dX, dP, dict[Any, Any]()
        clocks = replay.tape.clocks
        self.behind: dict[int, np.ndarray] = {}
        self.T = np.zeros((len(clocks), len(dX)))
        for number, clock in enumerate(clocks):
            if clock.kind == "timer":
                self.T[number] = dP[:, replay.column_of[clock.of]]

    def run(self, visit: Callable[[int, np.ndarray], None]) -> None:
        """From the first point to the last; `visit` is called with a point and the tangents of the state, there and at
        points of the same clock that follow it, (points, K, n).
        """
        handlers: dict[type, Callable[[Any], None]] = {
            Step: self.step, Resolve: self.resolve, Switch: self.switch, Arm: self.arm, Cancel: lambda record: None}
        visit(0, self.X[None])
        records, number = self.replay.tape.records, 0
        at_once = type(self.replay) is Replay and type(self).step is ForwardSweep.step
        at_once &= type(self.rule).step is Discrete.step
        while number < len(records):
            made = self.steps(number, visit) if at_once else 0
            at_once &= made is not None
            if not made:
                record, made = records[number], 1
                handlers[type(record)](record)
                if isinstance(record, Step | Resolve):
                    visit(record.k + 1, self.X[None])
            number += made

    def steps(self, number: int, visit: Callable[[int, np.ndarray], None]) -> int | None:
        """Steps from this record on at once, in which nothing happens, as many as the method makes so, if it may."""
        records = self.replay.tape.records
        _, first, end = records.quiet(number)
        if first == end:
            return 0
        steps = records.steps(first, min(end, first + _AT_ONCE))
        stepper, k = self.replay.steppers[steps.method[0]], int(steps.k[0])
        tangents = stepper.forward(steps, self)
        if tangents is None or not len(tangents):
            return None if tangents is None else 0
        visit(k + 1, tangents)
        if not stepper.one_step:
            known = [*self.behind.items(), (k, self.X), *enumerate(tangents[:-1], k + 1)]
            self.behind = {number: X.copy() for number, X in known[-_BACK:]}
        self.X, self.T[GRID] = tangents[-1].copy(), 0.0
        return len(tangents)

    def step(self, record: Step) -> None:
        """A step."""
        operator = self.replay.step(record)
        if not self.replay.steppers[record.method].one_step:
            clock = self.replay.tape.point_clock
            operator.before = [(self.behind[k], self.T[clock[k]] * self.rule.moving) for k in operator.past]
            if record.h:
                self.behind = dict([*self.behind.items(), (record.k, self.X)][-_BACK:])
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
