"""A sweep on two processes against the same on one: how long every fault, at a bus or on a branch, may last."""

from __future__ import annotations

import os
import time
from typing import Any

from gridcore_sweep.executors import parallel
from gridcore_sweep.study import Study, study
from gridcore_sweep.worker import Setup, Task, work

from .ratios import Ratio, show

CASE = "ieee39"
ALL = {"faults": "all", "line_faults": "all", "clear": "critical", "within": 0.01}


def _timed(setup: Setup, task: Task) -> tuple[int, float, Any]:
    """The process that does it, the CPU time that it has taken since it began to live, and the row."""
    row = work(setup, task).row
    return os.getpid(), time.process_time(), row


def on(made: Study, processes: int) -> tuple[float, dict[int, float], list[Any]]:
    """Wall time, CPU time of each process that worked, and the rows."""
    before = time.process_time()
    began = time.perf_counter()
    done = parallel(_timed, made.setup, made.tasks, processes=processes)
    wall = time.perf_counter() - began
    cpu: dict[int, float] = {}
    for process, seconds, _ in done:
        cpu[process] = max(cpu.get(process, 0.0), seconds)
    if os.getpid() in cpu:  # what this process did before is not the sweep's
        cpu[os.getpid()] -= before
    return wall, cpu, [row for *_, row in done]


def measure(case: str = CASE, t_end: float = 5.0, rounds: int = 1, asked: dict[str, Any] = ALL) -> list[Ratio]:
    """Two processes against one: by the clock, and by the CPU time of the process that works longest.

    On a machine that does nothing else the two agree, but for what the processes take from each other; on one that
    is busy only the second means anything.
    """
    made = study(case, contingencies=asked, t_end=t_end)
    walls, longest = [float("inf")] * 2, [float("inf")] * 2
    for _ in range(rounds):
        rows = []
        for k, processes in enumerate((1, 2)):
            wall, cpu, found = on(made, processes)
            walls[k], longest[k] = min(walls[k], wall), min(longest[k], max(cpu.values()))
            rows.append(found)
        assert rows[0] == rows[1]
    told = f"{len(made.tasks)} scenarios of {case}"
    return [Ratio("two processes / one, wall time", walls[1] / walls[0], 1 / 1.8,
                  f"{walls[1]:.2f} s, {walls[0]:.2f} s, {told}"),
            Ratio("two processes / one, CPU time of the busier", longest[1] / longest[0], 1 / 1.8,
                  f"{longest[1]:.2f} s, {longest[0]:.2f} s")]


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
