"""Products of one sparse matrix with many vectors, kept as the rows of an array.

``runtime.c`` does them in blocks of rows; without a C compiler scipy does.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .kernel import address

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
        if self.runtime is not None:
            for product in (self.runtime.gc_times, self.runtime.gc_times_transposed):
                rest = [ctypes.c_int, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
                matrix = [ctypes.c_void_p] * (4 if product is self.runtime.gc_times else 3)
                product.restype, product.argtypes = None, [*[ctypes.c_long] * 3, *matrix, *[ctypes.c_void_p] * 2, *rest]
            self._by_row, self._used = self._turned(), np.unique(self.indices).astype(np.int32)
            # asking an array for its address takes as long as a short product: those that stay are asked once
            self._rows_at = tuple(part.ctypes.data for part in self._by_row)
            self._columns_at = (self.indptr.ctypes.data, self.indices.ctypes.data)
            self._rest = (self._work.ctypes.data, len(self._used), self._used.ctypes.data)

    def product(self, values: np.ndarray, rows: np.ndarray, to: np.ndarray | None = None) -> np.ndarray:
        """``A row_i`` for each of (count, columns) rows: (count, rows of A), added to `to` where that is given."""
        if self.runtime is None:
            out = (self._matrix(values) @ rows.T).T
            return out if to is None else np.add(to, out, out=to)
        return self._call(self.runtime.gc_times, self._rows_at, values, rows, self.shape[0], to)

    def transposed(self, values: np.ndarray, rows: np.ndarray, to: np.ndarray | None = None) -> np.ndarray:
        """``A^T row_i`` for each of (count, rows of A) rows: (count, columns), added to `to` where that is given."""
        if self.runtime is None:
            out = (self._matrix(values).T @ rows.T).T
            return out if to is None else np.add(to, out, out=to)
        return self._call(self.runtime.gc_times_transposed, self._columns_at, values, rows, self.shape[1], to)

    def _call(self, product: Any, pattern: tuple[int, ...], values: np.ndarray, rows: np.ndarray, width: int,
              to: np.ndarray | None) -> np.ndarray:
        rows = np.ascontiguousarray(rows)
        out = np.empty((len(rows), width)) if to is None else to
        product(len(rows), *self.shape, *pattern, address(values), address(rows), address(out), to is not None,
                *self._rest)
        return out

    def _turned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pattern by rows: pointers, columns, and the place of each entry in the values."""
        columns = np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))
        place = np.lexsort((columns, self.indices))
        pointers = np.searchsorted(self.indices[place], np.arange(self.shape[0] + 1))
        return pointers.astype(np.int32), columns[place].astype(np.int32), place.astype(np.int32)

    def _matrix(self, values: np.ndarray) -> sp.csc_matrix:
        return sp.csc_matrix((values, self.indices, self.indptr), shape=self.shape)
