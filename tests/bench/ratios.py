"""How the benchmarks take times, and how they tell what they found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass
class Ratio:
    """A ratio of two times of one run.

    Attributes
    ----------
    what : str
    value : float
    target : float or None
        What it must not exceed.
    detail : str
        The times themselves.
    """

    what: str
    value: float
    target: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        target = "" if self.target is None else f"(at most {self.target:g}{'' if self.met else ': MISSED'})"
        return f"{self.what:<74} {self.value:>8.3f}  {target:<20} {self.detail}"

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.target is None or self.value <= self.target


def best(*functions: Callable[[], Any], rounds: int = 7, clock: Callable[[], float] = time.perf_counter
         ) -> list[float]:
    """Shortest time of each function (s), taken in turn so that a busy moment hits all of them."""
    times = [float("inf")] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            began = clock()
            function()
            times[k] = min(times[k], clock() - began)
    return times


def repeat(function: Callable[[], Any], times: int) -> Callable[[], None]:
    """A function that calls `function` so many times: for what is too short to be timed alone."""
    def repeated() -> None:
        for _ in range(times):
            function()

    return repeated


def show(title: str, ratios: Iterable[Ratio]) -> bool:
    """Print ratios as they come; whether all targets are met."""
    print(title)
    met = True
    for ratio in ratios:
        print(f"  {ratio}", flush=True)
        met &= ratio.met
    return met
