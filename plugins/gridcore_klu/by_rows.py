"""LU by rows with the pivots that KLU has found: for large matrices that are factored and solved with again and again.

What KLU's loops cost there is hardly their arithmetic, but that most are short: a processor guesses wrongly where they
end. Those of ``by_rows.c`` take rows and pivots of one shape together, and rows of U with nested patterns; those of
``chunks.c`` parts of the matrix that have one pattern, side by side.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np
from nbklu import _ext as _klu

from gridcore.equations.native import Library, runtime

# Unknowns from which on blocks are looked for: factors of fewer stay in a near cache, and a search costs what it saves.
LEAST = 2000
FILES = [Path(__file__).with_name(f"{name}.c") for name in ("blocks", "chunks", "arrange", "by_rows")]


def _struct(name: str, longs: str, *fields: tuple[str, Any]) -> Any:
    return type(name, (ctypes.Structure,), {"_fields_": [*((each, ctypes.c_long) for each in longs.split()), *fields]})


def _places(names: str) -> list[tuple[str, Any]]:
    return [(name, ctypes.c_void_p) for name in names.split()]


Triangle = _struct("Triangle", "groups", *_places("length count row begin size column"))
Early = _struct("Early", "groups late numbers", *_places("length below count row ahead at"))
Blocks = _struct("Blocks", "chunks places pivots numbers sums reached ints",
                 *_places("root some form beyond sum forms"))
Pivots = _struct("Pivots", "unknowns n rows entries lower_entries upper_entries",
                 *_places("P Q row ptr column place to nested"), ("lower", Triangle), ("upper", Triangle),
                 ("early", Early), ("blocks", Blocks), *_places("w x"))
Values = _struct("Values", "", *_places("lower upper inverse numbers scale"))
Source = _struct("Source", "n bits least", *_places(
    "Lp Li Up Ui P Q indptr indices room more keys rest rest_Lp rest_Li rest_Up rest_Ui"))


@functools.cache
def _head() -> str:
    return "".join(each.read_text() for each in FILES[:-1])


def loops() -> dict[str, Any]:
    """The functions of the four files; empty where there is no compiler."""
    return runtime().functions(FILES[-1], "rows", _head(), find="pp d", arrange="pp", places="pp",
                               refactor="ppp d", growth="ppp d", solve="pplp", tsolve="pplp")


def _room(kept: list[np.ndarray], *sizes: int) -> list[int]:
    """Places of arrays of so many ints, which live as long as the list."""
    kept.append(array := np.zeros(sum(sizes), np.int32))
    at, places = Library.place(array), []
    for size in sizes:
        places.append(at)
        at += array.itemsize * size
    return places


class _Arranged:
    """Pivots of KLU's present factors, and all that follows from them and from the pattern of the matrix."""

    def __init__(self, loops: dict[str, Any], numeric: Any, symbolic: Any, common: Any, indptr: np.ndarray,
                 indices: np.ndarray):
        n, taken, work, self._arrays = numeric.n, [], list[np.ndarray](), list[np.ndarray]()
        for count in (numeric.lnz, numeric.unz, 1):
            taken += [np.zeros(n + 1, np.int32), np.zeros(count, np.int32), np.zeros(count)]
        P, Q = np.zeros((2, n), np.int32)
        _klu.extract(numeric, symbolic, *taken, P, Q, np.zeros(n), np.zeros(n + 1, np.int32), common)
        found, keys = (*taken[:2], *taken[3:5], P, Q, indptr, indices), np.zeros(4 * n, np.uint64)
        bits = (2 * n).bit_length()  # of a hash table
        room, *rest = _room(work, 10 * n + numeric.unz + 2**bits, n, n + 1, numeric.lnz, n + 1, numeric.unz)
        source = Source(n, bits, LEAST, *map(Library.place, found), room, 0, Library.place(keys), *rest)
        self._pivots = p = Pivots(n, blocks=Blocks(0, 0, 0, 0, 0, 0, 0, *_room(self._arrays, n, n, n)))
        self.n, self.entries, at, of = n, (numeric.lnz - n, numeric.unz - n), *map(ctypes.addressof, (p, source))
        self.place, self.operations = at, loops["find"](at, of)
        b, m, entries, lower, upper = p.blocks, p.n, p.entries, p.lower_entries, p.upper_entries
        places = b.places + m
        source.more, = _room(work, 9 * m + 3 * (n + len(indices)) + 2 * places + 3)
        b.beyond, b.sum, b.forms, p.P, p.Q, p.row, p.ptr, p.column, p.place, p.to, p.nested, *of_rest = _room(
            self._arrays, b.reached, b.sums, b.ints, places, places, p.rows, p.rows + 1, entries, entries, entries, m,
            m, m, m, m, m, lower, m, m, m, m, m, upper, m, m, m, m, m)
        p.lower, p.upper = Triangle(0, *of_rest[:6]), Triangle(0, *of_rest[6:12])
        p.early = Early(0, 0, 0, *of_rest[12:])
        loops["arrange"](at, of)
        p.early.at, = _room(self._arrays, p.early.numbers)
        loops["places"](at, of)
        self._work = np.zeros((2, places))
        p.w, p.x = map(Library.place, self._work)
        self.begins = np.cumsum([0, lower, upper, m, b.numbers, places])


class Rows:
    """Factors of one matrix by rows, in place of nbklu's ``Numeric``."""

    def __init__(self, arranged: _Arranged):
        self.arranged, n, (lower, upper), begins = arranged, arranged.n, arranged.entries, arranged.begins
        self.n, self.lnz, self.unz, self.nzoff = n, lower + n, upper + n, 0
        self._entries = np.empty(begins[-1])
        self._values = Values(*(Library.place(self._entries) + self._entries.itemsize * begins[:-1]).tolist())
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
    addresses : dict
        Of the functions that factor, solve, solve with the transpose, and look at the growth, by name.
    """

    def __init__(self) -> None:
        self.known: float | None = None
        self._arranged: Any = None
        self._kept: tuple[float | None, Any] = None, None
        self._loops = loops()
        self.addresses = {name: ctypes.cast(self._loops[name], ctypes.c_void_p).value or 0
                          for name in ("refactor", "solve", "tsolve", "growth")}

    def factor(self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, symbolic: Any, common: Any) -> Any:
        """Search for pivots."""
        self.known = None
        numeric = _klu.factor(indptr, indices, values, symbolic, common)
        if common.status != _klu.KLU_OK:
            return numeric
        try:
            self.take(numeric, symbolic, common, indptr, indices)
        finally:
            numeric.free(common)
        rows = self.again()
        self.refactor(indptr, indices, values, symbolic, rows, common)
        return rows

    def take(self, numeric: Any, symbolic: Any, common: Any, indptr: np.ndarray, indices: np.ndarray) -> None:
        """Take the pivots of KLU's factors."""
        self._arranged = _Arranged(self._loops, numeric, symbolic, common, indptr, indices)

    def keep(self) -> None:
        """Come back to the present pivots where others were given up."""
        self._kept = self.known, self._arranged

    def come_back(self) -> float | None:
        """Take the pivots that were found last, or else those that are kept; the growth with them, None without any."""
        if self.known is None:
            self.known, self._arranged = self._kept
        return self.known

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
