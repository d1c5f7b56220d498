"""Tasks on a Dask cluster, by the address of its scheduler."""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections import deque
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin, as_completed

from gridcore.errors import GridcoreError

from .executors import Function, Outcome, Outcomes, call

_PATIENCE = "30s"
_AHEAD = 2  # tasks sent for each thread of the cluster: one to work on, one to go on with

# One task at a time in a process: warnings are recorded, and the system last built is kept, for the whole process.
_one = threading.Lock()
_jobs: dict[str, tuple[Function, Any]] = {}


class DaskCluster:
    """The workers of a Dask cluster; gridcore has to be installed where they run.

    Parameters
    ----------
    address : str
        Of the scheduler, ``"tcp://10.0.0.5:8786"``.
    """

    def __init__(self, address: str):
        self.address = address

    def run(self, function: Function, shared: Any, tasks: Sequence[Any]) -> Outcomes:
        """What came of every task, as it comes; tasks of a worker that dies are run again by others.

        Raises
        ------
        GridcoreError
            If there is no scheduler at the address, or it has gone.
        """
        try:
            client = Client(self.address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise GridcoreError(f"no Dask scheduler at '{self.address}': {error}") from None
        job = uuid.uuid4().hex
        log = logging.getLogger("distributed.client")  # what it would tell is raised here
        before, log.disabled = log.disabled, True
        try:
            client.register_plugin(_Job(job, function, shared), name=job)
            yield from _results(client, job, tasks)
        except (CancelledError, OSError):
            raise GridcoreError(f"the Dask scheduler at '{self.address}' is gone; a sweep that has a store goes on "
                                "from there") from None
        finally:
            with contextlib.suppress(Exception):  # a cluster that is gone has nothing to be tidied up
                client.unregister_worker_plugin(job)
            client.close()
            log.disabled = before


def _results(client: Any, job: str, tasks: Sequence[Any]) -> Outcomes:
    waiting = deque(range(len(tasks)))
    # Dask gives up all that a worker had when it died, once too often: which of them it was is seen when it runs alone
    suspects: deque[int] = deque()
    sent: dict[str, tuple[int, bool]] = {}
    under_way = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def send(number: int, alone: bool = False) -> None:
        future = client.submit(_call, job, tasks[number], key=f"{job}-{number}{'-alone' if alone else ''}", pure=False)
        sent[future.key] = number, alone
        under_way.add(future)

    while sent or waiting or suspects:
        while waiting and len(sent) < _room(client):
            send(waiting.popleft())
        if not sent:
            send(suspects.popleft(), alone=True)
        future, value = next(under_way)
        if future.cancelled():
            raise value
        number, alone = sent.pop(future.key)
        failed = future.status == "error"
        del future  # what is held is kept by its worker, and made again where that worker dies
        if not failed:
            yield Outcome(number, value)
            continue
        _, error, _ = value
        if not isinstance(error, KilledWorker):
            yield Outcome(number, error=error)
        elif alone:
            yield Outcome(number, error=GridcoreError("the processes that ran it died, one after the other"))
        else:
            suspects.append(number)


def _room(client: Any) -> int:
    """How many tasks may be sent: workers come and go."""
    return _AHEAD * max(sum(client.nthreads().values()), 1)


class _Job(WorkerPlugin):  # type: ignore[misc]
    """What every worker of the cluster is given once, also one that joins later or takes the place of a dead one."""

    def __init__(self, job: str, function: Function, shared: Any):
        self.job, self.work = job, (function, shared)

    def setup(self, worker: Any) -> None:
        """In a worker that starts."""
        _jobs[self.job] = self.work

    def teardown(self, worker: Any) -> None:
        """In a worker, when the job is over."""
        _jobs.pop(self.job, None)


def _call(job: str, task: Any) -> Any:
    with _one:
        return call(*_jobs[job], task)
