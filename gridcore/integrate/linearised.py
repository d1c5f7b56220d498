"""The points of a tape, linearised, for the operators of its records.

The matrices are those at the converged points, factored there: a stale factor never stands in for one of theirs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .. import numerics
from ..equations import Workspace
from ..equilibrium import Equilibrium
from ..errors import ConvergenceError
from ..kept import KeptFor
from ..linear import Coefficients, Factors, Pattern, SingularMatrix
from ..tape import Tape

# How many coefficients are kept: times are sums, so steps of one grid have a few lengths that differ in the last digit.
_LENGTHS = 12

_patterns: KeptFor[tuple[Pattern, ...]] = KeptFor("patterns_of_a_step")


class Point:
    """The system linearised at one state.

    Attributes
    ----------
    t : float
    settings : int
        Number of the parameters and modes.
    differential : (n,) bool array
        The rows that are differential there.
    values : array
        The entries J and Fp of F_X and F_p, each with one more.
    """

    def __init__(self, points: Linearised, X: np.ndarray, t: float, settings: int):
        self.points, self._X, self.t, self.settings = weakref.proxy(points), X, t, settings
        self.differential = points.differential(settings)
        points.load(X, t, settings)
        self.values = points.linearise()

    @property
    def J(self) -> np.ndarray:
        """Entries of F_X, in the pattern of the matrix A."""
        return self.values[: self.points.nnz]

    @property
    def Fp(self) -> np.ndarray:
        """Entries of F_p, in the pattern of the matrix C."""
        return self.values[self.points.nnz + 1: -1]

    def _load(self) -> Workspace:
        return self.points.load(self._X, self.t, self.settings)

    @cached_property
    def F(self) -> np.ndarray:
        """F, (n,)."""
        return self._load().rhs().copy()

    @cached_property
    def Ft(self) -> np.ndarray:
        """Partial derivative of F in time, (n,)."""
        slope = self._load().time_slope()
        return np.zeros(self.points.n) if slope is None else slope


class Linearised:
    """The points of a tape, with the matrices of operations between them.

    Parameters
    ----------
    system : Equilibrium
    tape : Tape
    carried : sequence of int
        Positions in Z of the parameters whose derivatives are carried along.

    Attributes
    ----------
    n, width : int
        Numbers of variables and of carried parameters.
    ws : Workspace
        Of these points alone.
    A, B, C : Matrix
        Patterns of F_X, of its rows that can be differential, and of F_p.
    allow_grazing : bool
        Warn of a grazing event, whose derivatives are huge or infinite, in place of an error.
    """

    allow_grazing = False

    def __init__(self, system: Equilibrium, tape: Tape, carried: Sequence[int] | np.ndarray):
        self.system, self.tape, self.n = system, tape, system.n
        self.carried = np.asarray(carried, dtype=int)
        self.width = len(self.carried)
        self.column_of = system.system.columns(self.carried)
        self.ws = ws = system.system.workspace()
        self.nnz = len(ws.indices)
        self.parameter_map = of_p = system.system.parameter_jacobian(self.carried)
        self.linearise = ws.lineariser(of_p.batches, len(of_p.indices))
        rows, structure = system.base_differential.tobytes(), system.system
        self.A, self.B = (pattern.matrix() for pattern in _patterns.get(structure, ("X", rows), self._of_both_ends))
        self.C = _patterns.get(structure, ("P", self.carried.tobytes()), lambda: (
            Pattern(of_p.shape, of_p.indptr, of_p.indices, ws.runtime),))[0].matrix()
        self._settings: list[int] = tape.point_settings().tolist()
        self._masks: dict[int, np.ndarray] = {}
        self._distinct: dict[bytes, np.ndarray] = {}
        self._loaded = -1
        self._points: dict[int, Point] = {}
        self._coefficients: dict[tuple[float, float, int], Coefficients] = {}
        self._spare: list[Factors] = []

    def _of_both_ends(self) -> tuple[Pattern, ...]:
        """The pattern of F_X, and what of it the start of a step has: its entries in rows that can be differential."""
        ws, rows, shape = self.ws, self.system.base_differential, (self.n, self.n)
        kept = np.flatnonzero(rows[ws.indices]).astype(np.int32)
        starts, diagonal = np.searchsorted(kept, ws.indptr), np.searchsorted(kept, ws.diagonal[rows])
        return (Pattern(shape, ws.indptr, ws.indices, ws.runtime, None, ws.diagonal), Pattern(
            shape, starts.astype(np.int32), ws.indices[kept], ws.runtime, kept, diagonal.astype(np.int32)))

    def point(self, k: int) -> Point:
        """Point `k` of the tape, linearised; the last few are kept."""
        point = self._points.get(k)
        if point is None:
            if len(self._points) > 2:
                del self._points[next(iter(self._points))]
            point = self._points[k] = self.linearised(self.tape.states.row(k), self.tape.times[k], k)
        return point

    def state(self, k: int) -> np.ndarray:
        """The variables at point `k`, (n,)."""
        return self.tape.states.row(k).copy()

    def inner(self, X: np.ndarray, t: float, k: int) -> Point:
        """A state within the step from point `k`, (n,), linearised."""
        return self.linearised(X.copy(), t, k)

    def linearised(self, X: np.ndarray, t: float, k: int) -> Point:
        """A state under the settings of point `k`, (n,), linearised; it is kept, and must not change."""
        return Point(self, X, t, self._settings[k])

    def buffer(self, k: int) -> np.ndarray:
        """Z at point `k`: variables, parameters, modes and time."""
        tape = self.tape
        return np.r_[tape.states.row(k), tape.settings[self._settings[k]], tape.t[k]]

    def differential(self, settings: int) -> np.ndarray:
        """(n,) bool: the rows that are differential under some settings."""
        if settings not in self._masks:
            mask = self.system.differential(np.r_[np.zeros(self.n), self.tape.settings[settings], 0.0])
            self._masks[settings] = self._distinct.setdefault(mask.tobytes(), mask)  # so that coefficients are shared
        return self._masks[settings]

    def load(self, X: np.ndarray, t: float, settings: int) -> Workspace:
        """Put a state into the workspace; parameters, modes and what depends on them only where they are others."""
        ws, n = self.ws, self.n
        if self._loaded != settings:
            ws.Z[n:-1] = self.tape.settings[settings]
            ws.refresh()
            ws.differential[:] = self.differential(settings)
            self._loaded = settings
        ws.X[:], ws.Z[-1] = X, t
        return ws

    def at(self, k: int) -> Workspace:
        """Put point `k` into the workspace."""
        return self.load(self.tape.states.row(k), float(self.tape.t[k]), self._settings[k])

    def coefficients(self, point: Point, implicit: float, early: float = 0.0) -> Coefficients:
        """``m`` of a point's rows, ``c = implicit`` where they are differential, else -1, ``early m``; kept."""
        key = (implicit, early, id(point.differential))
        if key not in self._coefficients:
            while len(self._coefficients) >= _LENGTHS:
                self._coefficients.pop(next(iter(self._coefficients)))
            self._coefficients[key] = Coefficients(point.differential, implicit, early)
        return self._coefficients[key]

    def forward(self, of: Coefficients, start: Point, end: Point, dX: np.ndarray, dP: np.ndarray) -> np.ndarray:
        """``(diag(m) + diag(early) J) dX + (diag(early) Fp + diag(c) Fp+) dP`` of (K, n) and (K, width) rows."""
        right = self.B.product(self.B.shifted(of.m, of.early, start.J), dX)
        return self.C.product(self.C.summed(of.early, start.Fp, of.c, end.Fp), dP, right)

    def transpose(self, of: Coefficients, start: Point, end: Point, w: np.ndarray, aP: np.ndarray) -> np.ndarray:
        """The transpose of :meth:`forward` for (K, n) rows: what belongs to dX; that of dP is added to `aP`."""
        self.C.transposed(self.C.summed(of.early, start.Fp, of.c, end.Fp), w, aP)
        return self.B.transposed(self.B.shifted(of.m, of.early, start.J), w)

    def matrix(self, point: Point, of: Coefficients) -> np.ndarray:
        """Entries of ``A = diag(m) - diag(c) J`` at a point, until the next call; a copy if not all are finite."""
        A, place = self.A, self.ws.runtime.place
        finite = A.runtime.shifted(A.handle, place(of.m), place(of.minus_c), place(point.J))
        return A.values if finite else A.values.copy()

    def factors(self, point: Point, of: Coefficients) -> Factors:
        """Factors of A at a point, for one owner: who has done with them gives them back."""
        if not self._spare:
            self.A.values[:], made = 0.0, self.system.system.factors()  # a sweep in C may leave what is not finite
            made.trust(self.A.values)
            self._spare.append(made)
        return self.refactor(self._spare.pop(), point, of)

    def refactor(self, factors: Factors, point: Point, of: Coefficients) -> Factors:
        """Make these the factors of A at a point."""
        (settings, implicit), factors.made_for = factors.made_for, (point.settings, of.implicit)
        alike = settings == point.settings and abs(implicit - of.implicit) <= numerics.SAME_LENGTH * of.implicit
        try:
            factors.refactor(self.matrix(point, of), alike)
        except SingularMatrix as error:
            raise ConvergenceError("the linearised equations are singular", t=point.t,
                                   place=self.system.layout.label(error.column)) from None
        return factors

    def give_back(self, factors: Factors) -> None:
        """Nobody uses these factors any more."""
        self._spare.append(factors)

    def slope(self, k: int) -> np.ndarray:
        """The slope dX/dt at point `k`, (n,): rates, and the algebraic variables that follow them."""
        point = self.point(k)
        factors = self.factors(point, self.coefficients(point, 0.0))
        slope = factors.solve(np.where(point.differential, point.F, -point.Ft))
        self.give_back(factors)
        return slope

    def guard(self, guard: int, k: int) -> tuple[np.ndarray, float, np.ndarray]:
        """Gradient of a guard at point `k`: in X (n,), in time, in the carried parameters."""
        n, row = self.n, np.zeros(self.n + 1 + self.width)
        np.add.at(row, *self._guards(guard)(self.buffer(k)))
        return row[:n], float(row[n]), row[n + 1:]

    @cached_property
    def _guards(self) -> Callable[[int], Any]:
        return self.system.system.guard_gradients(np.r_[: self.n, self.system.layout.t, self.carried])
