"""The operations of a tape, linearised: each with its tangent and its transpose side by side.

A tangent is carried as rows: ``dX`` (K, n), ``dP`` (K, n_c) for the carried parameters, ``dT`` (K,) for a
clock. A transpose takes adjoints of the same shapes backwards. The operator of a step is its method's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .. import numerics
from ..equilibrium import Equilibrium
from ..errors import EventError
from ..integrate import Linearised, Operator, Point, StepOperator, Stepper, made_by
from ..linear import products
from ..tape import Step, Switch, Tape


class GrazingWarning(UserWarning):
    """An event grazes its guard: derivatives across it mean little."""


class Replay(Linearised):
    """Gives the linearised operation of every record of a tape; made of what a :class:`Linearised` is made of."""

    @cached_property
    def steppers(self) -> list[Stepper]:
        """The methods of the tape: records refer to them by number."""
        return [made_by(method) for method in self.tape.methods]

    def step(self, record: Step) -> StepOperator:
        """A step."""
        if record.h == 0.0 and record.guard < 0:
            return StandStill(record, self)
        found = self.steppers[record.method].operator(record, self)
        assert found is not None, "asked of a tape that cannot be replayed"
        return found

    def resolve(self, k: int) -> ResolveOperator:
        """The algebraic equations solved again, from point `k` to ``k + 1``."""
        return ResolveOperator(self, self.point(k + 1))

    def switch(self, record: Switch) -> SwitchOperator:
        """The changes of a switch."""
        return SwitchOperator(self, record)


def crossing(points: Linearised, record: Step, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Of the guard at a step's end, whose slope is given: gamma_X, gamma_p, and the speed ``gamma_t + gamma_X X'``.

    A speed that vanishes, but for round-off, is an error; with `allow_grazing` a warning.
    """
    in_x, in_t, in_p = points.guard(record.guard, record.k + 1)
    moved = in_x * slope
    across, terms = in_t + moved.sum(), abs(in_t) + np.abs(moved).sum()
    switching = points.system.switching
    if not record.h:  # behind another event, with which it may coincide always: of rates that balance, no digit is left
        X, J = points.tape.states.row(record.k + 1), points.point(record.k + 1).J
        of_rates = points.A.product(np.abs(J), (points.ws.scale + np.abs(X))[None])[0]
        terms += (np.abs(in_x) * np.where(points.point(record.k + 1).differential, of_rates, 0.0)).sum()
    before = switching.values(points.buffer(record.k))[record.guard]
    mean = abs(before) / record.h if record.h > 0 else 0.0
    if not abs(across) > max(numerics.GRAZING * terms, numerics.TOUCHING * mean):
        error = EventError(f"{switching.guards[record.guard]} grazes: its crossing speed vanishes",
                           t=float(points.tape.t[record.k + 1]))
        if not points.allow_grazing:
            raise error
        warnings.warn(str(error), GrazingWarning, stacklevel=2)
    return in_x, in_p, across


class ResolveOperator(Operator):
    """Algebraic variables solved again with the differential ones held: ``A dX+ = m dX + c (Fp dP + Ft dT)``."""

    def __init__(self, points: Linearised, point: Point):
        super().__init__(points)
        self.point = point
        self.of = points.coefficients(point, 0.0)
        self.lu = self.factors(point, self.of)

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT: np.ndarray) -> np.ndarray:
        """The tangent dX+."""
        right = self.of.m * dX + self.of.c * self.points.C.product(self.point.Fp, dP)
        if dT.any():
            right += np.outer(dT, self.of.c * self.point.Ft)
        return self.lu.solve(right)

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Adjoints of dX and dT from that of dX+; that of dP is added to `aP`."""
        w = self.lu.tsolve(np.array(adjoint, order="C"))
        self.points.C.transposed(self.point.Fp, self.of.c * w, aP)
        return self.of.m * w, products(w, self.of.c * self.point.Ft)


class StandStill(StepOperator):
    """A step of no length, from one clock to another: ``dX + m F (dT1 - dT0)``, and the algebraic variables follow.

    Two events of one instant have clocks of their own, between which the system moves on; so have an event and the
    point of the grid that it falls on. See docs/sensitivities.md.
    """

    def __init__(self, record: Step, points: Linearised):
        super().__init__(record, points)
        self._follow = ResolveOperator(points, points.point(record.k + 1))
        self._rate = self._follow.of.m * self._follow.point.F

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        return self._follow.forward(dX + np.outer(dT1 - dT0, self._rate), dP, dT1)

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        aX, aT1 = self._follow.transpose(adjoint, aP)
        moved = products(aX, self._rate)
        return aX, -moved, aT1 + moved


class SwitchOperator:
    """The changes of a switch, one trigger after the other, each from the values just before it."""

    def __init__(self, replay: Replay, record: Switch):
        self.replay = replay
        system, Z = replay.system, replay.buffer(record.k)
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for trigger in system.switching.chosen(record.triggers):
            change = system.switching.change(trigger)
            gather, targets = change.gather[trigger.member], change.targets[trigger.member]
            jacobian = change.gradient(Z[gather])
            Z[targets] = change.value(Z[gather])
            of, to = self._columns(gather), self._columns(targets)
            to[[at in targets[k + 1:] for k, at in enumerate(targets)]] = -1  # of two references to one thing the last
            self.parts.append((jacobian[np.ix_(to >= 0, of >= 0)], of[of >= 0], to[to >= 0]))

    def _columns(self, at: np.ndarray) -> np.ndarray:
        """Positions of entries of Z in a row ``[dX, dP, dT]``; -1 for what is not there."""
        replay, n = self.replay, self.replay.n
        parameter = replay.column_of[at]
        columns = np.where(at < n, at, np.where(parameter >= 0, n + parameter, -1))
        return np.where(at == replay.system.layout.t, n + replay.width, columns)

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tangents dX and dP after the switch."""
        row = np.concatenate([dX, dP, dT[:, None]], axis=1)
        for jacobian, of, to in self.parts:
            row[:, to] = row[:, of] @ jacobian.T
        n = self.replay.n
        return row[:, :n].copy(), row[:, n:-1].copy()

    def transpose(self, aX: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Adjoints of dX, dP and dT before the switch."""
        row = np.concatenate([aX, aP, np.zeros((len(aX), 1))], axis=1)
        for jacobian, of, to in reversed(self.parts):
            taken = row[:, to].copy()
            row[:, to] = 0.0
            np.add.at(row.T, of, (taken @ jacobian).T)
        n = self.replay.n
        return row[:, :n].copy(), row[:, n:-1].copy(), row[:, -1]


def carried_parameters(system: Equilibrium, tape: Tape, *wanted: Sequence[int] | np.ndarray) -> np.ndarray:
    """Positions of all parameters that a sweep must carry to have the derivatives in those `wanted`:
    themselves, event times and delays, and what switches change.
    """
    n, end = system.n, system.n + system.layout.n_p
    mask = np.zeros(system.layout.size, dtype=bool)
    mask[[clock.of for clock in tape.clocks if clock.kind in ("timer", "delay")]] = True
    for record in tape.records.others:
        if isinstance(record, Switch):
            for trigger in system.switching.chosen(record.triggers):
                targets = system.switching.change(trigger).targets[trigger.member]
                mask[targets[(targets >= n) & (targets < end)]] = True
    for part in wanted:
        mask[np.asarray(part, dtype=int)] = True
    return np.flatnonzero(mask)
