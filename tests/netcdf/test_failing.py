"""A save that fails leaves the process, the run, and what was there before; nothing else."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading

import pytest
from failing import failing, small
from kills import kill_while_saving

import gridcore as gc
from gridcore.errors import GridcoreError

SYSTEM = gc.build("hiskens_pai")


@pytest.fixture(scope="module")
def run():
    return small(SYSTEM)


def writes(run, path, monkeypatch):
    """How often a save reaches the disk."""
    with failing(monkeypatch, 10**9) as made:
        run.save(path)
    path.unlink()
    return len(made)


@pytest.mark.parametrize(("error", "before", "first", "step"), [
    (errno.ENOSPC, b"", 1, 25), (errno.EIO, b"", 3, 25), (errno.ENOSPC, b"what was there before", 5, 25),
    (errno.EIO, b"what was there before", 7, 25), pytest.param(errno.ENOSPC, b"before", 1, 1, marks=pytest.mark.slow)])
def test_a_save_whose_kth_write_fails_leaves_what_was_there(run, tmp_path, monkeypatch, error, before, first, step):
    path = tmp_path / "x.nc"
    count = writes(run, path, monkeypatch)
    assert count > 100
    if before:
        path.write_bytes(before)
    for k in [*range(first, count, step), count - 1]:  # the last is the folder's, when the file is in its place
        with failing(monkeypatch, k, error), pytest.raises(GridcoreError, match=os.strerror(error)) as failed:
            run.save(path)
        assert str(failed.value).startswith(f"{path}: cannot be written: ")
        assert [p.name for p in tmp_path.iterdir()] == (["x.nc"] if before else [])
        assert not before or path.read_bytes() == before
    run.save(path)
    assert gc.load_run(path).X.tobytes() == run.X.tobytes()


def test_a_single_write_that_fails_is_enough(run, tmp_path, monkeypatch):
    """The disk has room again after it: the file would look whole."""
    path, original = tmp_path / "x.nc", os.pwrite
    count = writes(run, path, monkeypatch)
    for k in range(1, count, 11):
        left = [k]

        def once(*args, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return original(*args)

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", once)
            with pytest.raises(GridcoreError) if k < count - 20 else contextlib.suppress(GridcoreError):
                run.save(path)
        if path.exists():
            assert left[0] > 0
            gc.load_run(path)
            path.unlink()


def test_writes_that_take_a_part_are_gone_on_with(run, tmp_path, monkeypatch):
    original = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda handle, data, at: original(handle, data[: max(1, len(data) // 3)], at))
    run.save(tmp_path / "x.nc")
    monkeypatch.undo()
    assert gc.load_run(tmp_path / "x.nc").X.tobytes() == run.X.tobytes()


FULL = """
import resource, signal, sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
import gridcore as gc
run = gc.simulate(gc.build("hiskens_pai"), t_end=0.4, step=0.02)
run.save(whole := Path(sys.argv[1], "whole.nc"))
size = whole.stat().st_size  # of a run of this command, whose words are in it
whole.unlink()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in (0, 1, 500, 3000, 8000, 20000, 40000, size - 53, size - 1):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for path in (Path(sys.argv[1], "x.nc"), Path(sys.argv[1], "x.csv")):
        try:
            run.save(path)
            print("saved", end=" ")
        except gc.GridcoreError as error:
            print("failed" if str(error) == f"{path}: cannot be written: File too large" else error, end=" ")
print(len(list(Path(sys.argv[1]).iterdir())), len(run.t) > 10)
"""


def test_a_file_that_the_system_does_not_let_grow_ends_no_process(tmp_path):
    """The real thing, from the kernel: a limit of the size of files."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    words = done.stdout.split()
    assert words[0:-2:2] == ["failed"] * 9
    assert words[-2:] == [str(2 * ("saved" in words)), "True"]  # the table, and its description


def test_a_signal_does_not_break_into_hdf5(run, tmp_path, monkeypatch):
    """Ctrl-C in the midst of its writes would be as bad as a full disk: they go on to their end, and are forgotten."""
    path, original, main = tmp_path / "x.nc", os.pwrite, threading.main_thread().ident
    count = writes(run, path, monkeypatch)
    for k in range(1, count - 20, 25):
        made = []

        def pressed(*args, k=k, made=made):
            made.append(args)
            if len(made) == k:
                signal.pthread_kill(main, signal.SIGINT)
            return original(*args)

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", pressed)
            with pytest.raises(KeyboardInterrupt):
                run.save(path)
        assert len(made) > k
        assert not [*tmp_path.iterdir()]
    run.save(path)
    assert gc.load_run(path).X.tobytes() == run.X.tobytes()


def test_threads_that_save_to_one_path_leave_one_of_their_files_whole(tmp_path):
    runs = [gc.simulate(SYSTEM, t_end=0.1 * k, step=0.02) for k in range(1, 4)]
    path, failed, expected = tmp_path / "x.nc", [], {run.X.tobytes() for run in runs}

    def save(run):
        for _ in range(3):
            try:
                run.save(path)
                assert gc.load_run(path).X.tobytes() in expected
            except Exception as error:  # whatever it is, the test is to see it
                failed.append(error)

    threads = [threading.Thread(target=save, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [p.name for p in tmp_path.iterdir()] == ["x.nc"]


@pytest.mark.parametrize("seed", range(2))
def test_a_save_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path, seed):
    """The next save removes what the killed one left beside it."""
    assert kill_while_saving(tmp_path, count=10, seed=seed) == 10


def test_where_there_is_no_room_for_temporary_files_no_run_is_called_damaged(run, tmp_path, monkeypatch):
    run.save(tmp_path / "x.nc")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(gc.GridcoreError, match=rf"^{tmp_path}/nowhere: cannot be written: No such file or directory$"):
        gc.load_run(tmp_path / "x.nc")
