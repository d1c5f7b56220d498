"""Losses of squared residuals: those of :func:`scipy.optimize.least_squares`, with two derivatives each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Loss = tuple[np.ndarray, np.ndarray, np.ndarray]


def _linear(z: np.ndarray) -> Loss:
    return z, np.ones_like(z), np.zeros_like(z)


def _soft_l1(z: np.ndarray) -> Loss:
    root = np.sqrt(1 + z)
    return 2 * (root - 1), 1 / root, -0.5 / root**3


def _huber(z: np.ndarray) -> Loss:
    outside = np.maximum(z, 1.0)
    return (np.where(z > 1, 2 * np.sqrt(outside) - 1, z), outside**-0.5,
            np.where(z > 1, -0.5 * outside**-1.5, 0.0))


def _cauchy(z: np.ndarray) -> Loss:
    return np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2


def _arctan(z: np.ndarray) -> Loss:
    return np.arctan(z), 1 / (1 + z * z), -2 * z / (1 + z * z) ** 2


#: ``rho(z)``, ``rho'(z)`` and ``rho''(z)`` by name; z is the squared residual over the squared scale.
LOSSES: dict[str, Callable[[np.ndarray], Loss]] = {
    "linear": _linear, "soft_l1": _soft_l1, "huber": _huber, "cauchy": _cauchy, "arctan": _arctan}
