"""What ten seconds of wecc240 with its fault cost per unknown, beside npcc140: ``python -m tests.bench wecc``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial

import gridcore as gc

from .ratios import Ratio, best, show

T_END, STEP, MOST = 10.0, 0.01, 1.5


def measure(rounds: int = 3, t_end: float = T_END) -> Iterator[Ratio]:
    """Time of a run over its unknowns: of the system with 37 converters over that of one with machines alone."""
    systems = [gc.build(name) for name in ("wecc240", "npcc140")]
    runs = [partial(gc.simulate, system, t_end, STEP) for system in systems]
    made = [run() for run in runs]
    times = best(*runs, rounds=rounds, clock=time.process_time)
    unknowns = [run.X.shape[1] for run in made]
    one, other = (spent / n for spent, n in zip(times, unknowns, strict=True))
    detail = " over ".join(f"{spent:.2f} s, {n} unknowns, {len(run.events)} events" for spent, n, run in zip(
        times, unknowns, made, strict=True))
    yield Ratio("wecc240 over npcc140, time per unknown", one / other, MOST, detail)


if __name__ == "__main__":
    sys.exit(0 if show(__doc__, measure()) else 1)
