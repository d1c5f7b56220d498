"""The adjoint: one sweep backwards over the tape, all objectives at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..equilibrium import InitialSensitivity
from ..errors import CaseError
from ..integrate import made_by
from ..linear import products
from ..registry import analyses
from ..registry import registries as plugins
from ..tape import BLOCK, GRID, Arm, Cancel, Resolve, Step, Switch
from .coincidence import warn_of_coincidence
from .jump_rules import Discrete
from .objective import Evaluation, Objective, evaluate
from .operators import Replay, ResolveOperator, carried_parameters
from .request import Request, objectives_of, replayable, table

if TYPE_CHECKING:
    import xarray as xr

    from ..results import Run


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
    in_x, in_p : tuple
        Which of the entries of the weights are derivatives in X or P, and where they are added there.
    behind, kept : dict
        Adjoints of points before the step that read them, by number; and what methods keep with it.
    """

    def __init__(self, replay: Replay, weights: Evaluation, rule: Any):
        self.replay, self.weights, self.rule = replay, weights, rule
        m, tape = len(weights.values), replay.tape
        self.X = np.zeros((m, replay.system.n))
        self.P = np.zeros((m, len(replay.carried)))
        self.T = np.zeros((len(tape.clocks), m))
        for clock, amount in weights.clocks:
            self.T[clock] += amount
        n, time = replay.system.n, replay.system.layout.t
        self.nonzero: list[bool] = weights.nonzero.tolist()
        in_x, in_p = np.flatnonzero(weights.at < n), np.flatnonzero(replay.column_of[weights.at] >= 0)
        self.in_x = (in_x, (weights.row[in_x], weights.at[in_x]))
        self.in_p = (in_p, (weights.row[in_p], replay.column_of[weights.at[in_p]]))
        self._in_t = np.flatnonzero((weights.at == time) & rule.moving)
        self.behind, self.kept = dict[int, np.ndarray](), dict[Any, Any]()

    def run(self) -> None:
        """From the last point to the first."""
        tape = self.replay.tape
        handlers: dict[type, Callable[[Any], None]] = {
            Step: self.step, Resolve: self.resolve, Switch: self.switch, Arm: self.arm, Cancel: lambda record: None}
        if self.nonzero[-1]:
            self.objectives(tape.points - 1)
        number, at_once = len(tape.records), type(self.replay) is Replay and type(self).step is ReverseSweep.step
        at_once &= type(self.rule).step_transpose is Discrete.step_transpose
        while number:
            made = self.steps(number - 1) if at_once else 0
            at_once &= made is not None
            if not made:
                record, made = tape.records[number - 1], 1
                handlers[type(record)](record)
            number -= made
        for number, clock in enumerate(tape.clocks):
            if clock.kind == "timer":
                self.P[:, self.replay.column_of[clock.of]] += self.T[number]

    def objectives(self, k: int) -> None:
        """Add the objectives' own derivatives at point `k`."""
        values = self.weights.points[k]
        for adjoint, (which, where) in ((self.X, self.in_x), (self.P, self.in_p)):
            if len(which):
                np.add.at(adjoint, where, values[which])
        if len(self._in_t):
            np.add.at(self.T[self.replay.tape.point_clock[k]], self.weights.row[self._in_t], values[self._in_t])

    def steps(self, number: int) -> int | None:
        """Steps up to this record at once, in which nothing happens: over how many their method takes it, if it may."""
        first, last, end = (records := self.replay.tape.records).quiet(number)
        if last == end:
            return 0
        steps = records.steps(max(first, last + 1 - BLOCK), last + 1)
        return self.replay.steppers[steps.method[0]].transpose(steps, self)

    def step(self, record: Step) -> None:
        """A step."""
        operator = self.replay.step(record)
        self.X, start, end = self.rule.step_transpose(operator, self.X, self.P, self.T[record.end])
        if record.end != GRID:  # which does not move
            self.T[record.end] = end
        if record.start != GRID:
            self.T[record.start] += start
        for k, (aX, aT) in zip(operator.past, operator.before):
            self.behind[k] = self.behind.get(k, 0.0) + aX
            self.T[self.replay.tape.point_clock[k]] += aT * self.rule.moving
        self.X = self.X + self.behind.pop(record.k) if record.k in self.behind else self.X
        if self.nonzero[record.k]:
            self.objectives(record.k)

    def resolve(self, record: Resolve) -> None:
        """The algebraic equations solved again."""
        clock = self.replay.tape.point_clock[record.k + 1]
        after = self.rule.shift(self.replay, record.k + 1)
        if after is not None:
            self.T[clock] -= products(self.X, after)
        self.X, aT = self.replay.resolve(record.k).transpose(self.X, self.P)
        self.T[clock] += aT

    def switch(self, record: Switch) -> None:
        """The changes of a switch."""
        clock = self.replay.tape.point_clock[record.k]
        self.X, self.P, aT = self.replay.switch(record).transpose(self.X, self.P)
        self.T[clock] += aT
        before = self.rule.shift(self.replay, record.k)
        if before is not None:
            self.T[clock] += products(self.X, before)
        if self.nonzero[record.k]:
            self.objectives(record.k)

    def arm(self, record: Arm) -> None:
        """A delay: its end follows the trigger and the delay."""
        tape = self.replay.tape
        clock = tape.clocks[record.clock]
        self.T[clock.after] += self.T[record.clock]
        self.P[:, self.replay.column_of[clock.of]] += self.T[record.clock]


