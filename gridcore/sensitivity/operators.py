"""The operations of a tape, linearised: each with its tangent and its transpose side by side.

A tangent is carried as rows: ``dX`` (K, n), ``dP`` (K, n_c) for the carried parameters, ``dT`` (K,) for a
clock. A transpose takes adjoints of the same shapes backwards. The matrices are those of the operation
at its converged points, factored there: a stale factor may precondition a solve, never stand in one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..equations.sparse_map import SparseMap
from ..errors import ConvergenceError, EventError
from ..linear import SingularMatrix
from ..linear.fixed_pattern import Coefficients, Pattern, end_of_step, step_transposed
from ..system.switching import Trigger
from ..tape.records import Step, Switch

if TYPE_CHECKING:
    from ..equations.assembly import Assembly
    from ..system.system import System
    from ..tape.records import Tape

# A crossing slower than this is a grazing one: against the terms that its speed is the sum of,
GRAZING = 1e-9
# and against its mean speed over the step, of which next to nothing is left where a guard turns back at zero.
TOUCHING = 1e-6

# Times are sums: on one grid, steps have a few lengths that differ in the last digit. What counts as the same length
# for pivots is less strict.
_LENGTHS = 12
_SAME_H = 1e-3


class GrazingWarning(UserWarning):
    """An event grazes its guard: derivatives across it mean little."""


class Point:
    """The system linearised at one point of the tape.

    Attributes
    ----------
    k : int
    J, Fp : arrays
        Entries of F_X and F_p, in the patterns of the replay.
    places : tuple
        These, as the functions of the runtime take them.
    """

    def __init__(self, replay: Replay, k: int):
        self.replay, self.k = replay, k
        assembly, of_p = replay.load(k), replay.parameter_map
        values, nnz = assembly.linearise(of_p.batches, len(of_p.indices)), len(assembly.indices)
        self.J, self.Fp = values[:nnz], values[nnz + 1: -1]
        self.places = assembly.runtime.place(self.J), assembly.runtime.place(self.Fp)

    @property
    def differential(self) -> np.ndarray:
        """The rows that are differential there, (n,) bool."""
        return self.replay.differential(self.k)

    @cached_property
    def F(self) -> np.ndarray:
        """F, (n,)."""
        return self.replay.load(self.k).rhs().copy()

    @cached_property
    def Ft(self) -> np.ndarray:
        """Partial derivative of F in time, (n,)."""
        self.replay.load(self.k)
        slope = self.replay.system.time_slope()
        return np.zeros(self.replay.system.n) if slope is None else slope


class Replay:
    """Gives the linearised operation of every record of a tape.

    Parameters
    ----------
    system : System
    tape : Tape
        Of a theta run, or of another to be replayed with `theta`.
    carried : sequence of int
        Positions in Z of the parameters whose derivatives are carried along.

    Attributes
    ----------
    allow_grazing : bool
        Warn of a grazing event, whose derivatives are huge or infinite, in place of an error.
    """

    allow_grazing = False

    def __init__(self, system: System, tape: Tape, carried: Sequence[int] | np.ndarray, theta: float | None = None):
        self.system, self.tape = system, tape
        self.theta = tape.theta if theta is None else theta
        self.carried = np.asarray(carried, dtype=int)
        self.column_of = system.columns(self.carried)
        self.lu = system.new_lu()
        self.parameter_map = system.parameter_jacobian(self.carried)
        patterns = (*system.remembered("step", system.base_differential, self._of_step),
                    *system.remembered("step in parameters", self.carried, self._of_parameters))
        self.A, self.B, self.C, self.C_start = (pattern.matrix() for pattern in patterns)
        self._settings: list[int] = tape.point_settings().tolist()
        self._masks: dict[int, np.ndarray] = {}
        self._distinct: dict[bytes, np.ndarray] = {}
        self._loaded = (-1, -1)
        self._cache: dict[int, Point] = {}
        self._coefficients: dict[tuple[float, int], Coefficients] = {}
        self._factored = (-1, 0.0)

    def _of_step(self) -> tuple[Pattern, Pattern]:
        """The patterns of A and B: of F_X, a step's start needs only the rows that can be differential."""
        assembly, shape = self.system.assembly, (self.system.n, self.system.n)
        kept, starts = self._differential_rows(assembly.indptr, assembly.indices)
        diagonal = np.searchsorted(kept, assembly.diagonal[self.system.base_differential]).astype(np.int32)
        return (Pattern(shape, assembly.indptr, assembly.indices, assembly.runtime, None, assembly.diagonal),
                Pattern(shape, starts, assembly.indices[kept], assembly.runtime, kept, diagonal))

    def _of_parameters(self) -> tuple[Pattern, Pattern]:
        """The pattern of C, and that of its part at a step's start."""
        of_C, runtime = self.parameter_map, self.system.assembly.runtime
        kept, starts = self._differential_rows(of_C.indptr, of_C.indices)
        return (Pattern(of_C.shape, of_C.indptr, of_C.indices, runtime),
                Pattern(of_C.shape, starts, of_C.indices[kept], runtime, kept))

    def _differential_rows(self, indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries of a pattern in rows that can be differential, and where the columns of these begin."""
        kept = np.flatnonzero(self.system.base_differential[indices]).astype(np.int32)
        return kept, np.searchsorted(kept, indptr).astype(np.int32)

    def point(self, k: int) -> Point:
        """Point `k`, linearised; the last few are kept."""
        if k not in self._cache:
            while len(self._cache) > 2:
                self._cache.pop(next(iter(self._cache)))
            self._cache[k] = Point(self, k)
        return self._cache[k]

    def buffer(self, k: int) -> np.ndarray:
        """Z at point `k`: variables, parameters, modes and time."""
        tape, Z, n = self.tape, np.empty(self.system.layout.size), self.system.n
        Z[:n], Z[n:-1], Z[-1] = tape.states.row(k), tape.settings[self._settings[k]], tape.t[k]
        return Z

    def differential(self, k: int) -> np.ndarray:
        """(n,) bool: the rows that are differential at point `k`."""
        number = self._settings[k]
        if number not in self._masks:
            mask = self.system.differential(self.buffer(k))
            self._masks[number] = self._distinct.setdefault(mask.tobytes(), mask)  # so that coefficients are shared
        return self._masks[number]

    def load(self, k: int) -> Assembly:
        """Put point `k` into the assembly; parameters, modes and what depends on them only where they are others."""
        X = self.tape.states.row(k)  # which may use the assembly to find it again
        assembly, number, n = self.system.assembly, self._settings[k], self.system.n
        if self._loaded != (number, assembly.refreshed):
            assembly.Z[n:-1] = self.tape.settings[number]
            assembly.refresh()
            self._loaded = (number, assembly.refreshed)
        assembly.X[:], assembly.Z[-1] = X, self.tape.t[k]
        return assembly

    def coefficients(self, point: Point, h: float) -> Coefficients:
        """The coefficients of a step of length `h` to a point (``h = 0``: of a re-solve); the last few are kept."""
        key = (h, id(point.differential))
        if key not in self._coefficients:
            while len(self._coefficients) >= _LENGTHS:
                self._coefficients.pop(next(iter(self._coefficients)))
            self._coefficients[key] = Coefficients(point.differential, h, self.theta or 0.0,
                                                   self.system.assembly.runtime)
        return self._coefficients[key]

    def matrix(self, point: Point, coefficients: Coefficients) -> np.ndarray:
        """Entries of ``A = diag(m) - diag(c) J`` at a point: a buffer that the next call overwrites."""
        return end_of_step(self.A, coefficients, point)

    def factor(self, point: Point, coefficients: Coefficients) -> None:
        """Factors of ``diag(m) - diag(c) J`` at a point."""
        last, self._factored = self._factored, (self._settings[point.k], coefficients.h)
        alike = last[0] == self._factored[0] and abs(last[1] - coefficients.h) <= _SAME_H * coefficients.h
        try:
            self.lu.refactor(self.matrix(point, coefficients), alike)
        except SingularMatrix as error:
            raise ConvergenceError("the linearised equations are singular", t=float(self.tape.t[point.k]),
                                   place=self.system.layout.label(error.column)) from None

    def step(self, record: Step) -> StepOperator:
        """A step."""
        return StepOperator(self, record)

    def resolve(self, k: int) -> ResolveOperator:
        """The algebraic equations solved again, from point `k` to ``k + 1``."""
        return ResolveOperator(self, self.point(k + 1))

    def switch(self, record: Switch) -> SwitchOperator:
        """The changes of a switch."""
        return SwitchOperator(self, record)

    def refuse_grazing(self, record: Step, across: float, terms: float) -> None:
        """Raise an error where the speed `across` of a crossing, a sum of `terms` in size, vanishes; or warn."""
        before = self.system.switching.values(self.buffer(record.k))[record.guard]
        mean = abs(before) / record.h if record.h > 0 else 0.0
        if not abs(across) > max(GRAZING * terms, TOUCHING * mean):
            error = EventError(f"{self.system.switching.guards[record.guard]} grazes: its crossing speed vanishes",
                               t=float(self.tape.t[record.k + 1]))
            if not self.allow_grazing:
                raise error
            warnings.warn(str(error), GrazingWarning, stacklevel=2)

    def slope(self, k: int) -> np.ndarray:
        """The slope dX/dt at point `k`, (n,): rates, and the algebraic variables that follow them."""
        point = self.point(k)
        self.factor(point, self.coefficients(point, 0.0))
        return self.lu.solve(np.where(point.differential, point.F, -point.Ft))

    def guard(self, guard: int, k: int) -> tuple[np.ndarray, float, np.ndarray]:
        """Gradient of a guard at point `k`: in X (n,), in time, in the carried parameters."""
        guards, n = self._guards, self.system.n
        mine = guards.indices == guard
        row = np.zeros(guards.shape[1])
        row[guards.columns[mine]] = guards.values(self.buffer(k))[mine]
        return row[:n], float(row[n]), row[n + 1:]

    @cached_property
    def _guards(self) -> SparseMap:
        system = self.system
        return system.guard_map(np.concatenate([np.arange(system.n), [system.layout.t], self.carried]))


class StepOperator:
    """One theta step: ``A dX+ = B dX + C dP + end dT+ - start dT``.

    With ``m`` the differential rows and ``c = h theta`` there, -1 elsewhere:
    ``A = m - c J+``, ``B = m + h (1 - theta) m J``, ``C = h (1 - theta) m Fp + c Fp+``.
    """

    def __init__(self, replay: Replay, record: Step):
        self.replay, self.record = replay, record
        self.p0, self.p1 = replay.point(record.k), replay.point(record.k + 1)
        assert replay.theta is not None
        self.theta = replay.theta
        self.of = replay.coefficients(self.p1, record.h)
        replay.factor(self.p1, self.of)

    @cached_property
    def _phi(self) -> np.ndarray:
        return self.of.m * ((1 - self.theta) * self.p0.F + self.theta * self.p1.F)

    @cached_property
    def start(self) -> np.ndarray:
        """Less the slope of the step's equations in the time of its start, (n,)."""
        return self._phi - self.of.early * self.p0.Ft

    @cached_property
    def end(self) -> np.ndarray:
        """Their slope in the time of its end, (n,)."""
        return self._phi + self.of.c * self.p1.Ft

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        """Tangent dX+ from those of the state, the parameters and the two clocks."""
        return self.replay.lu.solve(self.right(dX, dP, dT0, dT1))

    def right(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        """What ``A dX+`` is equal to."""
        B, C, of, p0, p1 = self.replay.B, self.replay.C, self.of, self.p0, self.p1
        right = B.product(B.shifted(of.m, of.early, p0.J), dX)
        C.product(C.summed(of.early, p0.Fp, of.c, p1.Fp), dP, right)
        if dT0.any():
            right -= np.outer(dT0, self.start)
        if dT1.any():
            right += np.outer(dT1, self.end)
        return right

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Adjoints of dX, dT and dT+ from that of dX+; that of dP is added to `aP`."""
        replay, record = self.replay, self.record
        w = replay.lu.tsolve(np.array(adjoint, order="C"))
        aX = step_transposed(replay.B, replay.C, replay.C_start, self.of, self.p0, self.p1, w, aP)
        still = np.zeros(len(w))
        return aX, -w @ self.start if record.start else still, w @ self.end if record.end else still

    @cached_property
    def _crossing(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """gamma_X, gamma_p, ``v = A^-1 end`` and the transversality ``gamma_t + gamma_X v``."""
        record, replay = self.record, self.replay
        in_x, in_t, in_p = replay.guard(record.guard, record.k + 1)
        v = replay.lu.solve(self.end.copy())
        across = in_t + in_x @ v
        replay.refuse_grazing(record, across, abs(in_t) + np.abs(in_x) @ np.abs(v))
        return in_x, in_p, v, across

    def located_forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tangents dX+ and dT+ of a step that ends where its guard is zero."""
        in_x, in_p, v, across = self._crossing
        u = self.forward(dX, dP, dT0, np.zeros_like(dT0))
        dT1 = -(u @ in_x + dP @ in_p) / across
        return u + np.outer(dT1, v), dT1

    def located_transpose(self, adjoint: np.ndarray, aP: np.ndarray, clock: np.ndarray
                          ) -> tuple[np.ndarray, np.ndarray]:
        """Adjoints of dX and dT from those of dX+ and of dT+ (`clock`); that of dP is added to `aP`."""
        in_x, in_p, v, across = self._crossing
        s = (clock + adjoint @ v) / across
        aP -= np.outer(s, in_p)
        aX, aT0, _ = self.transpose(adjoint - np.outer(s, in_x), aP)
        return aX, aT0


class ResolveOperator:
    """Algebraic variables solved again with the differential ones held: ``A dX+ = m dX + c (Fp dP + Ft dT)``."""

    def __init__(self, replay: Replay, point: Point):
        self.replay, self.point = replay, point
        self.of = replay.coefficients(point, 0.0)
        replay.factor(point, self.of)

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT: np.ndarray) -> np.ndarray:
        """The tangent dX+."""
        right = self.of.m * dX + self.of.c * self.replay.C.product(self.point.Fp, dP)
        if dT.any():
            right += np.outer(dT, self.of.c * self.point.Ft)
        return self.replay.lu.solve(right)

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Adjoints of dX and dT from that of dX+; that of dP is added to `aP`."""
        w = self.replay.lu.tsolve(np.array(adjoint, order="C"))
        self.replay.C.transposed(self.point.Fp, self.of.c * w, aP)
        return self.of.m * w, w @ (self.of.c * self.point.Ft)


class SwitchOperator:
    """The changes of a switch, one trigger after the other, each from the values just before it."""

    def __init__(self, replay: Replay, record: Switch):
        self.replay = replay
        system, Z = replay.system, replay.buffer(record.k)
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for trigger in triggers(system, record):
            change = system.switching.change(trigger)
            gather, targets = change.gather[trigger.member], change.targets[trigger.member]
            jacobian = change.gradient(Z[gather])
            Z[targets] = change.value(Z[gather])
            self.parts.append((jacobian, gather, targets))

    def _columns(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions of entries of Z in a row ``[dX, dP, dT]``, and which of them are there."""
        replay, n = self.replay, self.replay.system.n
        columns = np.where(at < n, at, n + replay.column_of[at])
        columns = np.where(at == replay.system.layout.t, n + len(replay.carried), columns)
        return columns, (at < n) | (replay.column_of[at] >= 0) | (at == replay.system.layout.t)

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tangents dX and dP after the switch."""
        row = np.concatenate([dX, dP, dT[:, None]], axis=1)
        for jacobian, gather, targets in self.parts:
            (g, g_in), (t, t_in) = self._columns(gather), self._columns(targets)
            row[:, t[t_in]] = row[:, g[g_in]] @ jacobian[np.ix_(t_in, g_in)].T
        n = self.replay.system.n
        return row[:, :n].copy(), row[:, n:-1].copy()

    def transpose(self, aX: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Adjoints of dX, dP and dT before the switch."""
        row = np.concatenate([aX, aP, np.zeros((len(aX), 1))], axis=1)
        for jacobian, gather, targets in reversed(self.parts):
            (g, g_in), (t, t_in) = self._columns(gather), self._columns(targets)
            taken = row[:, t[t_in]].copy()
            row[:, t[t_in]] = 0.0
            np.add.at(row.T, g[g_in], (taken @ jacobian[np.ix_(t_in, g_in)]).T)
        n = self.replay.system.n
        return row[:, :n].copy(), row[:, n:-1].copy(), row[:, -1]


def triggers(system: System, record: Switch) -> list[Trigger]:
    """The guards and timers that a switch acted for, in order."""
    switching = system.switching
    return [(switching.timers if kind == "timer" else switching.guards)[number] for kind, number in record.triggers]


def carried_parameters(system: System, tape: Tape, *wanted: Sequence[int] | np.ndarray) -> np.ndarray:
    """Positions of all parameters that a sweep must carry to have the derivatives in those `wanted`:
    themselves, event times and delays, and what switches change.
    """
    n, end = system.n, system.n + system.layout.n_p
    positions = {clock.of for clock in tape.clocks if clock.kind in ("timer", "delay")}
    for record in tape.records:
        if isinstance(record, Switch):
            for trigger in triggers(system, record):
                targets = system.switching.change(trigger).targets[trigger.member]
                positions |= {int(at) for at in targets if n <= at < end}
    mask = np.zeros(system.layout.size, dtype=bool)
    for part in ([*positions], *wanted):
        mask[np.asarray(part, dtype=int)] = True
    return np.flatnonzero(mask)
