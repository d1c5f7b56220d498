"""Polynomials within a step, in its differential variables: of what is on the tape, so that nothing is solved again.

With ``s = (t - t0) / h``, ``d = X1 - X0`` and the slopes f0, f1 at both ends:

    parabola  X0 + s d + s (1 - s) (d - h f1)
    Hermite   X0 + s d + s (1 - s) ((1 - s) (h f0 - d) + s (d - h f1))

Between them algebraic variables are on a straight line, which is a guess: their equations are solved afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..tape import Step

if TYPE_CHECKING:
    from .linearised import Linearised


class Between(NamedTuple):
    """What values are within some steps, for integrals and samples: on polynomials through values at points.

    `at` (steps, q) are the points, the ends of a step first. Of values there: (steps, q) `weights` in that at a part of
    each step, `integrals` in that over it; (steps, q, q) `slopes` in those at the points, `shifts` in the derivatives
    of the integral in the times of these, where values stay.
    """

    at: np.ndarray
    weights: Callable[[np.ndarray], np.ndarray]
    integrals: np.ndarray
    slopes: Callable[[], np.ndarray]
    shifts: np.ndarray


def lines(t: np.ndarray, k: np.ndarray, end_weight: float) -> Between:
    """Straight lines in steps that begin at points `k`, with times `t`; integrals by a weight of their ends."""
    h, mean = (t[k + 1] - t[k])[:, None], np.array([1 - end_weight, end_weight])
    return Between(np.stack([k, k + 1], axis=1), lambda part: np.stack([1 - part, part], axis=1), h * mean,
                   lambda: np.array([[-1.0, 1.0]] * 2) / h[:, None], np.tile([-mean, mean], (len(k), 1, 1)))


def hermite(record: Step, points: Linearised, t: np.ndarray) -> np.ndarray:
    """(times, n) on the cubic through both ends of a step with the slopes there: of order three in the step's length.

    E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, eq. II.6.7.
    """
    s, X0, d = _ends(record, points, t)
    early, late = (_rises(record, points, k, d) for k in (record.k, record.k + 1))
    return X0 + s * (d + (1 - s) * ((1 - s) * (early - d) + s * (d - late)))


def parabola(record: Step, points: Linearised, t: np.ndarray) -> np.ndarray:
    """(times, n) on the parabola through both ends of a step with the slope at its end: of order two, for any step.

    The slope at the start, which may be that of a fast mode which the step has damped, is not used.
    """
    s, X0, d = _ends(record, points, t)
    return X0 + s * (d + (1 - s) * (d - _rises(record, points, record.k + 1, d)))


def _ends(record: Step, points: Linearised, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parts of the step, (times, 1); its start, and what it adds, (n,)."""
    X0 = points.state(record.k)
    return (t[:, None] - points.tape.times[record.k]) / record.h, X0, points.state(record.k + 1) - X0


def _rises(record: Step, points: Linearised, k: int, d: np.ndarray) -> np.ndarray:
    """``h f`` at point k, (n,); in algebraic rows `d`."""
    ws = points.at(k)
    return np.where(ws.differential, record.h * ws.rhs(), d)
