"""The right-hand side F and the matrix diag(mass) - diag(c) F_X: what is shared, and buffers to evaluate it in.

Devices whose equations are linear in X (lines, transformers, shunts) are not evaluated again at each iteration: between
events their Jacobian is a constant matrix. The hot functions are those of :mod:`.native`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .kernel import Batch, Batches
from .layout import Layout
from .native import Runtime
from .sparse_map import SparseMap

_NEAR = 4  # neighbours that an error tells


class Equations:
    """The equations of a system as kernels, with the pattern of their Jacobian. Immutable, shared by all threads.

    Parameters
    ----------
    layout : Layout
    rhs, jac : sequences of Batch
        Nonlinear devices: rows of F, and entries of F_X scattered into the pattern.
    linear_rhs, linear_jac : sequences of Batch
        The same for devices that are linear in X.
    pattern : SparseMap
        Of F_X together with the diagonal: `indptr`, `indices`, and `columns`, the column of each entry.
    runtime : Native or Fallback
    scale : (n,) array
        The size of each variable that matters.
    """

    def __init__(self, layout: Layout, rhs: Sequence[Batch], jac: Sequence[Batch], linear_rhs: Sequence[Batch],
                 linear_jac: Sequence[Batch], pattern: SparseMap, runtime: Runtime, scale: np.ndarray):
        self.layout, self.n, self.runtime, self.scale = layout, layout.n, runtime, scale
        self.rhs, self.jac = Batches(rhs, runtime), Batches(jac, runtime)
        self.linear_rhs, self.linear_jac = list(linear_rhs), list(linear_jac)
        self.indptr, self.indices, self.columns = pattern.indptr, pattern.indices, pattern.columns
        self.diagonal = np.flatnonzero(self.indices == self.columns).astype(np.int32)
        # the linear part of F as rows of a CSR matrix
        rows = [np.zeros(0, dtype=np.int32), *(b.scatter.ravel() for b in self.linear_rhs)]
        self.linear_rows = np.flatnonzero(np.bincount(np.concatenate(rows))[:self.n]).astype(np.int32)
        touched = np.concatenate([rows[0], *(b.scatter.ravel() for b in self.linear_jac)])
        keep = np.isin(self.indices, self.linear_rows) & np.isin(np.arange(len(self.indices)), touched)
        order = np.lexsort((self.columns[keep], self.indices[keep]))
        self.linear_entries = np.flatnonzero(keep)[order].astype(np.int32)
        places = np.searchsorted(self.linear_rows, self.indices[self.linear_entries])
        self.linear_ptr = np.searchsorted(places, np.arange(len(self.linear_rows) + 1)).astype(np.int32)
        self.linear_cols = self.columns[self.linear_entries]
        read = np.concatenate([rows[0], *(b.gather.ravel() for b in (*self.linear_rhs, *self.linear_jac))])
        self.linear_reads = np.bincount(read[read >= self.n], minlength=layout.size) > 0  # parameters and modes


class Workspace:
    """Buffers in which the equations of a system are evaluated: one for each run, sweep and thread.

    Parameters
    ----------
    equations : Equations
    factors : callable
        ``factors(loose=False)``: empty factors for the matrix; `loose`: they only precondition an iteration.
    time_slope : callable
        Z to the partial derivative of F in time, (n,), or None where no equation reads the time.

    Attributes
    ----------
    Z : (size,) array
        ``[X; p; modes; t]``, from which kernels gather; `X` is its beginning, (n,).
    mass, c, base : (n,) arrays
        What a step sets: it solves ``R = base + c F - mass X = 0``, whose matrix is ``A = diag(mass) - diag(c) F_X``.
    F : (n + 1,) array
        Right-hand side; the last entry collects what is dropped.
    R, step : (n,) and (n + 1,) arrays
        Minus the residual of these equations; it is the beginning of `step`, which has room for one unknown more.
    A : (nnz + 1,) array
        Entries of their matrix; the last one collects what is dropped.
    entries : (nnz,) array
        Those of A that are kept; finite where :meth:`matrix` returns them.
    scale : (n,) array
        The size of each variable that matters, in its unit: errors of X are measured against ``scale + |X|``.
    noise : (n,) array
        What round-off was seen to make of corrections, which count for what they are above it.
    moved : float
        The part of ``scale + |X|`` by which the last correction moved X, or less if it left less.
    differential : (n,) bool array
        The rows that are differential under the present modes; set by the driver of a run.
    pivots : Factors
        Empty ones: iterations in this workspace take others as these, so that they share the pivots that they find.
    guards : callable
        Z to a margin for each guard, (k,): negative where it fires at Z, as the driver of a run now sees it; for
        steppers that find roots themselves. Without a driver there are none, k = 0.
    """

    def __init__(self, equations: Equations, factors: Callable[..., Any],
                 time_slope: Callable[[np.ndarray], np.ndarray | None]):
        e, n, nnz = equations, equations.n, len(equations.indices)
        self.equations, self.factors, self.pivots, self._time_slope = e, factors, factors(loose=True), time_slope
        self.n, self.runtime = n, e.runtime
        self.indptr, self.indices, self.columns, self.diagonal = e.indptr, e.indices, e.columns, e.diagonal
        self.Z = np.zeros(e.layout.size)
        self.X = self.Z[:n]
        self.F, self.step, self.A = np.zeros(n + 1), np.zeros(n + 1), np.zeros(nnz + 1)
        self.R, self.entries = self.step[:-1], self.A[:-1]
        self.mass, self.c, self.base, self._minus_c = np.zeros(n), np.ones(n), np.zeros(n), np.zeros(n + 1)
        self.scale, self.noise, self.moved = e.scale, np.zeros(n), 0.0
        self.differential = np.zeros(n, dtype=bool)
        self.guards: Callable[[np.ndarray], np.ndarray] = lambda Z: np.zeros(0)
        self._linear_matrix = np.zeros(nnz + 1)
        self._linear_values, self._linear_constant = np.zeros(len(e.linear_entries)), np.zeros(len(e.linear_rows))
        self._linear_of = np.full(len(self.Z), np.nan)  # the linear part is that of these parameters and modes
        self.plan = e.runtime.plan(
            n=n, nnz=nnz, n_rhs=len(e.rhs.batches), n_jac=len(e.jac.batches), n_linear=len(e.linear_rows),
            rhs=e.rhs.table, jac=e.jac.table, linear_rows=e.linear_rows, linear_ptr=e.linear_ptr,
            linear_cols=e.linear_cols, linear_values=self._linear_values, linear_constant=self._linear_constant,
            row_of=e.indices, diagonal=e.diagonal, linear_matrix=self._linear_matrix, Z=self.Z, t=self.Z[-1:], F=self.F,
            R=self.R, A=self.A, mass=self.mass, c=self.c, base=self.base, minus_c=self._minus_c, scale=self.scale,
            noise=self.noise)

    def place(self, column: int) -> str:
        """Where an unknown stands: ``device.name``, and what it hangs on, down to the bus, or what is at that node."""
        layout, label = self.equations.layout, self.equations.layout.label(column)
        near = [label.rpartition(".")[0]]
        for id in near:  # which grows
            near += [host for host in layout.instances[layout.number[id]].ports.values() if host not in near]
        near = near[1:] or [each.id for each in layout.instances if near[0] in each.ports.values()]
        return f"{label} ({', '.join(near[:_NEAR])}{', ...' * (len(near) > _NEAR)})" if near else label

    def time_slope(self) -> np.ndarray | None:
        """Partial derivative of F in time, (n,); None where no equation reads the time."""
        return self._time_slope(self.Z)

    def load(self, Z: np.ndarray) -> None:
        """Take over a whole buffer, and recompute what depends on parameters and modes."""
        self.Z[:] = Z
        self.refresh()

    def refresh(self, changed: np.ndarray | None = None) -> None:
        """Recompute the linear part, if what it reads of parameters and modes, all or only those `changed`, is new."""
        e = self.equations
        reads = np.flatnonzero(e.linear_reads) if changed is None else changed[e.linear_reads[changed]]
        if (self.Z[reads] == self._linear_of[reads]).all():
            return
        self._linear_of[reads] = self.Z[reads]
        self._linear_matrix[:] = 0.0
        for batch in e.linear_jac:
            batch.add(self.Z, self._linear_matrix)
        self._linear_values[:] = self._linear_matrix[e.linear_entries]
        at_zero = self.Z.copy()
        at_zero[: self.n] = 0.0
        constant = np.zeros(self.n + 1)
        for batch in e.linear_rhs:
            batch.add(at_zero, constant)
        self._linear_constant[:] = constant[e.linear_rows]

    def rhs(self) -> np.ndarray:
        """F(Z), (n,) view of the buffer."""
        self.runtime.rhs(self.plan)
        return self.F[: self.n]

    def residual(self) -> None:
        """``R = base + c F(Z) - mass X``: minus the residual."""
        self.runtime.residual(self.plan)

    def matrix(self) -> np.ndarray:
        """``A = diag(mass) - diag(c) F_X(Z)``, the (nnz,) entries in the pattern: `entries`, if they are finite."""
        return self.entries if self.runtime.matrix(self.plan) else self.entries.copy()

    def terms(self, size: np.ndarray) -> np.ndarray:
        """``|A| size``, (n,): what equations are sums of where unknowns have this size; leaves A in `entries`."""
        return np.bincount(self.indices, np.abs(self.matrix()) * size[self.columns], self.n)

    def jacobian(self) -> np.ndarray:
        """F_X(Z), the (nnz,) entries in the pattern, in a new array."""
        out = np.empty(len(self.indices) + 1)
        self.runtime.jacobian(self.plan, self.runtime.place(out))
        return out[:-1]

    def lineariser(self, batches: Batches, entries: int) -> Callable[[], np.ndarray]:
        """A function that gives F_X(Z), then what other batches add up, each with an entry more."""
        runtime, table, plan, count = batches.runtime, batches.table, self.plan, len(batches.batches)
        size, place, run = len(self.indices) + entries + 2, runtime.place, runtime.linearise

        def linearise() -> np.ndarray:
            out = np.empty(size)
            run(plan, count, table, entries, place(out))
            return out

        return linearise

    def newton(self, tol: float) -> float:
        """X += R; max ``(|R_i| - noise_i) / (scale_i + lesser |X_i|)``, or 0; leaves the next R unless below `tol`."""
        self.moved = self.runtime.newton(self.plan, tol)
        return self.moved
