"""``(A - s I)^-1`` without A: one sparse complex factorisation of the pencil ``F_X - s M`` for each shift.

The states are scaled, so that no unit makes the matrix look farther from normal than it is: E. E. Osborne, "On
pre-conditioning of matrices", JACM 7, 1960, on the entries of F_X. N. Martins, "Efficient eigenvalue and frequency
response methods applied to power system small-signal stability studies", IEEE Trans. PWRS-1, 1986, for the pencil.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .linearisation import Linearisation

_SWEEPS = 20


class Shifted:
    """Solves with the shifted pencil, in scaled states.

    Attributes
    ----------
    scale : (n_x,) array
        A state is this times what is iterated on.
    factorisations : int
    """

    def __init__(self, linear: Linearisation):
        self.linear, self.n_x = linear, len(linear.x)
        n = linear.matrix.shape[0]
        K = sp.csc_matrix(linear.matrix + sp.csc_matrix((n, n)))
        pattern = sp.csc_matrix(abs(K) + sp.identity(n, format="csc"))
        pattern.sort_indices()
        entry = sp.csc_matrix((np.arange(1, pattern.nnz + 1), pattern.indices, pattern.indptr), shape=(n, n))
        values = np.zeros(pattern.nnz, dtype=complex)
        coo = K.tocoo()
        values[np.asarray(entry[coo.row, coo.col]).ravel() - 1] = coo.data
        columns = np.repeat(np.arange(n), np.diff(pattern.indptr))
        self._values = values
        self._mass = np.flatnonzero((pattern.indices == columns) & (columns < self.n_x))
        self._lu = linear.system.system.linear_solver.analyse(n, pattern.indptr, pattern.indices).factors(complex)
        self._work = np.zeros(n, dtype=complex)
        self.scale = _balance(K)[: self.n_x]
        self.factorisations = 0

    def shift(self, s: complex) -> None:
        """Factor at a shift."""
        values = self._values.copy()
        values[self._mass] -= s
        self._lu.refactor(values)
        self.factorisations += 1

    def apply(self, v: np.ndarray) -> np.ndarray:
        """``(A - s I)^-1 v`` of a scaled vector, (n_x,)."""
        self._work[:] = 0.0
        self._work[: self.n_x] = self.scale * v
        return self._lu.solve(self._work)[: self.n_x] / self.scale

    def apply_transposed(self, w: np.ndarray) -> np.ndarray:
        """``(A - s I)^-T w`` of a left vector, scaled the other way."""
        self._work[:] = 0.0
        self._work[: self.n_x] = w / self.scale
        return self._lu.tsolve(self._work)[: self.n_x] * self.scale

    def forward(self, v: np.ndarray) -> np.ndarray:
        """``A v`` of scaled vectors, (m, n_x)."""
        full = self.linear.with_algebraic(np.atleast_2d(v * self.scale))
        x, y = full[:, self.linear.x], full[:, self.linear.y]
        K = self.linear.matrix[: self.n_x]
        return (K @ np.hstack([x, y]).T).T / self.scale


def _balance(K: sp.csc_matrix) -> np.ndarray:
    """Scales that make the norms of each row and column of D^-1 K D alike, powers of two."""
    entries = abs(K).tocoo()
    off = entries.row != entries.col
    row, col, size = entries.row[off], entries.col[off], entries.data[off]
    exponent = np.zeros(K.shape[0])
    for _ in range(_SWEEPS):
        scaled = size * 2.0 ** (exponent[col] - exponent[row])
        rows, columns = (np.sqrt(np.bincount(at, scaled**2, K.shape[0])) for at in (row, col))
        there = (rows > 0) & (columns > 0)
        # half of Osborne's step: all variables move at once
        exponent[there] += 0.25 * np.log2(rows[there] / columns[there])
    return 2.0 ** np.round(exponent)
