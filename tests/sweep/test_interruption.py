"""A sweep that is interrupted, anywhere, goes on where it was: same table, nothing lost, nothing done twice.

The sweep is that of all N-1 faults of ieee39, by the command line. Every scenario that a worker begins leaves a line in
a log, so what was done twice can be counted; and a gate holds workers where a test wants them, so nothing here depends
on how fast anything is. Runs are short: ``GRIDCORE_SWEEP_T_END=20 pytest tests/sweep/test_interruption.py`` for longer
ones.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from sweep_tasks import begun, die_always, gate, identity, meet

import gridcore as gc
from gridcore_sweep.executors import InProcess
from gridcore_sweep.study import study
from gridcore_sweep.sweep import sweep
from gridcore_sweep.worker import work

HERE = Path(__file__).parent
OPTIONS = ("ieee39", "--faults", "all", "--line-faults", "all",
           "--t-end", os.environ.get("GRIDCORE_SWEEP_T_END", "2"))
COUNT, HALF, FREE = 131, 65, 10**6
TOO_LONG = 600.0  # s: only what hangs takes as long


@functools.cache
def names() -> dict[str, str]:
    """Of all scenarios, by identity."""
    made = study("ieee39", contingencies={"faults": "all", "line_faults": "all"})
    return {identity(task): scenario.name for task, scenario in zip(made.tasks, made.scenarios, strict=True)}


def once() -> Counter[str]:
    """Every scenario, once."""
    return Counter(names().values())


class Sweep:
    """A sweep by the command line, with two processes if nothing else is said."""

    def __init__(self, folder: Path):
        self.folder, self.log, self.store = folder, folder / "log", folder / "ieee39_sweep.db"
        self.process: subprocess.Popen[str]

    def start(self, *options: str, most: int = FREE) -> None:
        """Workers wait at the gate once so many scenarios have been begun."""
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "logged_sweep.py"), str(self.log), str(most), *OPTIONS,
             *(options or ("--processes", "2"))],
            cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def finish(self) -> tuple[int, str, str]:
        """Exit code and what was said on both channels."""
        shown, said = self.process.communicate(timeout=TOO_LONG)
        return self.process.returncode, shown, said

    def complete(self, *options: str) -> None:
        """From the start, or where it was, to the end."""
        gate(self.log).touch()
        self.start(*options)
        self.completes()

    def completes(self) -> None:
        code, shown, said = self.finish()
        assert code == 0, said
        assert f"{COUNT} scenarios" in shown

    def kill(self) -> None:
        """All of it, workers too."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something, while the sweep runs."""
        until(lambda: condition() or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.stderr.read()

    def begun(self) -> list[str]:
        """Names of scenarios, every time that one was begun."""
        return [names()[scenario] for scenario, _ in begun(self.log)]

    def stored(self) -> list[tuple[str, float]]:
        """Names in the store, and when they were finished."""
        with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=TOO_LONG)) as db:
            return db.execute("SELECT name, finished FROM result ORDER BY finished").fetchall()

    def rows(self) -> int:
        """How many there are in the store, which may not be there yet."""
        try:
            return len(self.stored())
        except sqlite3.OperationalError:
            return 0

    def table(self) -> tuple[bytes, xr.Dataset]:
        """Every digit of it."""
        return self.store.with_suffix(".csv").read_bytes(), xr.load_dataset(self.store.with_suffix(".nc"))


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TOO_LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Sweep]:
    made = Sweep(tmp_path)
    yield made
    with contextlib.suppress(ProcessLookupError):
        os.killpg(made.process.pid, signal.SIGKILL)
    made.process.communicate()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Any:
    """The table, made in one process."""
    made = Sweep(tmp_path_factory.mktemp("undisturbed"))
    made.complete("--processes", "1")
    assert Counter(made.begun()) == once()
    return made.table()


def same(one: Any, other: Any) -> bool:
    """To the last bit, but for what made them: when, and by which command line."""
    (cells, dataset), (other_cells, other_dataset) = one, other
    return cells == other_cells and of_the_table(dataset).identical(of_the_table(other_dataset))


