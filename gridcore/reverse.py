"""The discrete adjoint: one sweep backwards over the tape, all objectives at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import plugins
from .initial_sensitivity import InitialSensitivity
from .objective import Objective, Weights, evaluate
from .replay import Replay, ResolveOperator, carried_parameters
from .trajectory import Arm, Cancel, Record, Resolve, Step, Switch
from .wanted import Wanted, replayable, table

if TYPE_CHECKING:
    import xarray as xr

    from .run import Run


class ReverseSweep:
    """Adjoints on their way back through a tape, one method for each type of record.

    Attributes
    ----------
    X : (m, n) array
        Adjoint of the state, one row an objective.
    P : (m, n_c) array
        Adjoint of the carried parameters.
    T : (clocks, m) array
        Adjoint of the time of each clock.
    """

    def __init__(self, replay: Replay, weights: Weights, rule: Any):
        self.replay, self.weights, self.rule = replay, weights, rule
        m, tape = len(weights.values), replay.tape
        self.X = np.zeros((m, replay.system.n))
        self.P = np.zeros((m, len(replay.carried)))
        self.T = np.zeros((len(tape.clocks), m))
        for clock, amount in weights.clocks:
            self.T[clock] += amount
        n, time = replay.system.n, replay.system.layout.t
        self._in_x = np.flatnonzero(weights.at < n)
        self._in_p = np.flatnonzero(replay.column_of[weights.at] >= 0)
        self._in_t = np.flatnonzero((weights.at == time) & rule.moving)

    def run(self) -> None:
        """From the last point to the first."""
        tape = self.replay.tape
        handlers: dict[type, Callable[[Any], None]] = {
            Step: self.step, Resolve: self.resolve, Switch: self.switch, Arm: self.arm, Cancel: self.cancel}
        self.objectives(tape.points - 1)
        for record in reversed(tape.records):
            handlers[type(record)](record)
        for number, clock in enumerate(tape.clocks):
            if clock.kind == "timer":
                self.P[:, self.replay.column_of[clock.of]] += self.T[number]

    def objectives(self, k: int) -> None:
        """Add the objectives' own derivatives at point `k`."""
        w = self.weights
        values = w.points[k]
        if len(self._in_x):
            np.add.at(self.X, (w.row[self._in_x], w.at[self._in_x]), values[self._in_x])
        if len(self._in_p):
            np.add.at(self.P, (w.row[self._in_p], self.replay.column_of[w.at[self._in_p]]), values[self._in_p])
        if len(self._in_t):
            np.add.at(self.T[self.replay.tape.point_clock[k]], w.row[self._in_t], values[self._in_t])

    def step(self, record: Step) -> None:
        """A step."""
        operator = self.replay.step(record)
        self.X, start, self.T[record.end] = self.rule.step_transpose(operator, self.X, self.P, self.T[record.end])
        self.T[record.start] += start
        self.objectives(record.k)

    def resolve(self, record: Resolve) -> None:
        """The algebraic equations solved again."""
        clock = self.replay.tape.point_clock[record.k + 1]
        after = self.rule.shift(self.replay, record.k + 1)
        if after is not None:
            self.T[clock] -= self.X @ after
        self.X, aT = self.replay.resolve(record.k).transpose(self.X, self.P)
        self.T[clock] += aT

    def switch(self, record: Switch) -> None:
        """The changes of a switch."""
        clock = self.replay.tape.point_clock[record.k]
        self.X, self.P, aT = self.replay.switch(record).transpose(self.X, self.P)
        self.T[clock] += aT
        before = self.rule.shift(self.replay, record.k)
        if before is not None:
            self.T[clock] += self.X @ before
        self.objectives(record.k)

    def arm(self, record: Arm) -> None:
        """A delay: its end follows the trigger and the delay."""
        tape = self.replay.tape
        clock = tape.clocks[record.clock]
        self.T[clock.after] += self.T[record.clock]
        self.P[:, self.replay.column_of[clock.of]] += self.T[record.clock]

    def cancel(self, record: Record) -> None:
        """Nothing: what was cancelled changed nothing."""


def adjoint(run: Run, objectives: Objective | Sequence[Objective], wrt: str | Iterable[str], *,
            jumps: str = "discrete", dispatch: str = "power flow") -> xr.DataArray:
    """Derivatives of objectives of a run, by the discrete adjoint.

    Parameters
    ----------
    run : Run
        Of a theta method.
    objectives : Objective or sequence of Objective
    wrt : str or iterable of str
        Addresses ``device.param``, with shell patterns: parameters, set-points held constant
        excepted; event times, delays and thresholds; and states, whose initial value is meant.
    jumps : str
        Jump rule: ``"discrete"`` (exact), ``"continuous"``, or a registered one.
    dispatch : {"power flow", "direct"}
        Whether P0, Q0 and V0 act through the power flow, or power and voltage at t0 are parameters
        of their own.

    Returns
    -------
    xarray.DataArray
        Dimensions objective and parameter; with the objectives' values, and units.

    Raises
    ------
    CaseError
        If a name matches nothing, or the run cannot be replayed.
    EventError
        If an event grazes.
    """
    objectives = [objectives] if isinstance(objectives, Objective) else list(objectives)
    replayable(run.tape)
    wanted = Wanted.of(run.system, wrt, dispatch)
    rule = plugins.jump_rules[jumps]
    weights = evaluate(run, objectives, rule.moving)
    setpoints = run.system.initialisation.setpoints
    carried = carried_parameters(run.system, run.tape, [*wanted.parameters, *weights.parameters(run.system)],
                                 [*setpoints, *wanted.operating_point])
    replay = Replay(run.system, run.tape, carried)
    sweep = ReverseSweep(replay, weights, rule)
    sweep.run()
    initial = InitialSensitivity.of(run.system, carried, dispatch == "power flow")
    gradient = np.empty((len(objectives), len(wanted.names)))
    gradient[:, wanted.is_parameter] = initial.transpose(sweep.X, sweep.P)[
        :, replay.column_of[wanted.parameters]]
    if len(wanted.states):  # the algebraic variables follow an initial value
        held, _ = ResolveOperator(replay, replay.point(0)).transpose(sweep.X, np.zeros_like(sweep.P))
        gradient[:, ~wanted.is_parameter] = held[:, wanted.states]
    return table(objectives, weights.values, wanted, gradient)
