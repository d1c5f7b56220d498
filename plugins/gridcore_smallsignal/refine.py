"""Eigenpairs to round-off, with their left vectors: inverse iteration from both sides."""

from __future__ import annotations

import numpy as np

from gridcore.linsolve import SingularMatrix

from .dense import Spectrum
from .shifted import Shifted

_OFFSET = 1e-7     # of the shift from the eigenvalue: close, and the factorisation not singular
_ITERATIONS = 3
_CLUSTER = 1e-5


def refine(operator: Shifted, values: np.ndarray, vectors: np.ndarray) -> tuple[Spectrum, float]:
    """Refine eigenvalues with scaled right vectors; those with an imaginary part come back as pairs.

    Returns
    -------
    spectrum : Spectrum
        In the states' own units.
    residual : float
        The largest, see :class:`gridcore_smallsignal.cover.Certificate`.
    """
    count = len(values)
    right, left, worst = vectors.copy(), np.zeros_like(vectors), 0.0
    new = values.copy()
    random = np.random.default_rng(1)
    for k, value in enumerate(values):
        real = value.imag == 0
        shift = value + _OFFSET * (1 + abs(value)) * (1.0 if real else 1.0 + 0.5j)
        try:
            operator.shift(shift)
        except SingularMatrix:
            shift = value + 100 * _OFFSET * (1 + abs(value))
            operator.shift(shift)
        v, w = right[:, k], random.standard_normal(len(right)) + 0j
        if not real:
            w += 1j * random.standard_normal(len(right))
        for _ in range(_ITERATIONS):
            Bv, Bw = operator.apply(v / np.linalg.norm(v)), operator.apply_transposed(w / np.linalg.norm(w))
            v0, v, w = v / np.linalg.norm(v), Bv, Bw
        theta = (v0.conj() @ v) / (v0.conj() @ v0)
        new[k] = shift + 1 / theta
        if real:
            v = v / v[np.argmax(np.abs(v))]
            v, w, new[k] = v.real + 0j, w.real + 0j, new[k].real
        right[:, k], left[:, k] = v / np.linalg.norm(v), w / np.linalg.norm(w)
    if count:
        moved = operator.forward(right.T).T
        worst = float((np.linalg.norm(moved - right * new, axis=0) / np.maximum(1, np.abs(new))).max())
    _pair_up(new, right, left)
    complex_ones = new.imag != 0
    values = np.concatenate([new, new[complex_ones].conj()])
    right = np.hstack([right, right[:, complex_ones].conj()]) * operator.scale[:, None]
    left = np.hstack([left, left[:, complex_ones].conj()]) / operator.scale[:, None]
    return Spectrum(values, right, left), worst


def _pair_up(values: np.ndarray, right: np.ndarray, left: np.ndarray) -> None:
    """Scale left vectors to right ones; of eigenvalues that all but coincide, make them biorthogonal. In place."""
    left_over = set(range(len(values)))
    while left_over:
        k = min(left_over)
        cluster = [j for j in sorted(left_over) if abs(values[j] - values[k]) <= _CLUSTER * (1 + abs(values[k]))]
        left_over -= set(cluster)
        products = left[:, cluster].T @ right[:, cluster]
        left[:, cluster] = left[:, cluster] @ np.linalg.pinv(products, rcond=1e-12).T