def of_the_table(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.assign_attrs({name: "" for name in ("date", "command")})


def goes_on(run: Sweep, undisturbed: Any, *options: str) -> None:
    """The rest is run, once; what was there is not touched."""
    before, first = run.stored(), run.begun()
    run.complete(*options)
    assert same(run.table(), undisturbed)
    after = run.stored()
    assert set(before) <= set(after)
    assert Counter(name for name, _ in after) == once()
    assert Counter(run.begun()[len(first):]) == once() - Counter(name for name, _ in before)


def test_the_scenarios_are_all_faults_at_buses_and_branches():
    """39 buses, and 46 branches with two ends."""
    assert len(names()) == COUNT == 39 + 2 * 46


def test_two_processes_give_the_table_of_one_and_begin_every_scenario_once(run, undisturbed):
    run.complete()
    assert same(run.table(), undisturbed)
    assert Counter(run.begun()) == once()
    assert len({process for _, process in begun(run.log)}) == 2


@pytest.mark.parametrize(("count", "most"), [(1, COUNT - 4), (HALF, COUNT - 4), (HALF, HALF)],
                         ids=["at its first row", "half-way", "between two rows"])
def test_a_sweep_that_is_killed_goes_on_where_it_was(run, undisturbed, count, most):
    run.start(most=most)
    run.until(lambda: run.rows() >= count)
    run.kill()
    assert count <= run.rows() <= most
    kept, first = {name for name, _ in run.stored()}, run.begun()
    assert len(first) == len(set(first))
    assert kept < set(first)
    assert len(first) - len(kept) <= 4  # lost: what each process had in hand, or had just handed over
    goes_on(run, undisturbed)


@pytest.mark.parametrize("most", [COUNT - 4, HALF], ids=["while rows come", "between two rows"])
def test_ctrl_c_leaves_a_store_that_goes_on_and_says_so(run, undisturbed, most):
    run.start(most=most)
    run.until(lambda: run.rows() >= HALF)
    os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does it: to all of them
    assert run.finish() == (130, "", f"interrupted: {run.rows()} of {COUNT} scenarios are in ieee39_sweep.db; "
                                     "the same command goes on from there\n")
    assert HALF <= run.rows() <= most
    goes_on(run, undisturbed)


def held(run: Sweep) -> bool:
    """Two workers wait at the gate, and all that was begun before is in the store."""
    return run.rows() == HALF and len(run.begun()) == HALF + 2


def killed_at_work(run: Sweep) -> str:
    """Kill one of the workers at the gate, and open it; the scenario that the worker had."""
    scenario, worker = begun(run.log)[-1]
    os.kill(worker, signal.SIGKILL)
    gate(run.log).touch()
    return names()[scenario]


def test_a_worker_that_is_killed_half_way_costs_only_what_it_was_doing(run, undisturbed):
    run.start(most=HALF)
    run.until(lambda: held(run))
    lost = killed_at_work(run)
    run.completes()
    assert same(run.table(), undisturbed)
    assert Counter(run.begun()) == once() + Counter([lost])
    assert Counter(name for name, _ in run.stored()) == once()


def test_what_is_finished_is_not_run_again(tmp_path, monkeypatch):
    made = study("wscc9", contingencies={"faults": "all"}, t_end=2.0)
    asked = []
    whole = InProcess.run

    def counting(self, function, shared, tasks):
        asked.append(len(tasks))
        return whole(self, function, shared, tasks)

    monkeypatch.setattr(InProcess, "run", counting)
    store = tmp_path / "s.db"
    first = sweep(made, store=store, processes=1)
    again = sweep(made, store=store, processes=1)
    more = gc.analyses.sweep("wscc9", contingencies={"faults": "all", "trips": "LINE4-*"}, t_end=2.0, store=store,
                             processes=1)
    assert asked == [9, 0, 2]
    assert [r.row for r in first.results] == [r.row for r in again.results] == [r.row for r in more.results[:9]]


def test_an_interruption_inside_a_row_loses_that_row_only(tmp_path):
    made, store, done = study("wscc9", contingencies={"faults": "all"}, t_end=1.0), tmp_path / "s.db", []

    def tell(count, of):
        done.append(count)
        if count == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(made, store=store, processes=1, progress=tell)
    assert len(sweep(made, store=store, processes=1)) == 9
    assert done == [0, 1, 2, 3, 4]


# A Dask cluster -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def local_cluster(workers: int = 2, threads: int = 1) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, dashboard_address=":0",
                                  silence_logs=50) as made:
        yield made


