"""One run of Arnoldi's method on ``(A - s I)^-1``, with what is known already kept out of it.

Known eigenvectors span an invariant subspace; on what is orthogonal to it, the operator followed by the projection has
exactly the remaining eigenvalues. So a run never finds an eigenvalue twice, and a run that starts afresh after all of a
disc was found must see nothing there. W. E. Arnoldi, Quart. Appl. Math. 9, 1951; locking: Y. Saad, Numerical Methods
for Large Eigenvalue Problems (2nd ed. 2011), section 6.2.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

_FIRST, _GROWTH = 12, 1.25  # convergence is looked at after so many steps, and whenever there are that many times more
_CONVERGED = 1e-9  # residual of a Ritz pair, relative to the Ritz value; it is polished to round-off afterwards
_DEPENDENT = 1e-9  # of the diagonal of R: vectors of length one with a smaller entry depend on those before
# The certified disc ends at this part of the distance of the nearest Ritz value that has not converged; of 37
# eigenvalues that are all but one, the nearest was 3 % nearer than that.
_MARGIN = 0.9


@dataclass
class Locked:
    """An invariant subspace: ``A V = V J``; orthonormal Q, ``(A - s)^-1 Q = Q T``."""

    Q: np.ndarray
    T: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, J: np.ndarray, shift: complex) -> Locked:
        """Of vectors in columns and their matrix J."""
        if not vectors.shape[1]:
            return cls(vectors, J)
        Q, R, order = scipy.linalg.qr(vectors / np.linalg.norm(vectors, axis=0), mode="economic", pivoting=True)
        rank = int((np.abs(np.diag(R)) > _DEPENDENT).sum())  # of vectors that all but coincide one is enough
        kept, R = order[:rank], R[:rank, :rank] * np.linalg.norm(vectors, axis=0)[order[:rank]]
        inverse = np.linalg.inv(J[np.ix_(kept, kept)] - shift * np.eye(rank))
        return cls(Q[:, :rank], np.linalg.solve(R.T, (R @ inverse).T).T)


@dataclass
class Found:
    """What a run found.

    Attributes
    ----------
    values : (m,) complex array
        Converged eigenvalues of A.
    vectors : (n, m) complex array
    radius : float
        Within this distance of the shift there is nothing but `values` and what was locked.
    steps : int
    """

    values: np.ndarray
    vectors: np.ndarray
    radius: float
    steps: int


def arnoldi(apply: Callable[[np.ndarray], np.ndarray], shift: complex, start: np.ndarray, locked: Locked,
            reach: float, most: int) -> Found:
    """Eigenvalues nearest to a shift that are not locked.

    Parameters
    ----------
    apply : callable
        ``(A - shift I)^-1`` on a vector.
    shift : complex
    start : (n,) complex array
    locked : Locked
    reach : float
        The distance within which all are wanted.
    most : int
        Steps.
    """
    n, Q = len(start), locked.Q
    most = min(most, n - Q.shape[1])
    V = np.zeros((most + 1, n), dtype=complex)
    H, G = np.zeros((most + 1, most), dtype=complex), np.zeros((Q.shape[1], most), dtype=complex)
    if most <= 0:
        return Found(np.zeros(0, dtype=complex), np.zeros((n, 0), dtype=complex), np.inf, 0)
    first = start - Q @ (Q.conj().T @ start)
    V[0] = first / np.linalg.norm(first)
    look = _FIRST
    for j in range(1, most + 1):
        w = apply(V[j - 1])
        size = np.linalg.norm(w)
        for _ in range(2):  # twice is enough: orthogonal to round-off
            turned = w.conj()  # of one vector, not of all that it is multiplied with
            g, h = (turned @ Q).conj(), (V[:j] @ turned).conj()
            w = w - Q @ g - h @ V[:j]
            G[:, j - 1] += g
            H[:j, j - 1] += h
        H[j, j - 1] = rest = np.linalg.norm(w)
        exhausted = bool(rest <= 1e-14 * size) or j == n - Q.shape[1]
        if not exhausted:
            V[j] = w / rest
        if j < min(look, most) and not exhausted:
            continue
        look = int(_GROWTH * j) + 1
        theta, y = scipy.linalg.eig(H[:j, :j], check_finite=False)
        residual = np.zeros(j) if exhausted else np.abs(rest * y[-1]) / np.linalg.norm(y, axis=0)
        converged = residual <= _CONVERGED * np.abs(theta)
        open_ = (np.abs(theta) + residual)[~converged].max(initial=0.0)
        radius = _MARGIN / open_ if open_ else np.inf
        if exhausted or radius >= reach or j == most:
            kept = np.flatnonzero(converged)
            return Found(shift + 1 / theta[kept], _vectors(V[:j], y[:, kept], theta[kept], G[:, :j], locked), radius, j)
    raise AssertionError("the last step returns")


def _vectors(V: np.ndarray, y: np.ndarray, theta: np.ndarray, G: np.ndarray, locked: Locked) -> np.ndarray:
    """Eigenvectors: Ritz vectors, with the part that projection took away."""
    u, g = V.T @ y, G @ y
    for k, value in enumerate(theta if len(locked.T) else ()):
        part = scipy.linalg.lstsq(value * np.eye(len(locked.T)) - locked.T, g[:, k], cond=1e-12)[0]
        u[:, k] += locked.Q @ part
    return u / np.linalg.norm(u, axis=0)
