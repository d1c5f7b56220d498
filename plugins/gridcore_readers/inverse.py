"""Numbers to write so that reading them, units converted, gives every bit of what is there."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

NEAR = 4  # neighbours in the last place that are tried on each side
OFFSETS = (0, 1, -1, 2, -2)  # likewise, where several numbers are found together


def inverse(reading: Callable[[float], float], wanted: float, guess: float) -> float:
    """The shortest number near a guess that is read as what is wanted; the guess where there is none."""
    if not math.isfinite(guess) or reading(guess) == wanted == guess:
        return guess
    found = [x for x in _around(guess, NEAR) if reading(x) == wanted]
    return min(found, key=lambda x: len(repr(x)), default=guess)


def inverse_of_all(reading: Callable[[Sequence[float]], object], wanted: object, guess: Sequence[float]) -> list[float]:
    """Several numbers that are read together, near a guess likewise."""
    for steps in sorted(itertools.product(OFFSETS, repeat=len(guess)), key=lambda each: sum(map(abs, each))):
        tried = [_step(x, n) for x, n in zip(guess, steps)]
        if reading(tried) == wanted:
            return tried
    return list(guess)


def _around(x: float, count: int) -> list[float]:
    short = [float(f"{x:.{digits}g}") for digits in (15, 16)]
    return [x, *short, *(_step(x, n) for n in range(-count, count + 1) if n)]


def _step(x: float, steps: int) -> float:
    """That many neighbours further."""
    for _ in range(abs(steps)):
        x = math.nextafter(x, math.copysign(math.inf, steps)) if x else x
    return x
