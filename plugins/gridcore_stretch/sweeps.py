"""The loops of ``sweeps.c``, for a sweep of tangents or adjoints over the points of a tape."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gridcore.equations import Workspace
from gridcore.equations.native import Library
from gridcore.integrate import Linearised
from gridcore.linear import SingularMatrix
from gridcore.tape import GRID, Steps

if TYPE_CHECKING:
    from gridcore.sensitivity import ReverseSweep

SOURCE = Path(__file__).with_name("sweeps.c")
MANY = 16  # rows from which on solves for all of them at once are faster than these loops
_TOGETHER = 1 << 19  # numbers of tangents that are made at once, at most


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class _Struct(ctypes.Structure):
    """As ``sweeps.c`` has it."""

    _fields_ = [*_fields(ctypes.c_long, "n entries entries_p rows"),
                *_fields(ctypes.c_void_p, "linearise shifted sum times times_transposed plan table"),
                *_fields(ctypes.c_long, "batches"),
                *_fields(ctypes.c_void_p, "A B C of_A of_B of_C Z t rhs F refactor solve tsolve growth pivots factors"),
                *_fields(ctypes.c_double, "singular least seen"), *_fields(ctypes.c_long, "unseen"),
                *_fields(ctypes.c_void_p, "m c minus_c early here there w cw X P"),
                *_fields(ctypes.c_long, "points"), *_fields(ctypes.c_void_p, "behind moves T"),
                *_fields(ctypes.c_long, "sources n_x n_p"), *_fields(ctypes.c_void_p, "from_x to_x from_p to_p")]


# States and times of stages, one a step: (steps, n) and (steps,), between these times and states, (steps + 1,) and
# (steps + 1, n), in a workspace that stands at the first or last of them; fewer, where one is not found.
Stages = Callable[[Workspace, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Sums(NamedTuple):
    """Steps that are sums of points and slopes: ``x1 = sum(beta_j x_-j) + early f0 + implicit f1, 0 = g1``.

    Attributes
    ----------
    implicit, early : (steps,) arrays
    beta : (steps, points) array
        Of the points at which a step and those before it began: of its own first; no other, where `early` is not zero.
    stages : callable, optional
        Of a method with a stage between the ends of a step, which is two of these then: to the stage and from there.
    plain : (steps,) array of bool, optional
        Which of the steps are such sums; all by default.
    moves : (steps, points + 1) array, optional
        Derivatives of `beta` and `implicit` in the distance of a point, from the end of a step to where one began that
        moves, with the time of a `clock`.
    clock : int
        Its number.
    """

    implicit: np.ndarray
    early: np.ndarray
    beta: np.ndarray
    stages: Stages | None = None
    plain: np.ndarray | None = None
    moves: np.ndarray | None = None
    clock: int = GRID

    def part(self, some: slice) -> Sums:
        """Some of them."""
        moves = None if self.moves is None else self.moves[some]
        return self._replace(implicit=self.implicit[some], early=self.early[some], beta=self.beta[some], plain=None,
                             moves=None if moves is None or not moves.any() else moves)

    def first(self) -> Sums:
        """The plain ones at the start."""
        return self if self.plain is None else self.part(slice(int(np.argmin(np.append(self.plain, False)))))

    def last(self) -> Sums:
        """The plain ones at the end."""
        return self if self.plain is None else self.part(
            slice(len(self.plain) - int(np.argmin(np.append(self.plain[::-1], False))), None))


class Sweeps:
    """Steps at once in which nothing happens, between points of the grid, of methods whose steps are sums.

    Parameters
    ----------
    sweep : ReverseSweep or ForwardSweep
        That they serve, in whose `kept` they are.
    """

    def __init__(self, sweep: Any):
        points, rows = sweep.replay, len(sweep.X)
        ws, batches, runtime = points.ws, points.parameter_map.batches, points.ws.runtime
        compiled = runtime.functions(SOURCE, "sweeps", size=" l", transpose="plppppppp l", forward="plpppppp l")
        self.possible = bool(compiled) and batches.runtime.place is runtime.place and rows < MANY
        if not self.possible:
            return
        self._transpose, self._forward = compiled["transpose"], compiled["forward"]
        if (size := compiled["size"]()) != ctypes.sizeof(_Struct):
            raise RuntimeError(f"sweeps.c and sweeps.py differ: the struct has {size} bytes in C and "
                               f"{ctypes.sizeof(_Struct)} in Python")
        self._s, entries = _Struct(points.n, points.nnz, len(points.parameter_map.indices), rows), points.nnz
        self._factors, self._of_step = points.system.system.factors(), np.zeros((4, points.n))
        self._ends, self._w = np.zeros((2, entries + self._s.entries_p + 2)), np.zeros((2, rows, points.n))
        self._set(plan=ws.plan, table=batches.table, batches=len(batches.batches), A=points.A.handle, B=points.B.handle,
                  C=points.C.handle, of_A=points.A.values, of_B=points.B.values, of_C=points.C.values, Z=ws.Z,
                  t=ws.Z[-1:], F=ws.F, w=self._w[0], cw=self._w[1],
                  **dict(zip(("m", "c", "minus_c", "early"), self._of_step, strict=True)),
                  **{name: ctypes.cast(getattr(runtime, name), ctypes.c_void_p) for name in (
                      "linearise", "shifted", "sum", "times", "times_transposed", "rhs")})
        self._places: dict[str, np.ndarray] = {}

    @classmethod
    def of(cls, sweep: Any) -> Sweeps:
        """Those of a sweep."""
        if cls not in sweep.kept:
            sweep.kept[cls] = cls(sweep)
        found: Sweeps = sweep.kept[cls]
        return found

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self._s, name, Library.place(value) if isinstance(value, np.ndarray) else value)

    def transpose(self, sweep: ReverseSweep, steps: Steps, sums: Sums) -> int | None:
        """As :meth:`gridcore.integrate.Stepper.transpose`: of the last steps, as many as there are sums of."""
        if not self.possible:
            return None
        points, each, many, end = sweep.replay, 1 + bool(sums.stages), sums.beta.shape[1], int(steps.k[-1]) + 1
        if not len(sums.implicit) or min(sweep.behind, default=end + 1) <= (end - many if each == 1 else end):
            return 0
        if (last := self._begin(points, end, end, float(sums.implicit[-1]))) is None:
            return 0
        (of_X, X), (of_D, D) = points.tape.states.around(end - 1), sweep.weights.points.around(end - 1)
        first = max(end - len(sums.implicit) // each, of_X, of_D)
        sums = sums.part(slice(-each * (end - first), None))
        t, X = self._path(points, first, np.concatenate([X[first - of_X: end - of_X], last[None]]), sums)
        if len(t) <= len(sums.implicit):
            return 0
        before = sweep.X, sweep.P
        sweep.X, sweep.P = np.array(sweep.X, order="C"), np.array(sweep.P, order="C")
        behind = np.zeros((many, *sweep.X.shape))
        for k in range(max(end - many, 0), end):
            behind[(k - first) % many] = sweep.behind.pop(k, 0.0)
        if not self._places:
            (from_x, (x, at)), (from_p, (p, of)) = sweep.in_x, sweep.in_p
            self._places = {name: np.ascontiguousarray(each, dtype="l") for name, each in (
                ("from_x", from_x), ("to_x", x * points.n + at), ("from_p", from_p), ("to_p", p * points.width + of))}
            self._set(n_x=len(from_x), n_p=len(from_p), **self._places)
        T = np.zeros(len(sweep.X))
        self._set(X=sweep.X, P=sweep.P, sources=D.shape[1], points=many, behind=behind, moves=sums.moves, T=T)
        self._s.here, self._s.there = self._s.there, self._s.here
        nonzero = np.zeros(len(sums.implicit), dtype=bool)
        nonzero[::each] = sweep.weights.nonzero[first: end]
        made = self._made(self._transpose, *sums[:3], t[:-1], self._led(points, first, X[:-1], sums),
                          D[first - of_D: end - of_D].repeat(each, axis=0), nonzero)
        sweep.T[sums.clock] += T * sweep.rule.moving
        if made % each:  # it ended at a stage
            sweep.X, sweep.P = before
            return self.transpose(sweep, steps, sums.part(slice(len(nonzero) - made + made % each, None)))
        for k in range(max(end - made + 1 - many, 0), end - made if each == 1 else 0):
            if behind[(k - first) % many].any():
                sweep.behind[k] = behind[(k - first) % many]
        return made // each

    def forward(self, sweep: Any, steps: Steps, sums: Sums) -> np.ndarray | None:
        """As :meth:`gridcore.integrate.Stepper.forward`: of the first steps, as many as there are sums of."""
        if not self.possible:
            return None
        points, each, many, first = sweep.replay, 1 + bool(sums.stages), sums.beta.shape[1], int(steps.k[0])
        if not len(sums.implicit):
            return np.zeros(0)
        if (start := self._begin(points, first, first + 1, float(sums.implicit[0]))) is None:
            return np.zeros(0)
        of_X, X = points.tape.states.around(first + 1)
        count = min(len(sums.implicit) // each, of_X + len(X) - 1 - first, max(1, _TOGETHER // max(sweep.X.size, 1)))
        sums = sums.part(slice(each * count))
        t, X = self._path(points, first, np.concatenate([start[None], X[first + 1 - of_X:][:count]]), sums)
        if len(t) <= len(sums.implicit):
            return np.zeros(0)
        out = np.zeros((many + len(sums.implicit), *sweep.X.shape))
        out[many - 1], P, tangents = sweep.X, np.ascontiguousarray(sweep.P), out[many:]
        for j in range(1, many):
            out[many - 1 - j] = sweep.behind.get(first - j, 0.0)
        T = np.ascontiguousarray(sweep.T[sums.clock] * sweep.rule.moving)
        self._set(P=P, points=many, moves=sums.moves, T=T)
        made = self._made(self._forward, *sums[:3], t[1:], self._led(points, first + 1, X[1:], sums), tangents)
        return tangents[each - 1: made: each]

    def _path(self, points: Linearised, first: int, X: np.ndarray, sums: Sums) -> tuple[np.ndarray, np.ndarray]:
        """Times and states from point `first` on, with stages between them; fewer, where one of these is not found."""
        t = points.tape.t[first: first + len(X)]
        if sums.stages is None:
            return t, X
        between, at = sums.stages(points.ws, t, X)
        if len(between) < len(X) - 1:
            return t[:0], X[:0]
        return np.insert(t, np.arange(1, len(t)), at), np.insert(X, np.arange(1, len(X)), between, axis=0)

    @staticmethod
    def _led(points: Linearised, first: int, X: np.ndarray, sums: Sums) -> np.ndarray:
        """States from point `first` on; behind those at which the steps of a sum began, where one of these moves."""
        if sums.moves is None:
            return X
        many = sums.beta.shape[1]
        return np.concatenate([[points.state(max(k, 0)) for k in range(first - many, first)], X])

    def _begin(self, points: Linearised, known: int, end: int, implicit: float) -> np.ndarray | None:
        """Linearise a point `here`, and leave the workspace there; returns its state. None where there are no pivots:
        those found last, or else for a step to this `end`.
        """
        state, here, point = points.state(known), points.point(known), points.point(end)  # in the order of segments
        if self._factors.numeric is None:
            try:
                self._factors.factor(points.matrix(point, points.coefficients(point, implicit)))
            except SingularMatrix:  # who makes one step says so
                return None
            if (compiled := self._factors.compiled()) is None:
                self.possible = False
                return None
            self._set(refactor=compiled.refactor, solve=compiled.solve, tsolve=compiled.tsolve, growth=compiled.growth,
                      pivots=compiled.pivots, factors=compiled.values, singular=compiled.singular, least=compiled.least,
                      seen=0.0)
        self._of_step[0], self._ends[0] = point.differential, here.values
        self._set(here=self._ends[0], there=self._ends[1])
        points.load(state, here.t, here.settings)
        return state

    def _made(self, loop: Any, *arrays: np.ndarray) -> int:
        """Over how many steps a loop comes, of which it takes these arrays; pivots that are not good are given up."""
        arrays = tuple(np.ascontiguousarray(each) for each in arrays)
        made = int(loop(ctypes.addressof(self._s), len(arrays[0]), *map(Library.place, arrays)))
        if made < len(arrays[0]):
            self._factors.forget()
        return made
