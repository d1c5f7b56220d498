"""Executors: every task is done once, whatever becomes of the processes that do them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sweep_tasks import die_always, die_first_time, diverge, final_angle, interrupts_ignored, no_negative, square, where

import gridcore as gc
from gridcore_sweep.executors import InProcess, LocalProcesses, executor, parallel

BOTH = [InProcess(), LocalProcesses(2)]


@pytest.mark.parametrize("runner", BOTH, ids=["here", "processes"])
@pytest.mark.parametrize("count", [0, 1, 9])
def test_every_task_is_done_once(runner, count):
    outcomes = list(runner.run(square, 0.5, [float(k) for k in range(count)]))
    assert sorted((o.number, o.value) for o in outcomes) == [(k, k * k + 0.5) for k in range(count)]


def test_processes_share_the_tasks_and_are_others():
    workers = {o.value for o in LocalProcesses(2).run(where, None, range(12))}
    assert len(workers) == 2
    assert os.getpid() not in workers


@pytest.mark.parametrize("runner", BOTH, ids=["here", "processes"])
def test_an_error_is_an_outcome_and_the_others_are_done(runner):
    outcomes = {o.number: o for o in runner.run(no_negative, None, [4.0, -1.0, 9.0])}
    assert (outcomes[0].value, outcomes[2].value) == (2.0, 3.0)
    assert str(outcomes[1].error) == "-1.0 has no root"


def test_of_an_error_the_words_come_back_without_the_run_that_led_to_it():
    [outcome] = LocalProcesses(2).run(diverge, None, [0.25])
    assert isinstance(outcome.error, gc.errors.ConvergenceError)
    assert str(outcome.error) == "no solution at t = 0.25 s"
    assert outcome.error.run is None


def test_a_worker_that_dies_costs_only_what_it_was_doing(tmp_path):
    outcomes = list(LocalProcesses(2).run(die_first_time, tmp_path / "died", range(10)))
    assert (tmp_path / "died").exists()
    assert sorted(o.number for o in outcomes) == list(range(10))
    assert all(o.value == o.number for o in outcomes)


def test_a_task_that_kills_its_worker_is_given_up_and_the_others_are_done():
    outcomes = {o.number: o for o in LocalProcesses(2).run(die_always, None, range(8))}
    assert "died, twice" in str(outcomes.pop(3).error)
    assert sorted(outcomes) == [0, 1, 2, 4, 5, 6, 7]
    assert all(o.value == number for number, o in outcomes.items())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # a process that has ended but was not waited for is not alive
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _gone(pids: list[int], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(map(_alive, pids)):
            return True
        time.sleep(0.05)
    return False


def test_closing_ends_what_is_running(tmp_path):
    outcomes = LocalProcesses(2).run(die_first_time, tmp_path / "died", range(1000))
    next(outcomes)
    workers = [child.pid for child in multiprocessing.active_children()]
    outcomes.close()
    assert workers
    assert _gone(workers)


def test_workers_end_when_who_started_them_is_killed(tmp_path):
    code = ("import sys; sys.path.insert(0, sys.argv[2])\n"
            "from pathlib import Path\nfrom sweep_tasks import log_and_wait\n"
            "from gridcore_sweep.executors import LocalProcesses\n"
            "if __name__ == '__main__':\n    list(LocalProcesses(2).run(log_and_wait, Path(sys.argv[1]), [1, 2]))\n")
    script = tmp_path / "script.py"
    script.write_text(code)
    workers = tmp_path / "workers"
    workers.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(workers), str(Path(__file__).parent)])
    try:
        end = time.monotonic() + 60
        while len(list(workers.iterdir())) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        pids = [int(p.name) for p in workers.iterdir()]
        assert len(pids) == 2
    finally:
        parent.kill()
        parent.wait()
    assert _gone(pids)


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import gridcore as gc\n"
                      "gc.analyses.sweep('smib', contingencies={'faults': 'all'}, t_end=0.5, processes=2)\n")
    shown = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert shown.returncode != 0
    assert "belongs under: if __name__ == '__main__':" in shown.stderr


def test_parallel_gives_values_in_order_and_raises_the_first_error():
    assert parallel(square, 1.0, [3.0, 2.0, 1.0], processes=2) == [10.0, 5.0, 2.0]
    assert gc.analyses.parallel(square, 1.0, [3.0], processes=1) == [10.0]
    with pytest.raises(ValueError, match=r"-4\.0 has no root"):
        parallel(no_negative, None, [1.0, -4.0, 1.0], processes=2)


def test_runs_of_several_recordings_come_back_as_from_this_process():
    case, tasks = gc.load_case("wscc9"), [{"GEN2.H": 6.0}, {"GEN2.H": 6.2}, {"GEN3.H": 3.2}]
    here = [final_angle(case, values) for values in tasks]
    assert all(np.array_equal(a, b) for a, b in zip(parallel(final_angle, case, tasks, processes=2), here, strict=True))


def test_what_is_asked_for_decides_the_executor():
    assert isinstance(executor(1), InProcess)
    assert executor(3).count == 3
    for wrong in ({"processes": 0}, {"processes": 2, "dask": "tcp://here:1"}):
        with pytest.raises(gc.GridcoreError, match="processes"):
            executor(**wrong)


def test_without_the_package_a_cluster_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "gridcore_sweep.dask", raising=False)
    with pytest.raises(gc.errors.MissingDependency, match=r"gridcore\[dask\]"):
        executor(dask="tcp://127.0.0.1:8786")


def test_workers_are_started_deaf_to_the_keyboard():
    """Ctrl-C goes to every process of the terminal; workers leave it to the one that started them."""
    assert parallel(interrupts_ignored, None, [0, 0], processes=2) == [True, True]
