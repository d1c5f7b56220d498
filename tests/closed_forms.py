"""Solutions that need no integrator: matrix exponentials, impacts of a ball, a sine between limits."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

A1 = np.array([[1.0, -100.0], [10.0, 1.0]])
A2 = np.array([[1.0, 10.0], [-100.0, 1.0]])


def hiskens_pai(t_end: float) -> tuple[list[float], np.ndarray]:
    """Switching times up to `t_end` of Hiskens & Pai's example, and the state there, by matrix exponentials."""
    t, x, first, times = 0.0, np.array([0.0, 1.0]), True, []
    while True:
        A, slope = (A1, 2.75) if first else (A2, 0.36)

        def gap(s: float, A: np.ndarray = A, slope: float = slope, x: np.ndarray = x) -> float:
            y = expm(A * s) @ x
            return float(y[1] - slope * y[0])

        grid = np.arange(1e-6, 0.2, 1e-3)  # far finer than half a turn, pi / sqrt(1000) = 0.1
        signs = np.sign([gap(s) for s in grid])
        k = int(np.flatnonzero(signs[1:] != signs[:-1])[0])
        wait = brentq(gap, grid[k], grid[k + 1], xtol=1e-15, rtol=1e-14)
        if t + wait > t_end:
            return times, expm(A * (t_end - t)) @ x
        t, x, first = t + wait, expm(A * wait) @ x, not first
        times.append(t)


def impacts(height: float, restitution: float, count: int, g: float = 9.81) -> list[float]:
    """Times at which a ball dropped from `height` hits the floor."""
    fall = math.sqrt(2 * height / g)
    return [fall * (1 + 2 * sum(restitution**k for k in range(1, n))) for n in range(1, count + 1)]


# Of `Limited`, ``dx/dt = cos(t)`` between -1/2 and 1/2 from 0: it rises to the limit, stays until the
# cosine changes sign, falls by one, stays, rises by one.
LIMITED_TIMES = [math.pi / 6, math.pi / 2, math.pi, 3 * math.pi / 2, 2 * math.pi]
