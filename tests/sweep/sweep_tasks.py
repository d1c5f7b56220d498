"""What workers are given to do in these tests; in a module of its own, so that they can import it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

import gridcore as gc


def square(shared: float, task: float) -> float:
    """Of the task, plus what is shared."""
    return task * task + shared


def where(shared: None, task: int) -> int:
    """The process that does it; slow enough for others to take part."""
    time.sleep(0.05)
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


def diverge(shared: None, task: float) -> None:
    """An error that carries a run, which is nothing to send through a pipe."""
    error = gc.errors.ConvergenceError("no solution", t=task)
    error.run = gc.simulate(gc.build("smib"), t_end=0.02)
    raise error


def final_angle(case: gc.Case, values: dict[str, float]) -> np.ndarray:
    """As an estimation would use it: a recording's scenario to what is compared with it."""
    system = gc.build(case).with_values(values)
    return gc.simulate(system, t_end=0.3)["GEN2", "delta"]


def log_and_wait(folder: Path, task: int) -> int:
    """Leaves its process id behind, and takes long."""
    (folder / str(os.getpid())).touch()
    time.sleep(60)
    return task


def interrupts_ignored(shared: None, task: int) -> bool:
    """Whether Ctrl-C is nothing to this process."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN
