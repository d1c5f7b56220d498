"""The grid of a run: the times at which a result is wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import numerics
from ..errors import CaseError

Spacing = float | Sequence[Sequence[float]]


def finest(step: Spacing) -> float:
    """The smallest step of a grid (s)."""
    return min(float(h) for _, h in step) if isinstance(step, Sequence) else float(step)


def grid(step: Spacing, t0: float, t_end: float) -> np.ndarray:
    """The points of a grid behind `t0`: of one spacing, or of several, each from its time on.

    Raises
    ------
    CaseError
        If a step is not a number greater than 0, or the spacings do not begin at `t0` and follow each other.
    """
    parts = [(float(begin), float(h)) for begin, h in step] if isinstance(step, Sequence) else [(t0, float(step))]
    begins = np.array([begin for begin, _ in parts])
    for _, h in parts:
        if not (np.isfinite(h) and h > 0):
            raise CaseError(f"step = {h!r} must be a number greater than 0")
    if not len(parts) or begins[0] != t0 or not (np.diff(begins) > 0).all():
        raise CaseError(f"step = {step!r}: pairs (from time, step) must begin at t0 = {t0:g} and follow each other")
    points = []
    for (begin, h), end in zip(parts, [*begins[1:], t_end], strict=True):
        end = min(end, t_end)
        count = max(int(np.ceil((end - begin) / h - numerics.SAME_TIME)), 0)
        points.append(np.minimum(begin + h * np.arange(1, count + 1), end))
    return np.concatenate(points)
