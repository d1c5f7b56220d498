"""Products of one sparse matrix with many vectors, kept as the rows of an array.

``runtime.c`` does them in blocks of rows; without a C compiler scipy does.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

_WIDTH = 8  # of runtime.c


@dataclass
class Matrix:
    """A sparse matrix by columns whose pattern is fixed, and its products with rows of an array.

    Attributes
    ----------
    shape : (int, int)
    indptr, indices : int32 arrays
    runtime : ctypes library or None
    """

    shape: tuple[int, int]
    indptr: np.ndarray
    indices: np.ndarray
    runtime: Any = None

    def __post_init__(self) -> None:
        self._work = np.empty(_WIDTH * max(*self.shape, 1))
        self.empty = not len(self.indices)
        if self.runtime is not None:
            arguments = [*[ctypes.c_long] * 3, *[ctypes.c_void_p] * 7]
            times, transposed = self.runtime.gc_times, self.runtime.gc_times_transposed
            times.restype, times.argtypes = None, [*arguments, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
            transposed.restype, transposed.argtypes = None, [*arguments, ctypes.c_long, ctypes.c_void_p]
            self._by_row, self._used = self._turned(), np.unique(self.indices).astype(np.int32)
            # asking an array for its address takes as long as a short product: those that stay are asked once
            self._rows_at = tuple(part.ctypes.data for part in self._by_row)
            self._columns_at = (self.indptr.ctypes.data, self.indices.ctypes.data)
            self._rest = (self._work.ctypes.data, len(self._used), self._used.ctypes.data)

    def add_product(self, values: np.ndarray, rows: np.ndarray, scale: np.ndarray, out: np.ndarray) -> None:
        """``out_i += scale * (A row_i)``: rows (count, columns), scale (rows of A,), out (count, rows of A)."""
        if self.empty:
            return
        if self.runtime is None:
            out += scale * (self._matrix(values) @ rows.T).T
            return
        rows = np.ascontiguousarray(rows)
        self.runtime.gc_times(len(rows), *self.shape, *self._rows_at, values.ctypes.data, rows.ctypes.data,
                              scale.ctypes.data, out.ctypes.data, *self._rest)

    def add_transposed(self, values: np.ndarray, rows: np.ndarray, scale: np.ndarray, out: np.ndarray) -> None:
        """``out_i += A^T (scale * row_i)``: rows (count, rows of A), out (count, columns)."""
        if self.empty:
            return
        if self.runtime is None:
            out += (self._matrix(values).T @ (scale * rows).T).T
            return
        rows = np.ascontiguousarray(rows)
        self.runtime.gc_times_transposed(len(rows), *self.shape, *self._columns_at, values.ctypes.data,
                                         rows.ctypes.data, scale.ctypes.data, out.ctypes.data, *self._rest)

    def _turned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pattern by rows: pointers, columns, and the place of each entry in the values."""
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))
        place = np.lexsort((columns, self.indices))
        pointers = np.searchsorted(self.indices[place], np.arange(self.shape[0] + 1))
        return pointers.astype(np.int32), columns[place].astype(np.int32), place.astype(np.int32)

    def _matrix(self, values: np.ndarray) -> sp.csc_matrix:
        return sp.csc_matrix((values, self.indices, self.indptr), shape=self.shape)
