"""The right-hand side F and the matrix diag(mass) - diag(c) F_X, evaluated from batches of kernels.

Everything lives in buffers allocated once. Devices whose equations are linear in X (lines,
transformers, shunts) are not evaluated again at each iteration: between events their Jacobian is a
constant matrix. The hot functions are those of :mod:`.native`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .kernel import Batch, Batches
from .native import FALLBACK, Runtime


class Assembly:
    """Buffers and loops of one assembled system.

    Parameters
    ----------
    n : int
        Number of unknowns; the buffer ``Z`` begins with them.
    Z : (n + ...,) array
        The buffer that kernels gather from.
    rhs, jac : sequences of Batch
        Nonlinear devices: rows of F, and entries of F_X scattered into the pattern.
    linear_rhs, linear_jac : sequences of Batch
        The same for devices that are linear in X.
    indptr, indices : int32 arrays
        The CSC pattern of F_X together with the diagonal.

    Attributes
    ----------
    F : (n + 1,) array
        Right-hand side; the last entry collects what is dropped.
    A : (nnz + 1,) array
        Entries of the matrix, likewise.
    mass, c, base : (n,) arrays
        What a step sets: ``R = base + c F - mass X`` and ``A = diag(mass) - diag(c) F_X``.
    refreshed : int
        How many times the linear part was recomputed: who finds another number than he left has to do it again.
    """

    def __init__(self, n: int, Z: np.ndarray, rhs: Sequence[Batch], jac: Sequence[Batch],
                 linear_rhs: Sequence[Batch], linear_jac: Sequence[Batch], indptr: np.ndarray, indices: np.ndarray):
        self.n, self.Z, self.X = n, Z, Z[:n]
        self._rhs, self._jac = Batches(rhs), Batches(jac)
        self._linear_rhs, self._linear_jac = list(linear_rhs), list(linear_jac)
        self.indptr, self.indices = indptr, indices
        nnz = len(indices)
        columns = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
        self.columns = columns
        self.diagonal = np.flatnonzero(indices == columns).astype(np.int32)
        self.F, self.R, self.A = np.zeros(n + 1), np.zeros(n), np.zeros(nnz + 1)
        self.mass, self.c, self.base, self._scale = np.zeros(n), np.ones(n), np.zeros(n), np.zeros(n + 1)
        self._linear_matrix = np.zeros(nnz + 1)
        self._linear_rows = np.unique(np.concatenate(
            [b.scatter.ravel() for b in self._linear_rhs] or [np.zeros(0, dtype=np.int32)])).astype(np.int32)
        self._linear_rows = self._linear_rows[self._linear_rows < n]
        keep = np.isin(indices, self._linear_rows) & self._touched(nnz)
        order = np.lexsort((columns[keep], indices[keep]))
        self._linear_entries = np.flatnonzero(keep)[order].astype(np.int32)
        rows = np.searchsorted(self._linear_rows, indices[self._linear_entries])
        self._linear_ptr = np.searchsorted(rows, np.arange(len(self._linear_rows) + 1)).astype(np.int32)
        self._linear_cols = columns[self._linear_entries]
        self._linear_values = np.zeros(len(self._linear_entries))
        self._linear_constant = np.zeros(len(self._linear_rows))
        self.refreshed = 0
        self.bind(FALLBACK)

    def _touched(self, nnz: int) -> np.ndarray:
        mask = np.zeros(nnz + 1, dtype=bool)
        for batch in self._linear_jac:
            mask[batch.scatter] = True
        return mask[:nnz]

    def refresh(self) -> None:
        """Recompute the linear part: after parameters or modes in ``Z`` have changed."""
        self.refreshed += 1
        self._linear_matrix[:] = 0.0
        for batch in self._linear_jac:
            batch.add(self.Z, self._linear_matrix)
        self._linear_values[:] = self._linear_matrix[self._linear_entries]
        at_zero = self.Z.copy()
        at_zero[: self.n] = 0.0
        constant = np.zeros(self.n + 1)
        for batch in self._linear_rhs:
            batch.add(at_zero, constant)
        self._linear_constant[:] = constant[self._linear_rows]

    def rhs(self) -> np.ndarray:
        """F(Z), (n,) view of the buffer."""
        self.runtime.rhs(self.plan)
        return self.F[: self.n]

    def residual(self) -> None:
        """``R = base + c F(Z) - mass X``: minus the residual."""
        self.runtime.residual(self.plan)

    def matrix(self) -> np.ndarray:
        """``A = diag(mass) - diag(c) F_X(Z)``, the (nnz,) entries in the pattern."""
        self.runtime.matrix(self.plan)
        return self.A[:-1]

    def jacobian(self) -> np.ndarray:
        """F_X(Z), the (nnz,) entries in the pattern, in a new array."""
        out = np.empty(len(self.indices) + 1)
        self.runtime.jacobian(self.plan, self.runtime.place(out))
        return out[:-1]

    def linearise(self, batches: Batches, entries: int) -> np.ndarray:
        """F_X(Z) as :meth:`jacobian` gives it, and behind it what other batches add up, in one new array.

        (nnz + 1 + entries + 1,): each part has an entry more, for what is dropped.
        """
        out, runtime = np.empty(len(self.indices) + entries + 2), batches.runtime  # which may be the slower one
        runtime.linearise(self.plan, len(batches), batches.table, entries, runtime.place(out))
        return out

    def newton(self, tol: float) -> float:
        """``X += R``; returns max |R_i| / (1 + |X_i|), and leaves the next residual unless below `tol`."""
        return self.runtime.newton(self.plan, tol)

    def bind(self, runtime: Runtime) -> None:
        """Use these loops; every batch must have been bound before."""
        self.runtime = runtime
        for batches in (self._rhs, self._jac):
            batches.bind(runtime)
        self.plan = runtime.plan(
            n=self.n, nnz=len(self.indices), n_rhs=len(self._rhs), n_jac=len(self._jac),
            n_linear=len(self._linear_rows), rhs=self._rhs.table, jac=self._jac.table,
            linear_rows=self._linear_rows, linear_ptr=self._linear_ptr, linear_cols=self._linear_cols,
            linear_values=self._linear_values, linear_constant=self._linear_constant, row_of=self.indices,
            diagonal=self.diagonal, linear_matrix=self._linear_matrix, Z=self.Z, F=self.F, R=self.R, A=self.A,
            mass=self.mass, c=self.c, base=self.base, scale=self._scale)
