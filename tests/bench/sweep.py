"""Sweeps of all N-1 faults of ieee39 on two processes against the same on one."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from gridcore_sweep.study import Study, study
from gridcore_sweep.sweep import sweep
from gridcore_sweep.worker import Result, Setup, Task, work

from .ratios import Ratio, show

CASE = "ieee39"
FAULTS = {"faults": "all", "line_faults": "all"}
CRITICAL = {"faults": "all", "clear": "critical"}
TARGET = 1 / 1.8


@dataclass
class Cost:
    """What a sweep took (s).

    Attributes
    ----------
    wall : float
    bound : float
        What it takes at most where every worker has a CPU of its own, by CPU times: that of the process that leads,
        an equal share of that of the workers, from their birth, and what the longest task may stick out (R. L. Graham,
        "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17, 1969).
    """

    wall: float
    bound: float


def _metered(setup: Setup, task: Task) -> Result:
    """The work, and in place of its time the CPU time that its process has used up so far."""
    result = work(setup, task)
    result.seconds = time.process_time()
    return result


def on(made: Study, **where: Any) -> tuple[Cost, list[Any]]:
    """A sweep with a store, as any is: what it took, and what came of it."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("gridcore_sweep.sweep.work", _metered):
        began, before = time.perf_counter(), time.process_time()
        table = sweep(made, store=Path(folder, "sweep.db"), **where)
        wall, bound = time.perf_counter() - began, time.process_time() - before
    workers: dict[str, list[float]] = {}
    for result in table.results:
        workers.setdefault(result.worker, []).append(result.seconds)
    if where.get("processes") != 1:
        longest = max(np.diff(sorted([0.0, *used])).max() for used in workers.values())
        count = len(workers)
        bound += sum(map(max, workers.values())) / count + longest * (1 - 1 / count)
    return Cost(wall, bound), [(r.row, r.machines, r.error) for r in table.results]


def two_against_one(asked: dict[str, Any], case: str = CASE, t_end: float = 5.0, rounds: int = 1) -> list[Ratio]:
    """By the clock, and by CPU times; on a machine that is busy with other things only the second means anything."""
    made = study(case, contingencies=asked, t_end=t_end)
    costs: dict[int, list[Cost]] = {1: [], 2: []}
    for _ in range(rounds):
        tables = []
        for processes, found in costs.items():
            cost, table = on(made, processes=processes)
            found.append(cost)
            tables.append(table)
        assert tables[0] == tables[1]
    (wall_1, wall_2), (bound_1, bound_2) = ([min(getattr(c, name) for c in found) for found in costs.values()]
                                          for name in ("wall", "bound"))
    told = f"{len(made.tasks)} {'searches' if made.tasks[0].search else 'runs'} of {case}"
    return [Ratio("two processes / one, wall time", wall_2 / wall_1, TARGET, f"{wall_2:.2f} s, {wall_1:.2f} s, {told}"),
            Ratio("two processes / one, bound by CPU times", bound_2 / bound_1, TARGET,
                  f"{bound_2:.2f} s, {bound_1:.2f} s, {told}")]


def measure(rounds: int = 3) -> list[Ratio]:
    """One run for each fault, at buses and on branches; and a search of the critical clearing time at each bus."""
    return two_against_one(FAULTS, rounds=rounds) + two_against_one(CRITICAL)


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
