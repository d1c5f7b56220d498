"""The loops of ``sweeps.c``, for a sweep of tangents or adjoints over the points of a tape."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.equations.native import Library
from gridcore.integrate import Linearised
from gridcore.linear import SingularMatrix
from gridcore.tape import Steps

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
                *_fields(ctypes.c_void_p, "A B C of_A of_B of_C Z t refactor solve tsolve growth pivots factors"),
                *_fields(ctypes.c_double, "singular least seen"), *_fields(ctypes.c_long, "unseen"),
                *_fields(ctypes.c_void_p, "m c minus_c early here there w cw X P"),
                *_fields(ctypes.c_long, "points"), *_fields(ctypes.c_void_p, "behind"),
                *_fields(ctypes.c_long, "sources n_x n_p"), *_fields(ctypes.c_void_p, "from_x to_x from_p to_p")]


class Sweeps:
    """Steps at once in which nothing happens, between points of the grid, of methods whose steps are

        x1 = sum(beta_j x_-j) + early f0 + implicit f1,        0 = g1

    with points at which a step and those before it began: that of the step is the first, and the only one where `early`
    is not zero.

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
                  t=ws.Z[-1:], w=self._w[0], cw=self._w[1],
                  **dict(zip(("m", "c", "minus_c", "early"), self._of_step, strict=True)),
                  **{name: ctypes.cast(getattr(runtime, name), ctypes.c_void_p) for name in (
                      "linearise", "shifted", "sum", "times", "times_transposed")})
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

    def transpose(self, sweep: ReverseSweep, steps: Steps, implicit: np.ndarray, early: np.ndarray,
                  beta: np.ndarray | None = None) -> int | None:
        """As :meth:`gridcore.integrate.Stepper.transpose`, of steps with these coefficients, (steps,) each, and `beta`,
        (steps, points), which is 1 by default.
        """
        beta = np.ones((len(implicit), 1)) if beta is None else beta
        last, many = int(steps.k[-1]), beta.shape[1]
        if not self.possible:
            return None
        if not len(implicit) or min(sweep.behind, default=last + 1) <= last + 1 - many:
            return 0
        points = sweep.replay
        (of_X, X), (of_D, D) = points.tape.states.around(last), sweep.weights.points.around(last)
        first, end = max(last + 1 - len(implicit), of_X, of_D), last + 1
        if not self._begin(points, end, end, float(implicit[-1])):
            return 0
        sweep.X, sweep.P = np.array(sweep.X, order="C"), np.ascontiguousarray(sweep.P)
        behind = np.zeros((many, *sweep.X.shape))
        for k in range(max(end - many, 0), end):
            behind[(k - first) % many] = sweep.behind.pop(k, 0.0)
        if not self._places:
            (from_x, (x, at)), (from_p, (p, of)) = sweep.in_x, sweep.in_p
            self._places = {name: np.ascontiguousarray(each, dtype="l") for name, each in (
                ("from_x", from_x), ("to_x", x * points.n + at), ("from_p", from_p), ("to_p", p * points.width + of))}
            self._set(n_x=len(from_x), n_p=len(from_p), **self._places)
        self._set(X=sweep.X, P=sweep.P, sources=D.shape[1], points=many, behind=behind)
        self._s.here, self._s.there = self._s.there, self._s.here
        some = slice(first - end, None)
        made = self._made(self._transpose, implicit[some], early[some], beta[some], points.tape.t[first: end],
                          X[first - of_X: end - of_X], D[first - of_D: end - of_D], sweep.weights.nonzero[first: end])
        for k in range(max(end - made + 1 - many, 0), end - made):
            if behind[(k - first) % many].any():
                sweep.behind[k] = behind[(k - first) % many]
        return made

    def forward(self, sweep: Any, steps: Steps, implicit: np.ndarray, early: np.ndarray,
                beta: np.ndarray | None = None) -> np.ndarray | None:
        """As :meth:`gridcore.integrate.Stepper.forward`, and as :meth:`transpose`."""
        points, beta = sweep.replay, np.ones((len(implicit), 1)) if beta is None else beta
        if not self.possible:
            return None
        if not len(implicit):
            return np.zeros(0)
        first, many = int(steps.k[0]), beta.shape[1]
        of_X, X = points.tape.states.around(first + 1)
        count = min(len(implicit), of_X + len(X) - 1 - first, max(1, _TOGETHER // max(sweep.X.size, 1)))
        if not self._begin(points, first, first + 1, float(implicit[0])):
            return np.zeros(0)
        out = np.zeros((many + count, *sweep.X.shape))
        out[many - 1] = sweep.X
        for j in range(1, many):
            out[many - 1 - j] = sweep.behind.get(first - j, 0.0)
        P, tangents = np.ascontiguousarray(sweep.P), out[many:]
        self._set(P=P, points=many)
        some, ends = slice(count), slice(first + 1, first + 1 + count)
        return tangents[: self._made(self._forward, implicit[some], early[some], beta[some], points.tape.t[ends],
                                     X[first + 1 - of_X:][some], tangents)]

    def _begin(self, points: Linearised, known: int, end: int, implicit: float) -> bool:
        """Linearise a point `here`; whether there are pivots, those found last, or else for a step to this `end`."""
        point = points.point(end)
        if self._factors.numeric is None:
            try:
                self._factors.factor(points.matrix(point, points.coefficients(point, implicit)))
            except SingularMatrix:  # who makes one step says so
                return False
            if (compiled := self._factors.compiled()) is None:
                self.possible = False
                return False
            self._set(refactor=compiled.refactor, solve=compiled.solve, tsolve=compiled.tsolve, growth=compiled.growth,
                      pivots=compiled.pivots, factors=compiled.values, singular=compiled.singular, least=compiled.least,
                      seen=0.0)
        self._of_step[0], self._ends[0] = point.differential, points.point(known).values
        self._set(here=self._ends[0], there=self._ends[1])
        points.at(known)
        return True

    def _made(self, loop: Any, *arrays: np.ndarray) -> int:
        """Over how many steps a loop comes, of which it takes these arrays; pivots that are not good are given up."""
        arrays = tuple(np.ascontiguousarray(each) for each in arrays)
        made = int(loop(ctypes.addressof(self._s), len(arrays[0]), *map(Library.place, arrays)))
        if made < len(arrays[0]):
            self._factors.forget()
        return made
