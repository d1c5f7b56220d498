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


def match(before: Modes, numbers: Sequence[int], after: Modes) -> tuple[list[int], np.ndarray]:
    """Numbers that modes have later, and how well the vectors agree, 0 to 1.

    Mode i before and mode j after agree by ``sqrt(|w_i^T v_j| |w_j^T v_i|)``, which does not depend on units.

    Raises
    ------
    GridcoreError
        If the states are not the same.
    """
    if before.states != after.states:
        changed = sorted(".".join(state) for state in set(before.states) ^ set(after.states))
        raise GridcoreError(f"the states are not the same any more ({', '.join(changed[:3])}): a mode cannot be "
                            "followed from here to there")
    numbers = list(numbers)
    forth = np.abs(before.left[:, numbers].T @ after.right)
    back = np.abs(before.right[:, numbers].T @ after.left)
    agreement = np.minimum(np.sqrt(forth * back), 1.0)
    distance = np.abs(before.eigenvalues[numbers][:, None] - after.eigenvalues)
    cost = 1 - agreement + 1e-3 * distance / (1 + distance)
    rows, columns = linear_sum_assignment(cost)
    return columns.tolist(), agreement[rows, columns]


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
        Of the modes at `begin`.

    Returns
    -------
    numbers : list of int
        Of the same modes at `end`.
    agreement : (modes,) array
        The worst on the way. What stays low to the last halving has met another mode: two eigenvalues that coincide
        there, behind which nothing says which is which.
    """
    found, agreement = match(before, numbers, after)
    if not halvings or agreement.min(initial=1.0) >= _AGREEMENT:
        return found, agreement
    middle = 0.5 * (begin + end)
    between = at(middle)
    half, first = follow(at, begin, before, numbers, middle, between, halvings - 1)
    found, second = follow(at, middle, between, half, end, after, halvings - 1)
    return found, np.minimum(first, second)