@pytest.fixture
def cluster() -> Iterator[Any]:
    with local_cluster() as made:
        yield made


def in_memory(cluster: Any) -> bool:
    """Whether workers keep results that have come back: Dask would make them again."""
    return any(task.state == "memory" for task in list(cluster.scheduler.tasks.values()))


def test_a_worker_of_a_cluster_that_is_killed_half_way_costs_only_what_it_was_doing(run, cluster, undisturbed):
    workers = {w.pid for w in cluster.workers.values()}
    run.start("--dask", cluster.scheduler_address, most=HALF)
    run.until(lambda: held(run) and not in_memory(cluster))
    lost = killed_at_work(run)
    run.completes()
    assert same(run.table(), undisturbed)
    assert Counter(run.begun()) == once() + Counter([lost])
    assert Counter(name for name, _ in run.stored()) == once()
    assert workers <= {process for _, process in begun(run.log)}


def test_a_sweep_on_a_cluster_that_is_killed_goes_on_where_it_was(run, undisturbed):
    with local_cluster() as made:
        run.start("--dask", made.scheduler_address, most=HALF)
        run.until(lambda: held(run))
        run.kill()
    with local_cluster() as made:
        goes_on(run, undisturbed, "--dask", made.scheduler_address)


def test_ctrl_c_ends_a_sweep_on_a_cluster_too(run, cluster):
    run.start("--dask", cluster.scheduler_address, most=HALF)
    run.until(lambda: held(run))
    os.killpg(run.process.pid, signal.SIGINT)
    code, shown, said = run.finish()
    assert (code, shown) == (130, "")  # a request to the cluster that it breaks into may be told by Dask, before
    assert said.endswith(f"interrupted: {HALF} of {COUNT} scenarios are in ieee39_sweep.db; the same command goes on "
                         "from there\n")
    assert run.rows() == HALF
    gate(run.log).touch()  # or the cluster waits for its workers, that wait here


def test_a_task_that_kills_its_worker_is_given_up_on_a_cluster_and_no_other():
    dask = pytest.importorskip("dask")
    from gridcore_sweep.dask import DaskCluster

    # with no failure allowed, all that a worker has when it dies is given up by Dask, innocent or not
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), local_cluster() as made:
        outcomes = {o.number: o for o in DaskCluster(made.scheduler_address).run(die_always, None, range(6))}
    assert "died, one after the other" in str(outcomes.pop(3).error)
    assert {number: o.value for number, o in outcomes.items()} == {k: k for k in (0, 1, 2, 4, 5)}


def test_workers_that_come_later_take_part(tmp_path):
    """The first two tasks end when they have seen each other: one worker alone would wait for ever."""
    from gridcore_sweep.dask import DaskCluster

    with local_cluster(workers=1) as made:
        outcomes = DaskCluster(made.scheduler_address).run(meet, tmp_path, range(3))
        made.scale(2)
        assert len({o.value for o in outcomes}) == 2


def test_a_scheduler_that_goes_is_told_and_the_sweep_goes_on_elsewhere(run, undisturbed):
    with local_cluster() as made:
        run.start("--dask", made.scheduler_address, most=HALF)
        run.until(lambda: run.rows() == HALF)
    assert run.finish() == (2, "", f"error: the Dask scheduler at '{made.scheduler_address}' is gone; a sweep that has "
                                   "a store goes on from there\n")
    goes_on(run, undisturbed)


def test_where_there_is_no_scheduler_it_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("gridcore_sweep.dask._PATIENCE", "1s")
    with pytest.raises(gc.GridcoreError, match=r"no Dask scheduler at 'tcp://127\.0\.0\.1:9'"):
        gc.analyses.sweep("smib", contingencies={"trips": "all"}, dask="tcp://127.0.0.1:9")


def test_a_worker_does_one_task_at_a_time_however_many_threads_it_has(run, undisturbed):
    with local_cluster(workers=1, threads=4) as made:
        run.complete("--dask", made.scheduler_address)
    assert same(run.table(), undisturbed)
    assert Counter(run.begun()) == once()


def test_work_is_what_a_worker_does_and_not_more_than_that():
    """A task is small to ship: what changes, by address."""
    import pickle

    made = study("ieee118", contingencies={"faults": "all"})
    assert max(len(pickle.dumps((work, task))) for task in made.tasks) < 500
