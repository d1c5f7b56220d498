"""Eigenvalues that are exactly zero, and known to be so from the structure of the equations.

Where no infinite bus holds an island, all its angles may be turned together and nothing changes: turning is an
eigenvector of zero. If in addition nothing depends on the common speed (no governor, no damping), zero is a double
eigenvalue with one eigenvector only, and what a numerical method finds in its place is a pair of some 1e-7 that
means nothing. Here the eigenvector is not recognised by a small number but constructed: the direction in which the
voltages of an island turn, completed by whatever must turn with them, is looked for in the null space of F_X; and
the second zero is there if the left null vector is orthogonal to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gridcore.contract import Bus
from gridcore.linear import SingularMatrix

from .linearisation import Linearisation

ROTATION, SPEED, INTEGRATOR, CONSTANT = "rotation", "common speed", "integrator", "constant"

# A row of F_X r is zero if it is below this part of the sum of its terms' magnitudes ...
_NULL = 1e-8
# ... or of its largest coefficient times the largest entry of r, where all of its terms are round-off themselves.
_ROUNDING = 1e-10
# Of normalised left and right null vectors: a product that is smaller is zero.
_ORTHOGONAL = 1e-9


@dataclass(frozen=True)
class ZeroModes:
    """An invariant subspace of zero: biorthogonal bases, and what each vector is.

    Attributes
    ----------
    right, left : (n_x, count) arrays
        ``left.T @ right`` is the unit matrix.
    labels : list of str
    """

    right: np.ndarray
    left: np.ndarray
    labels: list[str]

    def __len__(self) -> int:
        return len(self.labels)


def zero_modes(linear: Linearisation) -> ZeroModes:
    """The zero eigenvalues that the structure implies."""
    n = len(linear.x)
    none = ZeroModes(np.zeros((n, 0)), np.zeros((n, 0)), [])
    directions, labels = _candidates(linear)
    if not labels:
        return none
    try:
        null = _NullSpace(linear, directions)
        kept = null.kept()
        if len(kept) < len(labels):  # left vectors would have a part in what is no null vector
            together = null.combined([k for k in range(len(labels)) if k not in kept])
            labels = [labels[k] for k in (*kept, *np.abs(together).argmax(axis=0))]
            if not labels:
                return none
            null = _NullSpace(linear, np.hstack([directions[:, kept], directions @ together]))
            kept = null.kept()
    except SingularMatrix:
        return none
    kept = [k for k in kept if _is_null(null.K.T.tocsc(), null.left[:, k])]
    if not kept:
        return none
    R, W = null.right[:, kept], null.left[:, kept]
    labels = [labels[k] for k in kept]
    sizes = np.outer(np.linalg.norm(W[:n], axis=0), np.linalg.norm(R[:n], axis=0))
    left, values, right = np.linalg.svd(W[:n].T @ R[:n] / sizes)
    double = np.flatnonzero(values <= _ORTHOGONAL)
    if len(double):
        chain = R / np.linalg.norm(R[:n], axis=0) @ right.T[:, double]
        cochain = W / np.linalg.norm(W[:n], axis=0) @ left[:, double]
        R, W = np.hstack([R, null.generalised(chain)]), np.hstack([W, null.generalised(cochain, transposed=True)])
        labels += [SPEED] * len(double)
    R, W = R[:n], W[:n]
    return ZeroModes(R, W @ np.linalg.inv(W.T @ R).T, labels)


def _candidates(linear: Linearisation) -> tuple[np.ndarray, list[str]]:
    """Directions (n, count) that a null vector may have a part in: each island's voltages turned, states that nothing
    reads, and states that nothing drives (an integrator whose gain is zero): what follows them completes their vectors.
    """
    system, Z, n_x = linear.system, linear.Z, len(linear.x)
    place = np.full(system.n, -1)
    place[np.concatenate([linear.x, linear.y])] = np.arange(n_x + len(linear.y))
    columns, labels = [], []
    if system.islands.buses:
        buses = np.array(system.islands.buses)
        vr, vi, on = (system.layout.index(buses, Bus, name) for name in ("Vr", "Vi", "energised"))
        count, island = system.islands.components(Z)
        island = island[system.islands.bus_places]
        for k in range(count):
            here = (island == k) & (Z[on] == 1)
            if here.any():
                turned = np.zeros(n_x + len(linear.y))
                turned[place[vr[here]]], turned[place[vi[here]]] = -Z[vi[here]], Z[vr[here]]
                columns.append(turned)
                labels.append(ROTATION)
    sizes = abs(linear.matrix)
    unread, constant = (np.asarray(part.sum(axis=axis)).ravel() == 0
                        for axis, part in enumerate((sizes[:, :n_x], sizes[:n_x])))
    for state in np.flatnonzero(unread | constant):
        columns.append(np.eye(1, n_x + len(linear.y), int(state))[0])
        labels.append(INTEGRATOR if unread[state] else CONSTANT)
    return np.array(columns).T, labels


class _NullSpace:
    """Null vectors of F_X, right and left, with given parts in given directions: by one bordered factorisation."""

    def __init__(self, linear: Linearisation, directions: np.ndarray):
        K = linear.matrix
        self.n_x, self.n = len(linear.x), K.shape[0]
        count = directions.shape[1]
        random = np.random.default_rng(0).standard_normal((self.n, count))
        largest = abs(K).max(axis=1).toarray().ravel()
        scale = np.sqrt(np.where(largest > 0, largest, 1.0))[:, None]
        border = sp.block_array([[K, sp.csc_matrix(random * scale)], [sp.csc_matrix(directions.T), None]]).tocsc()
        border.sort_indices()
        self.lu = linear.system.system.linear_solver.analyse(self.n + count, border.indptr, border.indices).factors()
        self.lu.factor(border.data)
        self.K = K
        wanted = np.zeros((count, self.n + count))
        wanted[:, self.n:] = np.eye(count)
        solved = self.lu.solve(wanted.copy())
        self.right, self.lacks = solved[:, : self.n].T, solved[:, self.n:].T
        self.left = self.lu.tsolve(wanted.copy())[:, : self.n].T

    def kept(self) -> list[int]:
        """Which of the directions have a null vector."""
        return [k for k in range(self.right.shape[1]) if _is_null(self.K, self.right[:, k])]

    def combined(self, others: list[int]) -> np.ndarray:
        """Combinations of other directions, (count, kept), that have one together: where what each lacks cancels.

        States that nothing drives move the common speed, each by itself, and all but one of their combinations do not.
        """
        _, _, combinations = np.linalg.svd(self.lacks[:, others])
        found = np.zeros((self.right.shape[1], len(others)))
        found[others] = combinations.T
        return found[:, [k for k in range(len(others)) if _is_null(self.K, self.right @ found[:, k])]]

    def generalised(self, chain: np.ndarray, transposed: bool = False) -> np.ndarray:
        """What the matrix takes to the states of these null vectors."""
        rhs = np.zeros((chain.shape[1], self.lu.n))
        rhs[:, : self.n_x] = chain[: self.n_x].T
        return (self.lu.tsolve(rhs) if transposed else self.lu.solve(rhs))[:, : self.n].T


def _is_null(A: sp.csc_matrix, v: np.ndarray) -> bool:
    size = abs(A)
    largest = size.max(axis=1).toarray().ravel() * np.abs(v).max(initial=0.0)
    return bool((np.abs(A @ v) <= _NULL * (size @ np.abs(v)) + _ROUNDING * largest).all())
