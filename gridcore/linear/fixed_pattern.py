"""Sparse matrices whose pattern is fixed, and their products with many vectors, kept as the rows of an array.

``runtime.c`` does them in blocks of rows; without a C compiler scipy does.
"""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ..equations.kernel import address

_WIDTH = 8  # of runtime.c


class _CPattern(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_long) for name in ("n_rows", "n_columns", "entries", "n_used", "n_read",
                                                     "n_diagonal")),
                *((name, ctypes.c_void_p) for name in ("ptr", "row", "used", "read", "row_ptr", "column", "place",
                                                       "at", "diagonal", "values", "work"))]


class Matrix:
    """A pattern, compressed by columns; the values come with each call.

    Parameters
    ----------
    shape : (int, int)
    indptr, indices : int32 arrays
    runtime : ctypes library or None
        With the compiled loops.
    at : int32 array, optional
        Which entries of another pattern its entries are, where they are not all of it: see :meth:`shifted`.
    diagonal : int32 array, optional
        Its entries on the diagonal.
    """

    def __init__(self, shape: tuple[int, int], indptr: np.ndarray, indices: np.ndarray, runtime: Any = None,
                 at: np.ndarray | None = None, diagonal: np.ndarray | None = None):
        self.shape, self.indptr, self.indices, self.at = shape, indptr, indices, at
        self.diagonal = np.zeros(0, dtype=np.int32) if diagonal is None else diagonal
        self.values = np.zeros(len(indices))
        self.runtime = runtime
        if runtime is not None:
            self._bind(runtime)

    def _bind(self, runtime: Any) -> None:
        any_of, pointer = [ctypes.c_long, ctypes.c_void_p], ctypes.c_void_p
        for name, arguments in (("gc_times", [*any_of, *[pointer] * 3, ctypes.c_int]),
                                ("gc_times_transposed", [*any_of, *[pointer] * 3, ctypes.c_int]),
                                ("gc_shifted", [pointer] * 4), ("gc_sum", [pointer] * 5),
                                ("gc_step_transposed", [*any_of, *[pointer] * 11])):
            function = getattr(runtime, name)
            function.restype, function.argtypes = None, arguments
        self._kept = (np.unique(self.indices).astype(np.int32), np.flatnonzero(np.diff(self.indptr)).astype(np.int32),
                      *self._turned(), np.empty(_WIDTH * max(*self.shape, 1)))
        used, read, row_ptr, column, place, work = self._kept
        self._pattern = _CPattern(
            *self.shape, len(self.indices), len(used), len(read), len(self.diagonal), address(self.indptr),
            address(self.indices), address(used), address(read), address(row_ptr), address(column), address(place),
            None if self.at is None else address(self.at), address(self.diagonal), address(self.values), address(work))
        self.pattern = ctypes.addressof(self._pattern)

    def product(self, values: np.ndarray, rows: np.ndarray, to: np.ndarray | None = None) -> np.ndarray:
        """``A row_i`` for each of (count, columns) rows: (count, rows of A), added to `to` where that is given."""
        if self.runtime is None:
            out = np.ascontiguousarray((self._matrix(values) @ rows.T).T)
            return out if to is None else np.add(to, out, out=to)
        return self._call(self.runtime.gc_times, values, rows, self.shape[0], to)

    def transposed(self, values: np.ndarray, rows: np.ndarray, to: np.ndarray | None = None) -> np.ndarray:
        """``A^T row_i`` for each of (count, rows of A) rows: (count, columns), added to `to` where that is given."""
        if self.runtime is None:
            out = np.ascontiguousarray((self._matrix(values).T @ rows.T).T)
            return out if to is None else np.add(to, out, out=to)
        return self._call(self.runtime.gc_times_transposed, values, rows, self.shape[1], to)

    def _call(self, product: Any, values: np.ndarray, rows: np.ndarray, width: int,
              to: np.ndarray | None) -> np.ndarray:
        rows = np.ascontiguousarray(rows)
        out = np.empty((len(rows), width)) if to is None else to
        product(len(rows), self.pattern, address(values), address(rows), address(out), to is not None)
        return out

    def shifted(self, m: np.ndarray, scale: np.ndarray, J: np.ndarray) -> np.ndarray:
        """Entries of ``diag(m) + diag(scale) J``, in a buffer that the next call overwrites."""
        if self.runtime is None:
            np.multiply(scale[self.indices], J if self.at is None else J[self.at], out=self.values)
            self.values[self.diagonal] += m[self.indices[self.diagonal]]
        else:
            self.runtime.gc_shifted(self.pattern, address(m), address(scale), address(J))
        return self.values

    def summed(self, s: np.ndarray, U: np.ndarray, t: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Entries of ``diag(s) U + diag(t) V``, in a buffer that the next call overwrites."""
        if self.runtime is None:
            np.add(s[self.indices] * U, t[self.indices] * V, out=self.values)
        else:
            self.runtime.gc_sum(self.pattern, address(s), address(U), address(t), address(V))
        return self.values

    def _turned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pattern by rows: pointers, columns, and the place of each entry in the values."""
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))
        place = np.lexsort((columns, self.indices))
        pointers = np.searchsorted(self.indices[place], np.arange(self.shape[0] + 1))
        return pointers.astype(np.int32), columns[place].astype(np.int32), place.astype(np.int32)

    def _matrix(self, values: np.ndarray) -> sp.csc_matrix:
        return sp.csc_matrix((values, self.indices, self.indptr), shape=self.shape)


class Coefficients:
    """What a step is made of: ``m`` differential rows, ``c = implicit`` there and -1 elsewhere, and ``early m``."""

    def __init__(self, differential: np.ndarray, implicit: float, early: float = 0.0):
        m, c = differential.astype(float), np.where(differential, implicit, -1.0)
        self.implicit, self._rows = implicit, np.array([m, c, -c, early * m])
        self.m, self.c, self.minus_c, self.early = self._rows
        self.addresses = [address(row) for row in self._rows]


class LinearisedPoint(Protocol):
    """A point of a tape: entries of F_X and F_p, and where these are."""

    J: np.ndarray
    Fp: np.ndarray
    addresses: tuple[int, int]


def end_of_step(A: Matrix, of: Coefficients, point: LinearisedPoint) -> np.ndarray:
    """Entries of ``diag(m) - diag(c) J``, in a buffer that the next call overwrites."""
    if A.runtime is None:
        return A.shifted(of.m, of.minus_c, point.J)
    m, _, minus_c, _ = of.addresses
    A.runtime.gc_shifted(A.pattern, m, minus_c, point.addresses[0])
    return A.values


def step_transposed(B: Matrix, C: Matrix, C_start: Matrix, of: Coefficients, start: LinearisedPoint,
                    end: LinearisedPoint, w: np.ndarray, aP: np.ndarray) -> np.ndarray:
    """``(diag(m) + diag(early) J)^T w_i`` for each row of `w`, with the pattern of B; and with that of C,
    ``(diag(early) Fp + diag(c) Fp+)^T w_i`` added to `aP`. What an adjoint does at every step, in one call.

    `C_start` has the part of C in rows where `early` is not zero.
    """
    if B.runtime is None:
        C.transposed(C.summed(of.early, start.Fp, of.c, end.Fp), w, aP)
        return B.transposed(B.shifted(of.m, of.early, start.J), w)
    aX = np.empty((len(w), B.shape[1]))
    m, c, _, early = of.addresses
    B.runtime.gc_step_transposed(len(w), B.pattern, C.pattern, C_start.pattern, m, early, c, *start.addresses,
                                 end.addresses[1], address(w), address(aX), address(aP))
    return aX
