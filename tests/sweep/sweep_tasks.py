"""What workers are given to do in these tests; in a module of its own, so that they can import it."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import gridcore as gc
from gridcore_sweep.scenarios import digest
from gridcore_sweep.worker import Result, Setup, Task, work


def square(shared: float, task: float) -> float:
    """Of the task, plus what is shared."""
    return task * task + shared


def meet(folder: Path, task: int) -> int:
    """The process that does it, once there is another that does one, too."""
    (folder / str(os.getpid())).touch()
    while len(list(folder.iterdir())) < 2:
        time.sleep(0.01)
    return os.getpid()


def no_negative(shared: None, task: float) -> float:
    """A root, or an error."""
    if task < 0:
        raise ValueError(f"{task} has no root")
    return task**0.5


def die_first_time(marker: Path, task: int) -> int:
    """Task 3 kills its process, but only once."""
    if task == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def die_always(shared: None, task: int) -> int:
    """Task 3 kills its process, always."""
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def die_now_or_wait(folder: Path, task: int) -> list[int]:
    """Task 0 kills its process, twice; task 1 goes on after that, and says how often it was begun."""
    mark = folder / f"{task}-{len(list(folder.glob(f'{task}-*')))}"
    mark.touch()
    if task == 0:
        while not list(folder.glob("1-*")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)
    while len(list(folder.glob("0-*"))) < 2:
        time.sleep(0.01)
    return [len(list(folder.glob("1-*")))]


class Odd(Exception):
    """An error that cannot be pickled."""

    def __init__(self, words: str):
        super().__init__(words)
        self.more = lambda: words


def unsendable(shared: None, task: str) -> object:
    """A value, or an error, that does not go through a pipe."""
    if task == "error":
        raise Odd("this and that")
    return (lambda: None) if task else task


def diverge(shared: None, task: float) -> None:
    """An error that carries a run, which is nothing to send through a pipe."""
    error = gc.errors.ConvergenceError("no solution", t=task)
    error.run = gc.simulate(gc.build("smib"), t_end=0.02)
    raise error


def final_angle(case: gc.Case, values: dict[str, float]) -> np.ndarray:
    """As an estimation would use it: a recording's scenario to what is compared with it."""
    system = gc.build(case).with_values(values)
    return gc.simulate(system, t_end=0.3)["GEN2", "delta"]


def never(folder: Path, task: int) -> None:
    """Leaves its process id behind, and does not end."""
    (folder / str(os.getpid())).touch()
    threading.Event().wait()


def interrupts_ignored(shared: None, task: int) -> bool:
    """Whether Ctrl-C is nothing to this process."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


# A sweep that can be watched and held ------------------------------------------------------------------------------


def identity(task: Task) -> str:
    """What tells a scenario from the others, in one word."""
    return digest(sorted(task.values.items()))


def logged(log: Path, most: int, setup: Setup, task: Task) -> Result:
    """The work of a sweep; but its beginning leaves a line, and after so many of them it waits for the gate to open."""
    mine = identity(task), os.getpid()
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{mine[0]} {mine[1]}\n")  # one write: lines of several processes do not mix
    lines = begun(log)  # others may stand behind it by now
    if len(lines) - lines[::-1].index(mine) > most:
        while not gate(log).exists():
            time.sleep(0.01)
    return work(setup, task)


def gate(log: Path) -> Path:
    """It is open when it is there."""
    return log.with_suffix(".open")


def begun(log: Path) -> list[tuple[str, int]]:
    """Identity and process, every time that a scenario was begun."""
    lines: list[Any] = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [(scenario, int(process)) for scenario, process in lines]
