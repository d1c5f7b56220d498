"""Processes of this machine, each at the end of a pipe of its own.

A worker has one task at a time, so when it dies it is known what it was doing, and the others do not notice. Where it
is safe workers are copies of this process, which has imported and built what they need; elsewhere they start from
nothing.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from gridcore.errors import GridcoreError

from .executors import Function, Outcome, Outcomes, call

_HINT = "; in a script, what starts them belongs under: if __name__ == '__main__':"


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
        struck: set[int] = set()
        crew: list[_Worker] = []
        try:
            while crew or waiting:
                while waiting and len(crew) < min(self.count, len(waiting) + sum(w.busy for w in crew)):
                    crew.append(_Worker(function, shared, crew))
                for worker in _heard(crew):
                    number, answer = worker.number, worker.answer()
                    if answer is None:
                        crew.remove(worker)
                        worker.end()
                        if number is None:
                            raise GridcoreError("worker processes die as they start" + _HINT)
                        if number not in struck:
                            struck.add(number)
                            waiting.appendleft(number)
                            continue
                        answer = None, GridcoreError("the process that ran it died, twice")
                    elif waiting:  # before anything else: it must not wait for what is done with its answer
                        following = waiting.popleft()
                        worker.give(following, tasks[following])
                    else:
                        crew.remove(worker)
                        worker.end()
                    if number is not None:
                        yield Outcome(number, *answer)
        finally:
            for worker in crew:
                worker.end()


def _heard(crew: Sequence[_Worker]) -> list[_Worker]:
    """Those that have something to say, or have died; waits until there is one."""
    said = wait([w.pipe for w in crew])
    return [w for w in crew if w.pipe in said]


class _Worker:
    """A process, from this side.

    Attributes
    ----------
    number : int or None
        Of the task that it has; none before its first answer, which says that it is there.
    """

    def __init__(self, function: Function, shared: Any, crew: Sequence[_Worker]):
        how = start_method()
        self.number: int | None = None
        self.pipe, its = how.Pipe()
        ours = [self.pipe, *(w.pipe for w in crew)] if how.get_start_method() == "fork" else []
        self._process = how.Process(target=_serve, args=(its, ours, function, shared), daemon=True)
        with interrupts_held(), its:
            self._process.start()

    @property
    def busy(self) -> bool:
        """Whether it has a task."""
        return self.number is not None

    def give(self, number: int, task: Any) -> None:
        """The next task."""
        self.number = number
        with contextlib.suppress(OSError):  # it has died since: its answer will say so
            self.pipe.send_bytes(pickle.dumps(task))

    def answer(self) -> tuple[Any, BaseException | None] | None:
        """Value and error of its task, or None if it has died."""
        try:
            answer: tuple[Any, BaseException | None] = pickle.loads(self.pipe.recv_bytes())
        except (EOFError, OSError):
            return None
        return answer

    def end(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def start_method() -> Any:
    """How workers are started: as copies only where no other thread can hold a lock that a copy would wait for."""
    others = [thread for thread in threading.enumerate()
              if thread is not threading.main_thread() and not isinstance(thread, threading.Timer)]
    if sys.platform == "linux" and not others:
        return multiprocessing.get_context("fork")
    if multiprocessing.parent_process() is not None and threading.main_thread() is threading.current_thread():
        raise GridcoreError("a worker process cannot start others" + _HINT)
    return multiprocessing.get_context("spawn")


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """An interrupt from the keyboard waits: a process started inside never sees it, this one does afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker ------------------------------------------------------------------------------------------------------


def _serve(pipe: Connection, ours: Sequence[Connection], function: Function, shared: Any) -> None:
    """Answer tasks, until who sends them is gone; `ours` are ends of pipes that a copy must not hold open."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # leaves it to the one that started it
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    for end in ours:
        end.close()
    tasks: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, tasks), daemon=True).start()
    with contextlib.suppress(OSError):
        pipe.send_bytes(pickle.dumps((None, None)))
        while True:
            pipe.send_bytes(_answer(function, shared, tasks.get()))


def _listen(pipe: Connection, tasks: queue.SimpleQueue[bytes]) -> None:
    """Take tasks from the pipe; leave at once, whatever is running, when there is nobody at the other end."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            tasks.put(pipe.recv_bytes())
    os._exit(0)


def _answer(function: Function, shared: Any, task: bytes) -> bytes:
    try:
        return pickle.dumps((call(function, shared, pickle.loads(task)), None))
    except Exception as error:
        return pickle.dumps((None, _sendable(error)))


def _sendable(error: Exception) -> Exception:
    """The error with where it happened; in words, if it is nothing to send."""
    if not isinstance(error, GridcoreError):
        error.add_note(f"in a worker process:\n{traceback.format_exc()}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return GridcoreError(f"{type(error).__name__}: {error}")
    return error