def discrete(replay: Replay, run: Run, objectives: Sequence[Objective], weights: Evaluation, rule: Any) -> ReverseSweep:
    """The sweep of the exact adjoint, which needs no more than the tape and the weights."""
    return ReverseSweep(replay, weights, rule)


def adjoint(run: Run, objectives: Objective | Sequence[Objective], wrt: str | Iterable[str], *,
            joint: Iterable[Iterable[str]] = (), jumps: str | None = None, dispatch: str = "power flow",
            method: str = "discrete", allow_grazing: bool = False) -> xr.DataArray:
    """Derivatives of objectives of a run, by the adjoint.

    Parameters
    ----------
    run : Run
        Of a method whose steps can be differentiated, or what :func:`gridcore.retrace` made of another; for an
        approximate `method`, of any.
    objectives : Objective or sequence of Objective
    wrt : str or iterable of str
        Addresses ``device.param``, with shell patterns: parameters, event times, delays and thresholds among them, but
        not what the power flow or initialisation finds; and states, whose initial value is meant.
    joint : iterable of groups of str
        Parameters that move together, ``[("fault.clear", "trip.t")]``: one derivative for each group. At an instant at
        which several events happen it is the derivative in all their times, whatever their order.
    jumps : str
        Jump rule: ``"discrete"`` (exact), ``"continuous"``, or a registered one; by default that of the method.
    dispatch : {"power flow", "direct"}
        Whether P0, Q0 and V0 act through the power flow, or power and voltage at t0 are parameters of their own.
    method : str
        ``"discrete"``: the derivative of the numbers that the run has. Or that of a plugin, maybe an approximate one.
    allow_grazing : bool
        Warn of a grazing event in place of an error; the derivatives across it mean little.

    Returns
    -------
    xarray.DataArray
        Dimensions objective and parameter; with the objectives' values, and units. Attributes: ``method``;
        of a retraced run, its ``replay_mismatch``; of an approximate method, ``approximate`` and its
        ``discrepancy`` from the discrete gradient, which is the coordinate ``discrete``: the largest
        difference of any derivative, as a part of the largest derivative of the same objective.

    Raises
    ------
    CaseError
        If a name matches nothing, or the run cannot be replayed.
    EventError
        If an event grazes, unless that is allowed.
    """
    objectives = objectives_of(run, objectives)
    if method not in plugins.adjoints:
        raise CaseError(f"method = {method!r} must be {' or '.join(map(repr, plugins.adjoints))}")
    kind = plugins.adjoints[method]
    if kind.exact:
        replayable(run.tape)
    request = Request.of(run.system, wrt, dispatch, joint)
    warn_of_coincidence(run, request, objectives)
    rule = plugins.jump_rules[jumps or kind.jumps].rule
    weights = evaluate(run, objectives, rule.moving)
    setpoints = run.system.initialisation.setpoints
    carried = carried_parameters(run.system, run.tape, request.parameters, weights.parameters(run.system),
                                 setpoints, request.operating_point)
    replay = Replay(run.system, run.tape, carried)
    replay.allow_grazing = allow_grazing
    sweep = kind.sweep(replay, run, objectives, weights, rule)
    sweep.run()
    initial = InitialSensitivity.of(run.system, carried, dispatch == "power flow")
    gradient = np.empty((len(objectives), len(request.names)))
    aX, aP, held = sweep.X, sweep.P, run.system.held
    if len(request.states) or len(held):  # the algebraic variables follow an initial value
        parameters = sweep.P.copy()
        states, _ = ResolveOperator(replay, replay.point(0)).transpose(sweep.X, parameters)
        gradient[:, ~request.is_parameter] = states[:, request.states]
        if len(held):  # and initialisation has no part in one that is given
            aX, aP = states, parameters
            aX[:, held] = 0.0
    gradient[:, request.is_parameter] = initial.transpose(aX, aP)[:, replay.column_of[request.parameters]]
    out = table(run.system, objectives, weights.values, request, gradient)
    out.attrs.update({"method": method}, **{k: v for k, v in run.settings.items() if k.startswith("replay_mismatch")})
    if kind.exact:
        return out
    exact = run if all(made_by(m).differentiable for m in run.tape.methods) else analyses.retrace(run)
    return against(adjoint(exact, objectives, wrt, joint=joint, dispatch=dispatch), out)


def against(beside: xr.DataArray, out: xr.DataArray) -> xr.DataArray:
    """An approximate gradient, labelled, and how far it is from the discrete one."""
    largest = np.abs(beside.values).max(axis=1, initial=0.0, keepdims=True)
    difference = np.abs(out.values - beside.values)
    part = np.divide(difference, largest, out=np.where(difference > 0, np.inf, 0.0), where=largest > 0)
    out.attrs.update(beside.attrs, method=out.attrs["method"], approximate="yes",
                     discrepancy=float(part.max(initial=0.0)))
    return out.assign_coords(discrete=(out.dims, beside.values))
