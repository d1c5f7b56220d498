"""LU by rows with the pivots that KLU has found: for large matrices that are factored and solved with again and again.

What KLU's loops cost there is hardly their arithmetic, but that most are short: a processor guesses wrongly where they
end. Those of ``by_rows.c`` take rows and pivots of one shape together, and rows of U with nested patterns.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from nbklu import _ext as _klu

from gridcore.equations.native import Library, runtime

SOURCE = Path(__file__).with_name("by_rows.c")


def _struct(name: str, longs: str, *fields: tuple[str, Any]) -> Any:
    return type(name, (ctypes.Structure,), {"_fields_": [*((each, ctypes.c_long) for each in longs.split()), *fields]})


def _places(names: str) -> list[tuple[str, Any]]:
    return [(name, ctypes.c_void_p) for name in names.split()]


Triangle = _struct("Triangle", "groups", *_places("length count row begin size column"))
Early = _struct("Early", "groups late numbers", *_places("length below count row ahead at"))
Pivots = _struct("Pivots", "n", *_places("P Q row ptr column place to nested"), ("lower", Triangle),
                 ("upper", Triangle), ("early", Early), *_places("w x"))
Values = _struct("Values", "", *_places("lower upper inverse scale"))


def loops() -> dict[str, Any]:
    """The functions of ``by_rows.c``; empty where there is no compiler."""
    return runtime().functions(SOURCE, "rows", arrange="pppppppp d", places="pp", refactor="ppp d", growth="ppp d",
                               solve="pplp", tsolve="pplp")


class _Arranged:
    """Pivots of KLU's present factors, and all that follows from them and from the pattern of the matrix."""

    def __init__(self, loops: dict[str, Any], numeric: Any, symbolic: Any, common: Any, indptr: np.ndarray,
                 indices: np.ndarray):
        n, place, taken = numeric.n, Library.place, []
        for count in (numeric.lnz, numeric.unz, 1):
            taken += [np.zeros(n + 1, np.int32), np.zeros(count, np.int32), np.zeros(count)]
        P, Q = np.zeros((2, n), np.int32)
        _klu.extract(numeric, symbolic, *taken, P, Q, np.zeros(n), np.zeros(n + 1, np.int32), common)
        self.n, self.entries = n, (numeric.lnz - n, numeric.unz - n)
        numbers = [P, Q, *np.zeros((2, max(n, 1)))]
        self._arrays = numbers.copy()
        triangles = [Triangle(0, *self._room(n, n, n, n, n, entries)) for entries in self.entries]
        matrix = self._room(n, n + 1, *3 * [len(indices)], n)
        early = Early(0, 0, 0, *self._room(n, n, n, n, n))
        pivots, work = map(place, numbers[:2]), map(place, numbers[2:])
        self._pivots = Pivots(n, *pivots, *matrix, *triangles, early, *work)
        self.place = ctypes.addressof(self._pivots)
        read = [*taken[:2], *taken[3:5], indptr, indices, shared := np.zeros(6 * n + 1, np.int32)]
        self.operations = loops["arrange"](self.place, *map(place, read))
        self._pivots.early.at, = self._room(self._pivots.early.numbers)
        loops["places"](self.place, place(shared))

    def _room(self, *sizes: int) -> list[int]:
        arrays = [np.zeros(max(size, 1), np.int32) for size in sizes]
        self._arrays += arrays
        return [Library.place(array) for array in arrays]


class Rows:
    """Factors of one matrix by rows, in place of nbklu's ``Numeric``."""

    def __init__(self, arranged: _Arranged):
        self.arranged, n, (lower, upper) = arranged, arranged.n, arranged.entries
        self.n, self.lnz, self.unz, self.nzoff = n, lower + n, upper + n, 0
        self._entries = np.empty(lower + upper + 2 * n + 1)
        self._values = Values(*map(Library.place, np.split(self._entries, np.cumsum([lower, upper, n]))))
        self.places = arranged.place, ctypes.addressof(self._values)

    def free(self, common: Any) -> None:
        """Nothing to do: its arrays end with it."""


class ByRows:
    """The functions of ``nbklu`` that factors are made and used with, for factors by rows; several may share it.

    Attributes
    ----------
    known : float, optional
        The growth with the pivots that were found last, with which others may try a matrix; None once they are given
        up.
    addresses : tuple of int
        Of the functions that factor and solve.
    """

    def __init__(self) -> None:
        self.known: float | None = None
        self._loops = loops()
        self.addresses = tuple(ctypes.cast(self._loops[name], ctypes.c_void_p).value for name in ("refactor", "solve"))

    def factor(self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, symbolic: Any, common: Any) -> Any:
        """Search for pivots."""
        self.known = None
        numeric = _klu.factor(indptr, indices, values, symbolic, common)
        if common.status != _klu.KLU_OK:
            return numeric
        try:
            self._arranged = _Arranged(self._loops, numeric, symbolic, common, indptr, indices)
        finally:
            numeric.free(common)
        rows = self.again()
        self.refactor(indptr, indices, values, symbolic, rows, common)
        return rows

    def again(self) -> Rows:
        """Room for factors with the pivots that were found last."""
        return Rows(self._arranged)

    def made(self, rows: Rows) -> bool:
        """Whether factors have the pivots that were found last."""
        return rows.arranged is self._arranged

    def refactor(self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, symbolic: Any, rows: Rows,
                 common: Any) -> bool:
        """Factors of other values; whether there are any."""
        common.rcond = self._loops["refactor"](rows.places[0], Library.place(values), rows.places[1])
        return bool(common.rcond > 0.0)

    def rcond(self, symbolic: Any, rows: Rows, common: Any) -> None:
        """The ratio of the extreme pivots is there already."""

    def rgrowth(self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, symbolic: Any, rows: Rows,
                common: Any) -> None:
        """The reciprocal of how much entries have grown."""
        common.rgrowth = self._loops["growth"](rows.places[0], Library.place(values), rows.places[1])

    def solve(self, symbolic: Any, rows: Rows, n: int, count: int, b: np.ndarray, common: Any) -> None:
        """``A x = b``, for each of the rows of `b`."""
        self._loops["solve"](*rows.places, count, Library.place(b))

    def tsolve(self, symbolic: Any, rows: Rows, n: int, count: int, b: np.ndarray, common: Any) -> None:
        """``Aᵀ x = b``, for each of the rows of `b`."""
        self._loops["tsolve"](*rows.places, count, Library.place(b))

    def flops(self, symbolic: Any, rows: Rows, common: Any) -> None:
        """Operations of a factorisation."""
        common.flops = rows.arranged.operations
