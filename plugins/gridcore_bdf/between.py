"""Polynomials through the points of a run, where steps are so long that straight lines between these say too little.

A step is on the polynomial through its ends and the points beside them, by turns before and after, as far as nothing
switches between them. With ``l_j`` Lagrange's polynomials of the points ``t_j``, a value is ``p = sum(l_j r_j)``; and
where ``t_j`` moves and ``r_j`` stays, p moves by ``-p'(t_j) l_j``.
"""

from __future__ import annotations

import numpy as np

from gridcore.integrate import Between

# A point nearer to the next one than this part of the step is passed over: it divides what round-off leaves.
_NEAR = 0.1


def polynomials(t: np.ndarray, switched: list[int], k: np.ndarray, degree: int) -> Between:
    """Those of at most a degree in steps that begin at points `k` of a run with points at times `t`.

    `switched` are the points behind which something switched; the next point is of the same instant.
    """
    joined = np.ones(len(t), dtype=bool)  # to the next one, by a step
    joined[switched] = False
    at, used = _points(t, joined, k, degree + 1)
    h = (t[k + 1] - t[k])[:, None]
    s = (t[at] - t[k][:, None]) / np.where(h > 0, h, 1.0)
    s[:, 1] = 1.0  # also of a step of no length
    nodes, parts = np.polynomial.legendre.leggauss(degree // 2 + 1)  # exact for the degree
    integrals = h * sum(part / 2 * _lagrange(s, used, np.full(len(k), (1 + x) / 2))
                        for x, part in zip(nodes, parts, strict=True))
    slopes = _slopes(s, used)
    shifts = -slopes * (integrals / np.where(h > 0, h, 1.0))[:, :, None]
    shifts[:, 0, 0] -= 1.0
    shifts[:, 1, 1] += 1.0
    return Between(at, lambda part: _lagrange(s, used, part), integrals, lambda: slopes / h[:, :, None], shifts)


def _points(t: np.ndarray, joined: np.ndarray, k: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(steps, count) points of each step, its ends first; and which of them are used, where there are fewer."""
    sides = [_beside(t, joined, start, way, t[k + 1] - t[k], count - 2) for start, way in ((k, -1), (k + 1, 1))]
    by_turns = np.stack(sides, axis=2).reshape(len(k), -1)  # -1 where there is none
    order = np.argsort(by_turns < 0, axis=1, kind="stable")[:, : count - 2]
    beside = np.take_along_axis(by_turns, order, axis=1)
    at = np.column_stack([k, k + 1, np.where(beside < 0, k[:, None], beside)])
    return at, np.column_stack([np.ones((len(k), 2), dtype=bool), beside >= 0])


def _beside(t: np.ndarray, joined: np.ndarray, start: np.ndarray, way: int, h: np.ndarray, count: int) -> np.ndarray:
    """(steps, count) the points on one side of a step, the nearest first; -1 where there is none."""
    out = np.full((len(start), max(count, 0)), -1)
    found, here, goes_on = np.zeros(len(start), dtype=int), start.copy(), h > 0
    last = t[start]
    for _ in range(2 * count):
        ahead = here + way
        goes_on &= (ahead >= 0) & (ahead < len(t))
        ahead = np.where(goes_on, ahead, here)
        goes_on &= joined[np.minimum(ahead, here)]
        here = np.where(goes_on, ahead, here)
        new = goes_on & (found < count) & (np.abs(t[here] - last) >= _NEAR * h)
        out[new, found[new]] = here[new]
        last = np.where(new, t[here], last)
        found += new
    return out


def _differences(s: np.ndarray, used: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(steps, q, q) ``s_j - s_l``, 1 where they do not count; and where they do."""
    counts = used[:, :, None] & used[:, None, :] & ~np.eye(s.shape[1], dtype=bool)
    return np.where(counts, s[:, :, None] - s[:, None, :], 1.0), counts


def _lagrange(s: np.ndarray, used: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(steps, q) Lagrange's polynomials of the points at an x for each step."""
    differences, counts = _differences(s, used)
    ahead = np.where(counts, (x[:, None] - s)[:, None, :], 1.0)
    return np.where(used, (ahead / differences).prod(axis=2), 0.0)


def _slopes(s: np.ndarray, used: np.ndarray) -> np.ndarray:
    """(steps, q, q) the slopes of all of them, l, at each of the points, j."""
    differences, counts = _differences(s, used)
    weight = np.where(used, 1 / differences.prod(axis=2), 0.0)
    out = np.where(counts, weight[:, None, :] / np.where(used, weight, 1.0)[:, :, None] / differences, 0.0)
    own = np.where(counts, 1 / differences, 0.0).sum(axis=2)
    out[:, np.arange(s.shape[1]), np.arange(s.shape[1])] = own
    return out
