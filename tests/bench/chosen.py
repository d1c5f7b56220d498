"""Steps that are chosen against fixed ones with the same error, by CPU time: ``python -m tests.bench chosen``.

The error is the largest of any variable, as a part of ``scale + |x|``, at times that docs/work_precision.py and
docs/trbdf2.py look at, against IDA with a tolerance of 1e-10; of the 2000-bus system, where its files are, against
steps of 1 ms. What fixed steps take at that error is on the line, in logarithms, through the runs beside it.
`against_ieee118`: a run of ieee39 over one of ieee118 in steps of 10 ms, a fault at 1 s in both.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import gridcore as gc
from gridcore.equilibrium import Equilibrium

from .ratios import Ratio, best, repeat, show
from .suite import build, page

RTOL = 1e-4
CHOSEN = {"step": "auto", "method": "bdf", "rtol": RTOL, "atol": RTOL / 100}


@dataclass
class Problem:
    """A system, its states at times to look at, and the fixed steps that chosen ones are compared with; a run of chosen
    ones is repeated where it is too short to be timed alone.
    """

    name: str
    system: Equilibrium
    looks: Sequence[float]
    true: list[np.ndarray]
    steps: Sequence[float]
    chosen: dict[str, Any]
    target: float
    rounds: int = 7
    repeats: int = 1

    def error(self, options: dict[str, Any]) -> float:
        """The largest of any variable at those times."""
        ends = (gc.simulate(self.system, t, **options).X[-1] for t in self.looks)
        return float(page("work_precision").largest_error(self.system, ends, self.true))

    def ratio(self) -> Ratio:
        """Chosen steps over fixed ones with their error."""
        hows = [self.chosen, *({"step": step} for step in self.steps)]
        errors = [self.error(how) for how in hows]
        runs: list[Callable[[], Any]] = [partial(gc.simulate, self.system, self.looks[-1], **how) for how in hows]
        runs[0] = repeat(runs[0], self.repeats)
        spent, *fixed = best(*runs, rounds=self.rounds, clock=time.process_time)
        spent /= self.repeats
        at_error = at_equal_error(errors[0], errors[1:], fixed)
        told = ", ".join(f"{1e3 * step:g} ms: {error:.1e}, {of:.3g} s"
                         for step, error, of in zip(self.steps, errors[1:], fixed, strict=True))
        how = ", ".join(f"{name} = {value}" for name, value in self.chosen.items() if name != "atol")
        return Ratio(f"{self.name}: {how} / fixed steps at an error of {errors[0]:.1e}", spent / at_error, self.target,
                     f"{spent:.3g} s; {told}")


def at_equal_error(error: float, errors: Sequence[float], times: Sequence[float]) -> float:
    """The time at an error, from those of finer and finer steps: by the two whose errors are next to it."""
    later = next((k for k, of in enumerate(errors) if of <= error and k), len(errors) - 1)
    slope = math.log(times[later] / times[later - 1]) / math.log(errors[later] / errors[later - 1])
    return times[later] * (error / errors[later]) ** slope


def swings() -> Problem:
    """npcc140 with its 45 events."""
    of, system = page("work_precision"), gc.build("npcc140")
    return Problem("npcc140", system, of.LOOK, of.by_ida(system, of.LOOK), (0.005, 0.0025, 0.00125), CHOSEN, 1 / 3)


def minutes() -> Problem:
    """300 s of recovery loads after a line trip, at the error that fixed steps of 10 ms have."""
    of = page("trbdf2")
    system = of.minutes()
    return Problem("recovery loads, 300 s", system, of.LOOK, of.by_ida(system, of.LOOK), (0.02, 0.01),
                   {"step": "auto", "method": "bdf", "rtol": 1e-3, "atol": 1e-5}, 1 / 20, repeats=10)


def large() -> Problem | None:
    """The 2000 buses as published, 450 located events; None where their files are not there."""
    of, system = page("work_precision"), build("activsg2000")
    if system is None:
        return None
    return Problem("activsg2000", system, of.LOOK, of.references("activsg2000", system), (0.02, 0.01, 0.005),
                   {"step": "auto", "method": "theta", "rtol": 2e-3, "atol": 2e-5}, 0.56, 2)


def against_ieee118(rounds: int = 15, t_end: float = 10.0) -> Ratio:
    """ieee39 by chosen steps over ieee118 by fixed ones."""
    one, other = gc.build("ieee39"), page("work_precision").ieee118()
    chosen, fixed = best(partial(gc.simulate, one, t_end, **CHOSEN), partial(gc.simulate, other, t_end, 0.01),
                         rounds=rounds, clock=time.process_time)
    return Ratio(f"ieee39, {t_end:g} s, rtol = {RTOL:g} / ieee118 in steps of 10 ms", chosen / fixed, None,
                 f"{1e3 * chosen:.1f} / {1e3 * fixed:.1f} ms")


PROBLEMS: dict[str, Callable[[], Problem | None]] = {"npcc140": swings, "minutes": minutes, "activsg2000": large}


def measure(rounds: int = 15) -> Iterator[Ratio]:
    """All of them."""
    yield against_ieee118(rounds)
    for problem in (of() for of in PROBLEMS.values()):
        if problem:
            yield problem.ratio()


if __name__ == "__main__":
    sys.exit(0 if show(__doc__.splitlines()[0], measure()) else 1)
