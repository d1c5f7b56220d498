"""Where tasks run: in this process, in processes of this machine, or on a Dask cluster; one interface.

An executor calls ``function(shared, task)`` for every task and hands back what came of each as soon as it is there, in
whatever order. `shared` goes to every worker once, tasks are sent as there is room for them, and a worker that dies
costs what it was working on: that is run again elsewhere. A task whose worker dies again is given up, with an error in
place of its result; the others are not touched.

``function`` is a function of a module, for workers find it by its name.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any, Protocol

from gridcore.errors import GridcoreError, MissingDependency

Function = Callable[[Any, Any], Any]
Outcomes = Generator["Outcome", None, None]

AHEAD = 2  # tasks sent for each worker: one to work on, one to go on with


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
    if count < 1:
        raise GridcoreError(f"processes = {count} must be at least 1")
    return InProcess() if count == 1 else LocalProcesses(count)


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


class LocalProcesses:
    """Processes of this machine.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int):
        self.count = count

    def run(self, function: Function, shared: Any, tasks: Sequence[Any]) -> Outcomes:
        """What came of every task, as it comes."""
        waiting = deque(range(len(tasks)))
        suspects: set[int] = set()
        while waiting:
            # of those that were under way when a worker died it is not known whose fault it was: one at a time
            alone = bool(suspects)
            pool = _Pool(1 if alone else min(self.count, len(waiting)), function, shared)
            try:
                for number, future in pool.results(tasks, deque([waiting.popleft()]) if alone else waiting):
                    error = future.exception()
                    if not isinstance(error, BrokenProcessPool):
                        suspects.discard(number)
                        yield Outcome(number, None if error else future.result(), error)
                    elif not pool.started:
                        raise GridcoreError("worker processes die as they start" + _HINT)
                    elif number in suspects:
                        suspects.discard(number)
                        yield Outcome(number, error=GridcoreError("the process that ran it died, twice"))
                    else:
                        suspects.add(number)
                        waiting.appendleft(number)
            finally:
                pool.close()


_HINT = "; in a script, what starts them belongs under: if __name__ == '__main__':"


class _Pool:
    """Processes that end when this one does, or closes the pipe that they all watch."""

    def __init__(self, count: int, function: Function, shared: Any):
        if multiprocessing.parent_process() is not None and threading.main_thread() is threading.current_thread():
            raise GridcoreError("a worker process cannot start others" + _HINT)
        context = multiprocessing.get_context("spawn")
        watched, self._alive = context.Pipe(duplex=False)
        self.room = AHEAD * count
        self._started = context.Event()
        self._pool = ProcessPoolExecutor(count, context, _prepare, (self._started, watched, function, shared))
        self._watched = watched

    @property
    def started(self) -> bool:
        """Whether any of the processes came to life."""
        return self._started.is_set()

    def results(self, tasks: Sequence[Any], waiting: deque[int]) -> Iterator[tuple[int, Future[Any]]]:
        """Number and future of every task that is done or lost; `waiting` is emptied as there is room."""
        sent: dict[Future[Any], int] = {}
        broken = False
        while sent or (waiting and not broken):
            while waiting and len(sent) < self.room and not broken:
                number = waiting.popleft()
                try:
                    with _interrupts_ignored():  # what is started now is not for the terminal's Ctrl-C
                        sent[self._pool.submit(_call, tasks[number])] = number
                except BrokenProcessPool:
                    waiting.appendleft(number)
                    broken = True
            for future in wait(sent, return_when=FIRST_COMPLETED).done:
                broken |= isinstance(future.exception(), BrokenProcessPool)
                yield sent.pop(future), future

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._alive.close()
        self._watched.close()
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started inside never see an interrupt from the keyboard; this one deals with them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_job: tuple[Function, Any]


def _prepare(started: Event, watched: Connection, function: Function, shared: Any) -> None:
    """In a new worker: what all tasks need, and a watch on the process that started it."""
    global _job
    _job = function, shared
    threading.Thread(target=_leave_with, args=(watched,), daemon=True).start()
    started.set()


def _leave_with(watched: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        watched.recv()
    os._exit(0)


def _call(task: Any) -> Any:
    return call(*_job, task)


def call(function: Function, shared: Any, task: Any) -> Any:
    """What a worker does: of an error the words travel, not the run that led to it."""
    try:
        return function(shared, task)
    except GridcoreError as error:
        if getattr(error, "run", None) is not None:
            error.run = None  # type: ignore[attr-defined]
        raise
