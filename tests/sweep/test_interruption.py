"""A sweep that is interrupted, anywhere, goes on where it was: same table, nothing lost, nothing done twice."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gridcore as gc
from gridcore_sweep.executors import InProcess
from gridcore_sweep.study import study
from gridcore_sweep.sweep import sweep
from gridcore_sweep.worker import work

ASKED = {"contingencies": {"faults": "all", "line_faults": "all", "clear": "critical", "within": 0.01}, "t_end": 2.0}
OPTIONS = ("wscc9", "--faults", "all", "--line-faults", "all", "--clear", "critical", "--within", "0.01",
           "--t-end", "2")
COUNT = 27


@pytest.fixture(scope="module")
def undisturbed():
    """Rows by name."""
    return rows(gc.analyses.sweep("wscc9", **ASKED, processes=1))


def rows(table):
    assert len(table) == COUNT
    return {s.name: (r.row, r.machines, r.error) for s, r in zip(table.scenarios, table.results, strict=True)}


def stored(path: Path) -> list[tuple[str, float]]:
    """Names in the store, and when they were finished."""
    if not path.exists():
        return []
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as db:
        try:
            return db.execute("SELECT name, finished FROM result ORDER BY finished").fetchall()
        except sqlite3.OperationalError:  # the tables are not there yet
            return []


def once_there_are(path: Path, count: int, process: subprocess.Popen[str], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while len(stored(path)) < count:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "gridcore", "sweep", *OPTIONS, *options], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def goes_on(store: Path, before: list[tuple[str, float]], undisturbed) -> None:
    """The rest is run; what was there is not touched."""
    table = gc.analyses.sweep("wscc9", **ASKED, store=store, processes=1)
    assert rows(table) == undisturbed
    after = stored(store)
    assert len(after) == len({name for name, _ in after}) == COUNT
    assert set(before) <= set(after)


@pytest.mark.parametrize("count", [1, 12])
def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path, undisturbed, count):
    store = tmp_path / "wscc9_sweep.db"
    process = started(tmp_path, "--processes", "2")
    try:
        once_there_are(store, count, process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # all of it, workers too
        process.communicate()
    before = stored(store)
    assert count <= len(before) < COUNT
    goes_on(store, before, undisturbed)


def test_ctrl_c_leaves_a_store_that_goes_on_and_says_so(tmp_path, undisturbed):
    store = tmp_path / "wscc9_sweep.db"
    process = started(tmp_path, "--processes", "2")
    try:
        once_there_are(store, 5, process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all of them
        shown, said = process.communicate(timeout=30)
    finally:
        process.kill()
    before = stored(store)
    assert process.returncode == 130
    assert shown == ""
    assert said == (f"interrupted: {len(before)} of {COUNT} scenarios are in wscc9_sweep.db; the same command goes on "
                    "from there\n")
    assert 5 <= len(before) < COUNT
    goes_on(store, before, undisturbed)


def test_what_is_finished_is_not_run_again(tmp_path, monkeypatch):
    made = study("wscc9", **{**ASKED, "contingencies": {"faults": "all"}})
    asked = []
    run = InProcess.run

    def counting(self, function, shared, tasks):
        asked.append(len(tasks))
        return run(self, function, shared, tasks)

    monkeypatch.setattr(InProcess, "run", counting)
    store = tmp_path / "s.db"
    first = sweep(made, store=store, processes=1)
    again = sweep(made, store=store, processes=1)
    more = gc.analyses.sweep("wscc9", contingencies={"faults": "all", "trips": "LINE4-*"}, t_end=2.0, store=store,
                             processes=1)
    assert asked == [9, 0, 2]
    assert [r.row for r in first.results] == [r.row for r in again.results] == [r.row for r in more.results[:9]]


def test_an_interruption_inside_a_row_loses_that_row_only(tmp_path, monkeypatch):
    made, store = study("wscc9", contingencies={"faults": "all"}, t_end=1.0), tmp_path / "s.db"

    def tell(done, of):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(made, store=store, processes=1, progress=tell)
    assert len(stored(store)) == 4
    assert len(sweep(made, store=store, processes=1)) == 9
    assert len(stored(store)) == 9


# A Dask cluster -----------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                                  silence_logs=50) as made:
        yield made


def test_on_a_cluster_the_table_is_the_same_also_if_a_worker_is_killed_half_way(tmp_path, cluster, undisturbed):
    store, killed = tmp_path / "s.db", []
    workers = {w.pid for w in cluster.workers.values()}

    def tell(done, of):
        if done == COUNT // 2:
            killed.append(next(iter(workers)))
            os.kill(killed[0], signal.SIGKILL)

    table = gc.analyses.sweep("wscc9", **ASKED, store=store, dask=cluster.scheduler_address, progress=tell)
    assert killed
    assert rows(table) == undisturbed
    names = [name for name, _ in stored(store)]
    assert len(names) == len(set(names)) == COUNT
    pids = {int(r.worker.rpartition(":")[2]) for r in table.results}
    assert workers < pids | workers  # another took its place
    assert os.getpid() not in pids


def test_the_command_line_takes_the_address_of_a_cluster(tmp_path, cluster, undisturbed):
    process = started(tmp_path, "--dask", cluster.scheduler_address)
    shown, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert f"{COUNT} scenarios" in shown
    store = tmp_path / "wscc9_sweep.db"
    goes_on(store, stored(store), undisturbed)


def test_a_task_that_kills_its_worker_is_given_up_on_a_cluster_too(cluster):
    from sweep_tasks import die_always

    from gridcore_sweep.dask import DaskCluster

    outcomes = {o.number: o for o in DaskCluster(cluster.scheduler_address).run(die_always, None, range(6))}
    assert "died, one after the other" in str(outcomes.pop(3).error)
    assert sorted(outcomes) == [0, 1, 2, 4, 5]


def test_where_there_is_no_scheduler_it_is_told(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("gridcore_sweep.dask._PATIENCE", "1s")
    with pytest.raises(gc.GridcoreError, match=r"no Dask scheduler at 'tcp://127\.0\.0\.1:9'"):
        gc.analyses.sweep("smib", contingencies={"trips": "all"}, dask="tcp://127.0.0.1:9")


def test_a_worker_does_one_task_at_a_time_however_many_threads_it_has(undisturbed):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=4, dashboard_address=None,
                                  silence_logs=50) as made:
        table = gc.analyses.sweep("wscc9", **ASKED, dask=made.scheduler_address)
    assert rows(table) == undisturbed


def test_work_is_what_a_worker_does_and_not_more_than_that():
    """A task is small to ship: what changes, by address."""
    import pickle

    made = study("ieee118", contingencies={"faults": "all"})
    assert max(len(pickle.dumps((work, task))) for task in made.tasks) < 500
