"""A backward differentiation formula on points at any distances, and what it reads of the steps before.

The polynomial through the new point and those at distances ``d`` before it has there the slope of the equations:

    x1 = sum(beta_i x_i) + b f1,      1/b = sum(1 / d_i),      beta_i = b / d_i prod(d_j / (d_j - d_i), j != i)

E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, section III.5. Formulas divide
differences of points by their distance, and with it the digits that they have lost: of two that are near to each other
only the later one counts. How much the second one counts is a smooth function of the length of the step: its end moves
with its length without a jump, for events are located on it.

From the point x0 at which a history begins, where the slope f0 is known, the trapezoidal rule leads, also where there
is but one point more, near to it:

    x1 = x0 + a f0 + b f1,      a = b = d_0 / 2
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# A distance between points that is this part of the next one, or less, is too small; up to twice as much, nearly so.
NEAR = 0.01


def chosen(times: Sequence[float], count: int) -> list[int]:
    """Which of the `times` at which steps began, latest first, are far enough apart: `count` at most."""
    taken, gap = [0], 0.0
    for number in range(1, len(times)):
        if len(taken) == count:
            break
        before = times[taken[-1]] - times[number]
        if before > NEAR * gap:
            taken.append(number)
            gap = before
    return taken


def share(d: Sequence[float]) -> tuple[float, float]:
    """How much the second point counts, 0 to 1, and the derivative of that in ``d_1 / d_0``."""
    if len(d) == 1 or not d[0]:
        return 0.0, 0.0
    u = (d[1] / d[0] - 1) / NEAR - 1
    return (0.0, 0.0) if u <= 0 else (1.0, 0.0) if u >= 1 else (u * u * (3 - 2 * u), 6 * u * (1 - u) / NEAR)


def extrapolation(d: Sequence[float]) -> list[float]:
    """Weights of points at these distances, nearest first: ``prod(d_j / (d_j - d_i), j != i)``."""
    weights = []
    for i, here in enumerate(d):
        weight = 1.0
        for j, there in enumerate(d):
            if i != j:
                weight *= there / (there - here)
        weights.append(weight)
    return weights


def plain(d: Sequence[float]) -> tuple[float, list[float]]:
    """``b``, and ``beta`` of points at these distances, nearest first, that all count."""
    if len(d) == 1:
        return d[0], [1.0]
    b = 1 / sum(1 / each for each in d)
    return b, [b / each * weight for each, weight in zip(d, extrapolation(d), strict=True)]


def formula(d: Sequence[float], highest: int, begun: bool = False) -> tuple[float, np.ndarray, float]:
    """``b``, ``beta``, (points,), and ``a`` of a formula of this order at most on points at these distances, nearest
    first; `begun`: with the last of them the history begins, by the trapezoidal rule.
    """
    b, beta, a = 0.0, np.zeros(len(d)), 0.0
    for weight, _, rows, by_slope in _parts(d, highest, begun):
        one, of_points = plain([d[row] for row in rows])
        b += weight * one * (1 - by_slope / 2)
        beta[rows] += weight * np.array(of_points)
        a += weight * one * by_slope / 2
    return b, beta, a


def slopes(d: Sequence[float], highest: int, begun: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of :func:`formula` in the distances: (points,) those of b, (points, points) of each beta in a row,
    (points,) of a.
    """
    count = len(d)
    of_b, of_beta, of_a, of_ratio = np.zeros(count), np.zeros((count, count)), np.zeros(count), np.zeros(count)
    for weight, of_weight, rows, by_slope in _parts(d, highest, begun):
        at = [d[row] for row in rows]
        own_b, own_beta = _plain_slopes(at)
        own = np.zeros(count)
        own[rows] = weight * own_b
        of_beta[np.ix_(rows, rows)] += weight * own_beta
        if of_weight:
            of_ratio[:2] = -d[1] / d[0] ** 2, 1 / d[0]
            b, beta = plain(at)
            own += of_weight * b * of_ratio
            of_beta[rows] += of_weight * np.outer(beta, of_ratio)
        of_b += own * (1 - by_slope / 2)
        of_a += own * by_slope / 2
    return of_b, of_beta, of_a


def from_start(d: Sequence[float], begun: bool) -> bool:
    """Whether what counts where the second point does not is the trapezoidal rule, from the last one."""
    return begun and len(d) <= 2


def _parts(d: Sequence[float], highest: int, begun: bool) -> list[tuple[float, float, list[int], bool]]:
    """Formulas, by how much they count and the derivative of that in ``d_1 / d_0``: of all points, and of all but the
    second, or of the last one and its slope; of no step there is one.
    """
    count, (part, of_part), by_slope = len(d), share(d), from_start(d, begun)
    if not d[0]:
        return [(1.0, 0.0, [0], False)]
    rest = [count - 1] if by_slope else [0, *range(2, min(count, highest + 1))]
    both = [(part, of_part, list(range(min(count, highest))), False), (1 - part, -of_part, rest, by_slope)]
    return both if of_part else both[:1] if part else both[1:]


def _plain_slopes(d: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    if len(d) == 1:
        return np.ones(1), np.zeros((1, 1))
    (b, beta), at = plain(d), np.array(d)
    of_b = (b / at) ** 2
    apart = at - at[:, None]  # d_j - d_i
    np.fill_diagonal(apart, np.inf)
    of_log = of_b / b + 1 / at - 1 / apart
    np.fill_diagonal(of_log, of_b / b - 1 / at + (1 / apart).sum(axis=1))
    return of_b, np.array(beta)[:, None] * of_log


def with_slope(d: Sequence[float]) -> tuple[list[float], float]:
    """As :func:`extrapolation`, of a polynomial that has at the nearest point a given slope, too: also its weight."""
    first, rest = d[0], d[1:]
    whole, along = extrapolation(d), first
    for each in rest:
        along *= each / (each - first)
    # less `along` times the slope that the polynomial without it has there
    weights = [whole[0] - along * sum(1 / (each - first) for each in rest)]
    for i, here in enumerate(rest):
        slope = 1 / (first - here)
        for j, there in enumerate(rest):
            if i != j:
                slope *= (there - first) / (there - here)
        weights.append(whole[1 + i] - along * slope)
    return weights, along
