"""Executors: every task is done once, whatever becomes of the processes that do them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sweep_tasks import (
    die_always,
    die_first_time,
    die_now_or_wait,
    diverge,
    final_angle,
    interrupts_ignored,
    meet,
    no_negative,
    square,
    unsendable,
)

import gridcore as gc
from gridcore_sweep import processes
from gridcore_sweep.executors import InProcess, executor, parallel
from gridcore_sweep.processes import LocalProcesses


@pytest.fixture(params=["fork", "spawn"])
def started(request, monkeypatch):
    """Workers are copies of this process, or start from nothing."""
    monkeypatch.setattr(processes, "start_method", lambda: multiprocessing.get_context(request.param))


@pytest.fixture(params=["here", "fork", "spawn"])
def runner(request, monkeypatch):
    if request.param == "here":
        return InProcess()
    monkeypatch.setattr(processes, "start_method", lambda: multiprocessing.get_context(request.param))
    return LocalProcesses(2)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_every_task_is_done_once(runner, count):
    outcomes = list(runner.run(square, 0.5, [float(k) for k in range(count)]))
    assert sorted((o.number, o.value) for o in outcomes) == [(k, k * k + 0.5) for k in range(count)]


def test_processes_work_side_by_side_and_are_others(started, tmp_path):
    workers = {o.value for o in LocalProcesses(2).run(meet, tmp_path, range(2))}
    assert len(workers) == 2
    assert os.getpid() not in workers


def test_an_error_is_an_outcome_and_the_others_are_done(runner):
    outcomes = {o.number: o for o in runner.run(no_negative, None, [4.0, -1.0, 9.0])}
    assert (outcomes[0].value, outcomes[2].value) == (2.0, 3.0)
    assert str(outcomes[1].error) == "-1.0 has no root"


def test_an_error_says_where_in_the_worker_it_happened(started):
    [outcome] = LocalProcesses(2).run(no_negative, None, [-1.0])
    [note] = outcome.error.__notes__
    assert "in a worker process" in note
    assert "in no_negative" in note


def test_what_cannot_be_sent_is_an_error_in_words(started):
    outcomes = {o.number: o for o in LocalProcesses(2).run(unsendable, None, ["value", "error", ""])}
    assert "pickle" in str(outcomes[0].error)
    assert str(outcomes[1].error) == "Odd: this and that"
    assert outcomes[2].value == ""


def test_of_an_error_the_words_come_back_without_the_run_that_led_to_it(started):
    [outcome] = LocalProcesses(2).run(diverge, None, [0.25])
    assert isinstance(outcome.error, gc.errors.ConvergenceError)
    assert str(outcome.error) == "no solution at t = 0.25 s"
    assert outcome.error.run is None


def test_a_worker_that_dies_is_replaced_and_its_task_run_again(started, tmp_path):
    outcomes = list(LocalProcesses(2).run(die_first_time, tmp_path / "died", range(10)))
    assert (tmp_path / "died").exists()
    assert sorted(o.number for o in outcomes) == list(range(10))
    assert all(o.value == o.number for o in outcomes)


def test_a_worker_that_dies_does_not_disturb_the_others(started, tmp_path):
    """The other one is in the middle of its task, which is neither lost nor begun again."""
    outcomes = {o.number: o for o in LocalProcesses(2).run(die_now_or_wait, tmp_path, range(2))}
    assert "died, twice" in str(outcomes[0].error)
    assert outcomes[1].value == [1]


def test_a_task_that_kills_its_worker_is_given_up_and_the_others_are_done(started):
    outcomes = {o.number: o for o in LocalProcesses(2).run(die_always, None, range(8))}
    assert "died, twice" in str(outcomes.pop(3).error)
    assert sorted(outcomes) == [0, 1, 2, 4, 5, 6, 7]
    assert all(o.value == number for number, o in outcomes.items())


def _alive(pid: int) -> bool:
    """One that has ended but was not waited for is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _until(condition) -> None:
    end = time.monotonic() + 600  # only what hangs takes as long
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_closing_ends_what_is_running(started, tmp_path):
    outcomes = LocalProcesses(2).run(square, 0.0, range(1000))
    next(outcomes)
    workers = [child.pid for child in multiprocessing.active_children()]
    outcomes.close()
    assert workers
    assert not any(map(_alive, workers))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_end_when_who_started_them_is_killed(tmp_path, method):
    """Whatever they are doing; those that are copies have copies of each other's pipes, too."""
    script = tmp_path / "script.py"
    script.write_text("import multiprocessing, sys\nfrom pathlib import Path\n"
                      f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                      "from sweep_tasks import never\nfrom gridcore_sweep import processes\n"
                      f"processes.start_method = lambda: multiprocessing.get_context('{method}')\n"
                      "if __name__ == '__main__':\n"
                      "    list(processes.LocalProcesses(2).run(never, Path(sys.argv[1]), [1, 2]))\n")
    workers = tmp_path / "workers"
    workers.mkdir()
    parent = subprocess.Popen([sys.executable, str(script), str(workers)])
    try:
        _until(lambda: len(list(workers.iterdir())) == 2 or parent.poll() is not None)
        pids = [int(p.name) for p in workers.iterdir()]
        assert len(pids) == 2
    finally:
        parent.kill()
        parent.wait()
    _until(lambda: not any(map(_alive, pids)))


@pytest.mark.parametrize(("others", "method"), [
    ([], "fork"), ([threading.Timer(1, print)], "fork"), ([threading.Thread()], "spawn")],
    ids=["alone", "a progress bar that waits", "another thread"])
def test_workers_are_copies_unless_another_thread_could_hold_what_they_wait_for(monkeypatch, others, method):
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread(), *others])
    assert processes.start_method().get_start_method() == method


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import threading\nimport gridcore as gc\n"
                      "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
                      "gc.analyses.sweep('smib', contingencies={'faults': 'all'}, t_end=0.5, processes=2)\n")
    shown = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600)
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


def test_workers_are_started_deaf_to_the_keyboard(started):
    """Ctrl-C goes to every process of the terminal; workers leave it to the one that started them."""
    assert parallel(interrupts_ignored, None, [0, 0], processes=2) == [True, True]


def test_an_interrupt_while_workers_are_started_is_not_lost():
    def interrupted():
        with processes.interrupts_held():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # to this thread, whatever others there are
            reached.append("the end")

    reached = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background of a shell ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached == ["the end"]


@pytest.mark.parametrize("count", [0, -1, 2.5, float("nan"), "2", [2]])
def test_a_number_of_processes_is_a_whole_number_above_zero(count):
    with pytest.raises(gc.GridcoreError, match="must be a whole number, at least 1"):
        gc.analyses.parallel(square, 1, [1], processes=count)
