"""The linear solver ``superlu``: scipy's SuperLU, which is everywhere that scipy is, and always searches for pivots.

It is written against the public contract alone, and is an example of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gridcore.linear import EPS, EQUILIBRATED, Analysis, Factors, LinearSolver, equilibrate


class SuperLU(LinearSolver):
    """The solver."""

    def analyse(self, n: int, indptr: npt.ArrayLike, indices: npt.ArrayLike) -> Analysis:
        return Pattern(n, indptr, indices)


class Pattern(Analysis):
    """A pattern; SuperLU does not separate its analysis from the factorisation."""

    def factors(self, dtype: type = float, loose: bool = False) -> Factors:
        return SuperLUFactors(self, dtype, loose)


class SuperLUFactors(Factors):
    """LU by SuperLU, of the matrix with scaled rows, and scaled columns where it is singular otherwise."""

    def factor(self, values: npt.NDArray[Any]) -> None:
        self.check_values(values)
        self.numeric = None
        largest = np.zeros(self.n)
        np.maximum.at(largest, self.indices, np.abs(values))
        self._rows, self._columns = 1.0 / np.where(largest > 0.0, largest, 1.0), np.ones(self.n)
        if not self._succeeds(values, EPS):
            self._rows, self._columns = equilibrate(self.n, self.indptr, self.indices, values)
            if not self._succeeds(values, EQUILIBRATED):
                raise self.singular(values)

    def _succeeds(self, values: npt.NDArray[Any], least: float) -> bool:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        self.factorisations += 1
        scales = self._rows[self.indices] * np.repeat(self._columns, np.diff(self.indptr))
        try:
            numeric = splu(csc_array((values * scales, self.indices, self.indptr), (self.n, self.n)))
        except RuntimeError:  # a pivot is zero
            return False
        pivots = np.abs(numeric.U.diagonal())
        if pivots.min() > least * pivots.max():
            self.numeric = numeric
        return self.numeric is not None

    def solve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.solves += self.right_hand_sides(b)
        b[...] = self.numeric.solve((b * self._rows).T).T
        b *= self._columns
        return b

    def tsolve(self, b: npt.NDArray[Any]) -> npt.NDArray[Any]:
        self.solves += self.right_hand_sides(b)
        b[...] = self.numeric.solve((b * self._columns).T, trans="T").T
        b *= self._rows
        return b

    def operations(self) -> tuple[int, int]:
        below = np.diff(self.numeric.L.tocsc().indptr) - 1
        right = np.diff(self.numeric.U.tocsr().indptr) - 1
        return int((below + 2 * below * right).sum()), int(2 * (below + right).sum()) + self.n
