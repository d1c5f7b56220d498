"""Tasks on a Dask cluster, by the address of its scheduler."""

from __future__ import annotations

import contextlib
import itertools
import threading
import uuid
from collections.abc import Sequence
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin, as_completed

from gridcore.errors import GridcoreError

from .executors import AHEAD, Function, Outcome, Outcomes, call

_PATIENCE = "10s"

# One task at a time in a process: a built system has one set of buffers.
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
            If there is no scheduler at the address.
        """
        try:
            client = Client(self.address, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise GridcoreError(f"no Dask scheduler at '{self.address}': {error}") from None
        job = uuid.uuid4().hex
        try:
            client.register_plugin(_Job(job, function, shared), name=job)
            yield from _results(client, job, tasks)
        finally:
            with contextlib.suppress(Exception):  # a cluster that is gone has nothing to be tidied up
                client.unregister_worker_plugin(job)
            client.close()


def _results(client: Any, job: str, tasks: Sequence[Any]) -> Outcomes:
    waiting = iter(range(len(tasks)))
    numbers: dict[str, int] = {}

    def send(number: int) -> Any:
        future = client.submit(_call, job, tasks[number], key=f"{job}-{number}", pure=False)
        numbers[future.key] = number
        return future

    room = max(AHEAD * sum(client.nthreads().values()), AHEAD)
    under_way = as_completed([send(number) for number in itertools.islice(waiting, room)])
    for future in under_way:
        number = numbers.pop(future.key)
        error = future.exception()
        outcome = Outcome(number, None if error else future.result(), _in_words(error))
        for following in itertools.islice(waiting, 1):
            under_way.add(send(following))
        yield outcome


def _in_words(error: BaseException | None) -> BaseException | None:
    if isinstance(error, KilledWorker):
        return GridcoreError("the processes that ran it died, one after the other")
    return error


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
