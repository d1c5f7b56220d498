"""GMRES for many right-hand sides at once, preconditioned by factors of a nearby matrix.

Each right-hand side has its own Krylov space; products, solves and orthogonalisation are made for all
of them together, as rows of one array.

Y. Saad, M. H. Schultz, GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear
systems, SIAM J. Sci. Stat. Comput. 7(3), 1986.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Map = Callable[[np.ndarray], np.ndarray]


def gmres(product: Map, precondition: Map, right: np.ndarray, guess: np.ndarray, tolerance: float,
          limit: int, small: float = 0.0) -> tuple[np.ndarray, int, bool]:
    """Solve ``A x_i = b_i`` for all rows i.

    Parameters
    ----------
    product, precondition : callable
        Of rows (K, n): ``A x_i``, and what solves a nearby system; the latter may work in place.
    right, guess : (K, n) arrays
    tolerance : float
        Of the preconditioned residual, in the Euclidean norm, relative to the solution's largest entry.
    limit : int
        Iterations at most.
    small : float
        A solution with a smaller largest entry counts as one of this size.

    Returns
    -------
    x : (K, n) array
    iterations : int
    converged : bool
    """
    residual = precondition(right - product(guess))
    beta = np.linalg.norm(residual, axis=1)
    allowed = tolerance * np.maximum(np.maximum(np.abs(guess).max(axis=1), np.abs(residual).max(axis=1)), small)
    count = len(right)
    basis = [_normalised(residual, beta)]
    R = np.zeros((count, limit, limit))
    turns: list[tuple[np.ndarray, np.ndarray]] = []
    g = np.zeros((count, limit + 1))
    g[:, 0] = beta
    made = 0
    while made < limit and (np.abs(g[:, made]) > allowed).any():
        w = precondition(product(basis[made]))
        column = np.zeros((count, made + 2))
        for i, v in enumerate(basis):
            column[:, i] = (w * v).sum(axis=1)
            w -= column[:, i, None] * v
        column[:, -1] = np.linalg.norm(w, axis=1)
        basis.append(_normalised(w, column[:, -1]))
        for i, (c, s) in enumerate(turns):
            above, below = column[:, i].copy(), column[:, i + 1].copy()
            column[:, i], column[:, i + 1] = c * above + s * below, c * below - s * above
        length = np.hypot(column[:, made], column[:, made + 1])
        safe = np.where(length > 0, length, 1.0)
        c, s = np.where(length > 0, column[:, made] / safe, 1.0), column[:, made + 1] / safe
        turns.append((c, s))
        column[:, made] = length
        R[:, : made + 1, made] = column[:, :-1]
        g[:, made + 1], g[:, made] = -s * g[:, made], c * g[:, made]
        made += 1
    if not made:
        return guess, 0, True
    triangle = R[:, :made, :made]
    spent = np.abs(np.einsum("kii->ki", triangle)) == 0  # a row that was solved before the others
    triangle[:, np.arange(made), np.arange(made)] += spent
    y = np.linalg.solve(triangle, g[:, :made, None])[:, :, 0]
    return guess + sum(y[:, i, None] * basis[i] for i in range(made)), made, bool((np.abs(g[:, made]) <= allowed).all())


def _normalised(rows: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Rows of length one; those of no length stay zero."""
    out: np.ndarray = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    return out
