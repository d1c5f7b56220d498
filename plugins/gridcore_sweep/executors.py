"""Where tasks run: in this process, in processes of this machine, or on a Dask cluster; one interface.

An executor calls ``function(shared, task)`` for every task and hands back what came of each as soon as it is there, in
whatever order. `shared` goes to every worker once, tasks are sent as there is room for them, and a worker that dies
costs what it was working on: that is run again elsewhere. A task whose worker dies again is given up, with an error in
place of its result; the others are not touched.

``function`` is a function of a module, for workers find it by its name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

from gridcore.errors import GridcoreError, MissingDependency

Function = Callable[[Any, Any], Any]
Outcomes = Generator["Outcome", None, None]


@dataclass(frozen=True)
class Outcome:
    """What came of a task: its number, and its value or else its error."""

    number: int
    value: Any = None
    error: BaseException | None = None


class Executor(Protocol):
    """Runs tasks, some at a time."""

    def run(self, function: Function, shared: Any, tasks: Sequence[Any]) -> Outcomes:
        """What came of every task, as it comes. Closing the iterator stops what is running."""


def executor(processes: int | None = None, dask: str | None = None) -> Executor:
    """The executor for so many processes of this machine, or for a Dask cluster.

    Parameters
    ----------
    processes : int, optional
        By default as many as this process may use CPUs. With one, tasks run in this very process.
    dask : str, optional
        Address of a Dask scheduler, ``"tcp://10.0.0.5:8786"``.

    Raises
    ------
    GridcoreError
        If both are given, the number is less than one, or the package distributed is not there.
    """
    if dask is not None:
        if processes is not None:
            raise GridcoreError("processes are of this machine: a Dask cluster has its own (give one of the two)")
        try:
            from .dask import DaskCluster
        except ModuleNotFoundError:
            raise MissingDependency("a Dask cluster needs the package distributed: "
                                    "pip install 'gridcore[dask]'") from None
        return DaskCluster(dask)
    count = len(os.sched_getaffinity(0)) if processes is None else processes
    if not isinstance(count, Integral) or count < 1:
        raise GridcoreError(f"processes = {count!r} must be a whole number, at least 1")
    if count == 1:
        return InProcess()
    from .processes import LocalProcesses

    return LocalProcesses(count)


def parallel(function: Function, shared: Any, tasks: Sequence[Any], *, processes: int | None = None,
             dask: str | None = None) -> list[Any]:
    """``[function(shared, task) for task in tasks]``, on several processes or machines.

    Parameters
    ----------
    function : callable
        Of a module, so that workers can import it.
    shared : object
        What all tasks need; sent to each worker once. Has to be picklable, as tasks and results.
    tasks : sequence
    processes, dask
        As for :func:`executor`.

    Raises
    ------
    Exception
        What the first task to fail raised; what is running is stopped.
    """
    out: list[Any] = [None] * len(tasks)
    with contextlib.closing(executor(processes, dask).run(function, shared, tasks)) as outcomes:
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
            out[outcome.number] = outcome.value
    return out


class InProcess:
    """One task after the other, here."""

    def run(self, function: Function, shared: Any, tasks: Sequence[Any]) -> Outcomes:
        """What came of every task, in their order."""
        for number, task in enumerate(tasks):
            try:
                outcome = Outcome(number, function(shared, task))
            except Exception as error:
                outcome = Outcome(number, error=error)
            yield outcome


def call(function: Function, shared: Any, task: Any) -> Any:
    """What a worker does: of an error the words travel, not the run that led to it."""
    try:
        return function(shared, task)
    except Exception as error:
        if getattr(error, "run", None) is not None:
            error.run = None  # type: ignore[attr-defined]
        raise
