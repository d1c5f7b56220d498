"""All eigenvalues and eigenvectors of the reduced Jacobian, by LAPACK."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .linearisation import Linearisation
from .zeros import ZeroModes


@dataclass
class Spectrum:
    """Eigenvalues, and eigenvectors with ``left.T @ right`` of ones on the diagonal.

    Attributes
    ----------
    values : (m,) complex array
    right, left : (n_x, m) complex arrays
        ``A right = right diag(values)``, ``left.T A = diag(values) left.T``: `left` is not conjugated.
    """

    values: np.ndarray
    right: np.ndarray
    left: np.ndarray


def dense_spectrum(linear: Linearisation) -> Spectrum:
    """All eigenvalues of the reduced Jacobian."""
    A = linear.reduced
    if not len(A):
        return Spectrum(*(np.zeros(shape, dtype=complex) for shape in ((0,), (0, 0), (0, 0))))
    values, left, right = scipy.linalg.eig(A, left=True, right=True, overwrite_a=False, check_finite=False)
    values, right, left = (part.astype(complex, copy=False) for part in (values, right, left))
    np.conjugate(left, out=left)
    left /= np.einsum("ij,ij->j", left, right)
    return Spectrum(values, right, left)


def without(spectrum: Spectrum, zeros: ZeroModes) -> Spectrum:
    """A spectrum without the eigenvalues that stand for exact zeros: those whose eigenvectors lie in their space."""
    if not len(zeros):
        return spectrum
    # The outer vectors differ in scale by the units of the states: rows are scaled to what zero's own vectors have
    basis, _ = np.linalg.qr(zeros.right)
    outside = spectrum.right - basis @ (basis.T @ spectrum.right)
    far = np.linalg.norm(outside, axis=0) / np.linalg.norm(spectrum.right, axis=0)
    gone = np.argsort(far, kind="stable")[: len(zeros)]
    kept = np.setdiff1d(np.arange(len(far)), gone)
    return Spectrum(spectrum.values[kept], spectrum.right[:, kept], spectrum.left[:, kept])
