"""Eigenpairs to round-off, with their left vectors: inverse iteration from both sides."""

from __future__ import annotations

import numpy as np

from gridcore.linear import EPS, SingularMatrix

from .dense import Spectrum
from .shifted import Shifted

_OFFSET = 1e-7  # of the shift from the eigenvalue, relative to 1 + |lambda|: close, and the pencil not singular
_RIGHT, _LEFT = 2, 3  # steps of inverse iteration: from a right vector known to 1e-9, from a random left one
_CLUSTER = 1e-5  # eigenvalues that are closer, relative to 1 + |lambda|, are made biorthogonal together
_REAL = 1e-6  # an imaginary part that is smaller, relative to 1 + |lambda|, may be round-off: the vector decides


def polish(operator: Shifted, value: complex, vector: np.ndarray) -> tuple[complex, np.ndarray]:
    """A right eigenpair to round-off; leaves the operator at a shift beside the eigenvalue.

    An eigenvalue is real when it is so to some digits and its vector is, for two complex ones may be as near to the
    axis; or when it is so to round-off.
    """
    shift = _beside(operator, value)
    theta = 0j
    for _ in range(_RIGHT):
        vector = vector / np.linalg.norm(vector)
        after = operator.apply(vector)
        theta, vector = vector.conj() @ after, after
    value = shift + 1 / theta
    vector = vector / np.linalg.norm(vector)
    square = vector @ vector  # of a real vector times a phase: the square of the phase
    if abs(value.imag) <= _REAL * (1 + abs(value)) and abs(square) > 1 - _REAL:
        return complex(value.real), (vector / np.sqrt(square)).real + 0j
    if abs(value.imag) <= EPS * (1 + abs(value)):  # a multiple one, of whose vectors this is a complex combination
        part = max(vector.real, vector.imag, key=np.linalg.norm)
        return complex(value.real), part / np.linalg.norm(part) + 0j
    return complex(value), vector


def _beside(operator: Shifted, value: complex) -> complex:
    for part in (1.0, 30.0, 1000.0):
        shift = value + part * _OFFSET * (1 + abs(value)) * (1.0 if value.imag == 0 else 1.0 + 0.5j)
        try:
            operator.shift(shift)
            return shift
        except SingularMatrix:
            continue
    raise SingularMatrix(0)


def refine(operator: Shifted, values: np.ndarray, vectors: np.ndarray) -> tuple[Spectrum, float]:
    """Left vectors to scaled right ones; what has an imaginary part comes back as pairs.

    Returns
    -------
    spectrum : Spectrum
        In the states' own units.
    residual : float
        The largest, see :class:`gridcore_smallsignal.cover.Certificate`.
    """
    count = len(values)
    new, right, left, worst = values.copy(), vectors.copy(), np.zeros_like(vectors), 0.0
    random = np.random.default_rng(1)
    for k in range(count):
        new[k], right[:, k] = polish(operator, values[k], vectors[:, k])
        w = random.standard_normal(len(right)) + 1j * random.standard_normal(len(right))
        for _ in range(_LEFT):
            w = operator.apply_transposed((w.real + 0j if new[k].imag == 0 else w) / np.linalg.norm(w))
        left[:, k] = w / np.linalg.norm(w)
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
