"""Sparse matrices whose pattern is fixed, and their products with many vectors, kept as the rows of an array.

A :class:`Pattern` has indices alone, and may be shared between threads and sweeps; a :class:`Matrix` has buffers.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Pattern:
    """Where a sparse matrix has entries, compressed by columns.

    Parameters
    ----------
    shape : (int, int)
    indptr, indices : int32 arrays
    runtime : Native or Fallback
    at : int32 array, optional
        Which entries of another pattern its entries are, where they are not all of it: see :meth:`Matrix.shifted`.
    diagonal : int32 array, optional
        Its entries on the diagonal.
    """

    def __init__(self, shape: tuple[int, int], indptr: np.ndarray, indices: np.ndarray, runtime: Any,
                 at: np.ndarray | None = None, diagonal: np.ndarray | None = None):
        self.shape, self.runtime, self.indptr, self.indices = shape, runtime, indptr, indices
        columns = np.repeat(np.arange(shape[1]), np.diff(indptr))
        place = np.lexsort((columns, indices))  # by rows
        diagonal = np.zeros(0, dtype=np.int32) if diagonal is None else diagonal
        row_ptr = np.searchsorted(indices[place], np.arange(shape[0] + 1))
        used, read = np.flatnonzero(np.bincount(indices)), np.flatnonzero(np.diff(indptr))
        self.fields: dict[str, Any] = dict(
            n_rows=shape[0], n_columns=shape[1], entries=len(indices), n_used=len(used), n_read=len(read),
            n_diagonal=len(diagonal), ptr=indptr, row=indices, used=used.astype(np.int32), read=read.astype(np.int32),
            row_ptr=row_ptr.astype(np.int32), column=columns[place].astype(np.int32), place=place.astype(np.int32),
            at=at, diagonal=diagonal)

    def matrix(self) -> Matrix:
        """A matrix of this pattern: for one sweep, in one thread."""
        return Matrix(self)


class Matrix:
    """Buffers for a matrix of a pattern: `values` that the last call of a method made, and work arrays."""

    def __init__(self, pattern: Pattern):
        self.shape, self.runtime = pattern.shape, pattern.runtime
        self.indptr, self.indices = pattern.indptr, pattern.indices
        self.values, work = np.zeros(len(pattern.indices)), np.empty(self.runtime.width * max(*self.shape, 1))
        self.handle = self.runtime.pattern(**pattern.fields, values=self.values, work=work)

    def product(self, values: np.ndarray, rows: np.ndarray, to: np.ndarray | None = None) -> np.ndarray:
        """``A row_i`` for each of (count, columns) rows: (count, rows of A), added to `to` where that is given."""
        return self._call(self.runtime.times, values, rows, self.shape[0], to)

    def transposed(self, values: np.ndarray, rows: np.ndarray, to: np.ndarray | None = None) -> np.ndarray:
        """``A^T row_i`` for each of (count, rows of A) rows: (count, columns), added to `to` where that is given."""
        return self._call(self.runtime.times_transposed, values, rows, self.shape[1], to)

    def _call(self, product: Any, values: np.ndarray, rows: np.ndarray, width: int,
              to: np.ndarray | None) -> np.ndarray:
        rows, place = np.ascontiguousarray(rows), self.runtime.place
        out = np.empty((len(rows), width)) if to is None else to
        product(len(rows), self.handle, place(values), place(rows), place(out), to is not None)
        return out

    def shifted(self, m: np.ndarray, scale: np.ndarray, J: np.ndarray) -> np.ndarray:
        """Entries of ``diag(m) + diag(scale) J``, in a buffer that the next call overwrites."""
        place = self.runtime.place
        self.runtime.shifted(self.handle, place(m), place(scale), place(J))
        return self.values

    def summed(self, s: np.ndarray, U: np.ndarray, t: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Entries of ``diag(s) U + diag(t) V``, in a buffer that the next call overwrites."""
        place = self.runtime.place
        self.runtime.sum(self.handle, place(s), place(U), place(t), place(V))
        return self.values


class Coefficients:
    """What a step is made of: ``m`` differential rows, ``c = implicit`` there and -1 elsewhere, and ``early m``."""

    def __init__(self, differential: np.ndarray, implicit: float, early: float):
        self.implicit, self.m, self.c = implicit, differential.astype(float), np.where(differential, implicit, -1.0)
        self.minus_c, self.early = -self.c, early * self.m
