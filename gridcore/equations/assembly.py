"""The right-hand side F and the matrix diag(mass) - diag(c) F_X, evaluated from batches of kernels.

Everything lives in buffers allocated once. Devices whose equations are linear in X (lines,
transformers, shunts) are not evaluated again at each iteration: between events their Jacobian is a
constant matrix. The hot functions are C (``runtime.c``) where a compiler is there, numpy where not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .kernel import Batch, Batches, address

RUNTIME = Path(__file__).with_name("runtime.c")


class _CPlan(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_long) for name in ("n", "nnz", "n_rhs", "n_jac", "n_linear")),
                *((name, ctypes.c_void_p) for name in (
                    "rhs", "jac", "linear_rows", "linear_ptr", "linear_cols", "linear_values", "linear_constant",
                    "row_of", "diagonal", "linear_matrix", "Z", "F", "R", "A", "mass", "c", "base", "scale"))]


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
    differential : (n,) bool array
        The rows that are differential under the present modes; whoever runs the system says so.
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
        self.differential = np.zeros(n, dtype=bool)
        self.label: Callable[[int], str] = str
        self.factors: Callable[..., Any]
        self._slope: Callable[[np.ndarray], np.ndarray | None] = lambda Z: None
        self._native: Any = None
        self.runtime: Any = None

    def _touched(self, nnz: int) -> np.ndarray:
        mask = np.zeros(nnz + 1, dtype=bool)
        for batch in self._linear_jac:
            mask[batch.scatter] = True
        return mask[:nnz]

    def time_slope(self) -> np.ndarray | None:
        """Partial derivative of F in time, (n,); None where no equation reads the time."""
        return self._slope(self.Z)

    def load(self, Z: np.ndarray) -> None:
        """Take over a whole buffer, and recompute what depends on parameters and modes."""
        self.Z[:] = Z
        self.refresh()

    def refresh(self) -> None:
        """Recompute the linear part: after parameters or modes in ``Z`` have changed."""
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
        if self._native:
            self._native.gc_rhs(self.plan)
        else:
            self.F[:] = 0.0
            self._rhs.add(self.Z, self.F)
            product = sp.csr_matrix((self._linear_values, self._linear_cols, self._linear_ptr),
                                    shape=(len(self._linear_rows), self.n)) @ self.X
            self.F[self._linear_rows] += product + self._linear_constant
        return self.F[: self.n]

    def residual(self) -> None:
        """``R = base + c F(Z) - mass X``: minus the residual."""
        if self._native:
            self._native.gc_residual(self.plan)
        else:
            self.R[:] = self.base + self.c * self.rhs() - self.mass * self.X

    def matrix(self) -> np.ndarray:
        """``A = diag(mass) - diag(c) F_X(Z)``, the (nnz,) entries in the pattern."""
        if self._native:
            self._native.gc_matrix(self.plan)
        else:
            self._scale[: self.n] = -self.c
            self.A[:-1] = self._scale[self.indices] * self._linear_matrix[:-1]
            self.A[self.diagonal] += self.mass
            for batch in self._jac:
                batch.add(self.Z, self.A, self._scale)
        return self.A[:-1]

    def jacobian(self) -> np.ndarray:
        """F_X(Z), the (nnz,) entries in the pattern, in a new array."""
        out = np.empty(len(self.indices) + 1)
        if self._native:
            self._native.gc_jacobian(self.plan, address(out))
        else:
            out[:] = self._linear_matrix
            self._jac.add(self.Z, out)
        return out[:-1]

    def linearise(self, batches: Batches, entries: int) -> np.ndarray:
        """F_X(Z) as :meth:`jacobian` gives it, and behind it what other batches add up, in one new array.

        (nnz + 1 + entries + 1,): each part has an entry more, for what is dropped.
        """
        size = len(self.indices) + 1
        out = np.empty(size + entries + 1)
        if self._native and batches.compiled:
            self._native.gc_linearise(self.plan, len(batches), batches.address, entries, address(out))
        else:
            out[:size], out[size:] = self._linear_matrix, 0.0
            self._jac.add(self.Z, out[:size])
            batches.add(self.Z, out[size:])
        return out

    def newton(self, tol: float) -> float:
        """``X += R``; returns max |R_i| / (1 + |X_i|), and leaves the next residual unless below `tol`."""
        if self._native:
            return self._native.gc_newton(self.plan, tol)
        self.X += self.R
        norm = float(np.max(np.abs(self.R) / (1.0 + np.abs(self.X)), initial=0.0))
        if not norm <= tol:
            self.residual()
        return norm

    def bind(self, runtime: ctypes.CDLL) -> None:
        """Use the compiled loops; every batch must have been bound before."""
        runtime.gc_newton.restype = ctypes.c_double
        runtime.gc_newton.argtypes = [ctypes.c_void_p, ctypes.c_double]
        runtime.gc_jacobian.restype, runtime.gc_jacobian.argtypes = None, [ctypes.c_void_p] * 2
        runtime.gc_linearise.restype, runtime.gc_linearise.argtypes = None, [
            ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
        for name in ("gc_rhs", "gc_residual", "gc_matrix"):
            function = getattr(runtime, name)
            function.restype, function.argtypes = None, [ctypes.c_void_p]
        for batches in (self._rhs, self._jac):
            batches.bind(runtime)

        def at(array: np.ndarray) -> int:
            return array.ctypes.data

        self._struct = _CPlan(
            self.n, len(self.indices), len(self._rhs), len(self._jac), len(self._linear_rows),
            self._rhs.address, self._jac.address,
            at(self._linear_rows), at(self._linear_ptr), at(self._linear_cols), at(self._linear_values),
            at(self._linear_constant), at(self.indices), at(self.diagonal), at(self._linear_matrix),
            at(self.Z), at(self.F), at(self.R), at(self.A), at(self.mass), at(self.c), at(self.base),
            at(self._scale))
        self.plan = ctypes.c_void_p(ctypes.addressof(self._struct))
        self._native = self.runtime = runtime

