"""The grid of a run: the times at which a result is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numerics
from ..case import Base, convert
from ..errors import CaseError
from .checkpoints import AUTO

Spacing = float | str | Sequence[Sequence[float]]  # a text: AUTO
GRID = 0  # the number of its clock
STANDARD = 0.01  # s
POINTS = 50_000_000  # of a grid, which is in memory
LONGEST = 1e8  # s: three years; beyond, times are not told apart to 10 ns


def span(step: Any, t0: Any, t_end: Any, frequency: float) -> tuple[Spacing, float, float]:
    """Spacing, start and end of a run in seconds, as they are or from text with a unit: ``"20 ms"``, ``"5 cycles"``.

    It is a CaseError if one of them is no time, or the grid is none (see :func:`grid`).
    """
    def seconds(name: str, value: Any) -> float:
        try:
            return convert(value, "s", Base(frequency=frequency)) if isinstance(value, str) else float(value)
        except (CaseError, TypeError, ValueError, OverflowError):
            raise CaseError(f"{name} = {value!r} must be a number of seconds, or a text such as '20 ms'") from None

    t0, t_end = seconds("t0", t0), seconds("t_end", t_end)
    if not -LONGEST <= t0 < t_end <= LONGEST:
        raise CaseError(f"t_end = {t_end!r} must be a number after t0 = {t0:g}, and at most {LONGEST:g} s")
    step = step.tolist() if isinstance(step, np.ndarray) else step
    if step == AUTO:
        return step, t0, t_end
    if isinstance(step, str) or not isinstance(step, Sequence):
        step = seconds("step", step)
    elif not all(isinstance(part, Sequence) and len(part) == 2 for part in step):
        raise CaseError(f"step = {step!r} must be a number of seconds, or pairs (from time, step)")
    else:
        step = [(seconds("step", begin), seconds("step", h)) for begin, h in step]
    grid(step, t0, t_end)
    return step, t0, t_end


def finest(step: Spacing) -> float:
    """The smallest step of a grid (s); where steps are chosen by their error, that of the standard one."""
    return STANDARD if isinstance(step, str) else min(h for _, h in parts_of(step, 0.0, 0.0))


def parts_of(step: Spacing, begin: float, end: float) -> list[tuple[float, float]]:
    """A spacing as pairs (from time, step); steps that are chosen are one of them."""
    if isinstance(step, str):
        return [(begin, end - begin)]
    return [(begin, float(step))] if isinstance(step, float | int) else [(float(at), float(h)) for at, h in step]


def grid(step: Spacing, t0: float, t_end: float) -> np.ndarray:
    """The points of a grid behind `t0`: of one spacing, or of several, each from its time on; of ``"auto"`` the end.

    Raises
    ------
    CaseError
        If a step is not a number above 0, spacings do not begin at `t0` and follow each other, or points are too many.
    """
    if isinstance(step, str):
        return np.array([t_end])
    parts = parts_of(step, t0, t_end)
    begins = np.array([begin for begin, _ in parts])
    for _, h in parts:
        if not (np.isfinite(h) and h > 0):
            raise CaseError(f"step = {h!r} must be a number greater than 0")
    if not len(parts) or begins[0] != t0 or not (np.diff(begins) > 0).all():
        raise CaseError(f"step = {step!r}: pairs (from time, step) must begin at t0 = {t0:g} and follow each other")
    points = []
    for (begin, h), end in zip(parts, [*begins[1:], t_end], strict=True):
        end = min(end, t_end)
        count = np.ceil(max((end - begin) / h - numerics.SAME_TIME, 0.0))
        if not count <= POINTS:
            raise CaseError(f"step = {h!r}: a grid from {begin:g} to {end:g} s has {count:.3g} points, of at most "
                            f"{POINTS:,}")
        points.append(np.minimum(begin + h * np.arange(1, int(count) + 1), end))
    return np.concatenate(points)
