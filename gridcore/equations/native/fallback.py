"""The functions of ``runtime.c`` in numpy and scipy, by the same names and with the same arguments.

What a C function takes as a pointer is the array itself here, and a struct has its fields as attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..sparse import csc
from .interpreted import Interpreter

Array = np.ndarray


class Fallback:
    """The loops in numpy. There is one, :data:`FALLBACK`."""

    width = 0  # work arrays are not used
    mixed = 5

    place = staticmethod(Interpreter.place)

    @staticmethod
    def table(batches: Sequence[Any]) -> SimpleNamespace:
        """The batches, as ``add`` takes them."""
        return SimpleNamespace(batches=batches)

    plan = pattern = SimpleNamespace

    @staticmethod
    def functions(source: Any, prefix: str, head: str = "", /, **types: str) -> dict[str, Any]:
        """Of a C source: none."""
        return {}

    # ---- equations

    @staticmethod
    def add(count: int, table: Any, Z: Array, out: Array) -> None:
        """Out += the outputs of all batches."""
        for batch in table.batches:
            batch.add(Z, out)

    @classmethod
    def rhs(cls, p: Any) -> None:
        """F = right-hand side at Z."""
        p.F[:] = 0.0
        cls.add(p.n_rhs, p.rhs, p.Z, p.F)
        linear = csc((p.linear_values, p.linear_cols, p.linear_ptr), shape=(p.n, p.n_linear)).T
        p.F[p.linear_rows] += linear @ p.Z[: p.n] + p.linear_constant

    @classmethod
    def residual(cls, p: Any) -> None:
        """``R = base + c F(Z) - mass X``."""
        cls.rhs(p)
        p.R[:] = p.base + p.c * p.F[: p.n] - p.mass * p.Z[: p.n]

    @classmethod
    def matrix(cls, p: Any) -> bool:
        """``A = diag(mass) - diag(c) F_X``; returns whether it is finite."""
        p.minus_c[: p.n] = -p.c
        p.A[:-1] = p.minus_c[p.row_of] * p.linear_matrix[:-1]
        p.A[p.diagonal] += p.mass
        for batch in p.jac.batches:
            batch.add(p.Z, p.A, p.minus_c)
        return bool(np.isfinite(p.A[:-1]).all())

    @classmethod
    def jacobian(cls, p: Any, out: Array) -> None:
        """Out = F_X."""
        out[:] = p.linear_matrix
        cls.add(p.n_jac, p.jac, p.Z, out)

    @classmethod
    def linearise(cls, p: Any, count: int, table: Any, entries: int, out: Array) -> None:
        """Out = F_X, and behind it the `entries` that other batches add up."""
        cls.jacobian(p, out[: p.nnz + 1])
        out[p.nnz + 1:] = 0.0
        cls.add(count, table, p.Z, out[p.nnz + 1:])

    @classmethod
    def newton(cls, p: Any, tol: float) -> float:
        """X += R; max ``(|R_i| - noise_i) / (scale_i + lesser |X_i|)``, or 0; the next R unless below `tol`."""
        X, before = p.Z[: p.n], np.abs(p.Z[: p.n])
        X += p.R
        norm = float(np.max((np.abs(p.R) - p.noise) / (p.scale + np.minimum(before, np.abs(X))), initial=0.0))
        if not norm <= tol:
            cls.residual(p)
        return norm

    @staticmethod
    def mix(n: int, row: int, many: int, least: float, weight: Array, steps: Array, changes: Array, last: Array,
            made: Array, gram: Array, g: Array) -> None:
        """Anderson mixing of a correction `g` with the last ones, the newest of which goes to `row`."""
        if row >= 0:
            np.add(g - last, made, out=steps[row])
            np.multiply(g - last, weight, out=changes[row])
        last[:] = g
        Y = changes[:many]
        if many and np.isfinite(Y @ (g * weight)).all():
            g -= np.linalg.lstsq(Y.T, g * weight, rcond=least**0.5)[0] @ steps[:many]
        made[:] = g

    # ---- matrices of a fixed pattern

    @staticmethod
    def shifted(p: Any, m: Array, scale: Array, J: Array) -> bool:
        """Values = ``diag(m) + diag(scale) J``; returns whether they are finite."""
        np.multiply(scale[p.row], J if p.at is None else J[p.at], out=p.values)
        p.values[p.diagonal] += m[p.row[p.diagonal]]
        return bool(np.isfinite(p.values).all())

    @staticmethod
    def sum(p: Any, s: Array, U: Array, t: Array, V: Array) -> None:
        """Values = ``diag(s) U + diag(t) V``."""
        np.add(s[p.row] * U, t[p.row] * V, out=p.values)

    @staticmethod
    def times(count: int, p: Any, values: Array, rows: Array, out: Array, add: bool) -> None:
        """``A row_i`` for each row, added to `out` or in its place."""
        out[:] = (_matrix(p, values) @ rows.T).T + (out if add else 0.0)

    @staticmethod
    def times_transposed(count: int, p: Any, values: Array, rows: Array, out: Array, add: bool) -> None:
        """``A^T row_i`` for each row, added to `out` or in its place."""
        out[:] = (_matrix(p, values).T @ rows.T).T + (out if add else 0.0)


def _matrix(p: Any, values: Array) -> Any:
    return csc((values, p.row, p.ptr), (p.n_rows, p.n_columns))


FALLBACK = Fallback()
