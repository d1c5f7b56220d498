"""Which mode is which when a parameter has changed: by their vectors, with smaller steps where these are in doubt."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from gridcore.errors import GridcoreError

from .modes import Modes

Point = np.ndarray

# Of two vectors of one mode; below it the step is halved.
_AGREEMENT = 0.7
_HALVINGS = 6


def changed(before: Modes, after: Modes) -> str:
    """Why no mode can be followed from one point to the other, their states not being the same; empty if they are."""
    if before.states == after.states:
        return ""
    names = sorted(".".join(state) for state in set(before.states) ^ set(after.states))
    return (f"the states are not the same any more ({', '.join(names[:3])}): a mode cannot be followed from here to "
            "there")


def match(before: Modes, numbers: Sequence[int], after: Modes) -> tuple[list[int], np.ndarray]:
    """Numbers that modes have later, and how well the vectors agree, 0 to 1; -1 and nan for one that is not there.

    Mode i before and mode j after agree by ``sqrt(|w_i^T v_j| |w_j^T v_i|)``, which does not depend on units. Only
    where the sparse method finds fewer than there are may one be missing.

    Raises
    ------
    GridcoreError
        If the states are not the same.
    """
    if told := changed(before, after):
        raise GridcoreError(told)
    known = np.array(numbers, dtype=int)
    found, agreed = np.full(len(known), -1), np.full(len(known), np.nan)
    there = np.flatnonzero(known >= 0)
    known = known[there]
    forth = np.abs(before.left[:, known].T @ after.right)
    back = np.abs(before.right[:, known].T @ after.left)
    agreement = np.minimum(np.sqrt(forth * back), 1.0)
    distance = np.abs(before.eigenvalues[known][:, None] - after.eigenvalues)
    cost = 1 - agreement + 1e-3 * distance / (1 + distance)
    rows, columns = linear_sum_assignment(cost)
    found[there[rows]], agreed[there[rows]] = columns, agreement[rows, columns]
    return found.tolist(), agreed


def follow(at: Callable[[Point], Modes], begin: Point, before: Modes, numbers: Sequence[int], end: Point,
           after: Modes, halvings: int = _HALVINGS) -> tuple[list[int], np.ndarray]:
    """Follow modes from one point to another, with points between where their vectors do not agree.

    Parameters
    ----------
    at : callable
        The modes at a point.
    begin, end : arrays
    before, after : Modes
        Those at `begin` and `end`.
    numbers : sequence of int
        Of the modes at `begin`, -1 for one that is not there.

    Returns
    -------
    numbers : list of int
        Of the same modes at `end`.
    agreement : (modes,) array
        The worst on the way. What stays low to the last halving has met another mode: two eigenvalues that coincide
        there, behind which nothing says which is which. It stays low, too, where there is no equilibrium between, or
        one with other states.
    """
    found, agreement = match(before, numbers, after)
    if not halvings or not (agreement < _AGREEMENT).any():
        return found, agreement
    middle = 0.5 * (begin + end)
    try:
        between = at(middle)
    except GridcoreError:
        return found, agreement
    if changed(before, between):
        return found, agreement
    half, first = follow(at, begin, before, numbers, middle, between, halvings - 1)
    found, second = follow(at, middle, between, half, end, after, halvings - 1)
    return found, np.minimum(first, second)
