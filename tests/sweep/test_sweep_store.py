"""Stores that are damaged, full, or of a sweep that keeps other runs: an error in words, and never other numbers."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
import sqlite3
import subprocess
import sys

import pytest
from click.testing import CliRunner

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.errors import GridcoreError
from gridcore_sweep import store as module
from gridcore_sweep.store import Store
from gridcore_sweep.worker import Result

ABOUT = {"digest": "0123456789abcdef", "case": "wscc9 01234567", "t_end": "5.0", "keep": "none"}


def rows():
    """Of every kind."""
    draw = random.Random(0)
    return {f"{draw.getrandbits(128):032x}": Result(
        {"angle": draw.uniform(0, 400), "stable": bool(k % 2), "reached": 5.0, "warning": "it is late " * k},
        {f"GEN{m}": draw.uniform(0, 400) for m in range(3)}, "no solution" if k % 5 == 0 else "", draw.random(),
        "here:1") for k in range(24)}


def filled(path):
    kept, made = Store(path, ABOUT), rows()
    for number, (key, result) in enumerate(made.items()):
        kept.add(key, f"fault at BUS{number}", result)
    return kept, made


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "s.db"
    kept, made = filled(path)
    kept.close()
    return path, made


def flipped(data, bit):
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def read(path):
    """What is in a store; nothing where it is refused, with its name and what to do."""
    try:
        kept = Store(path, ABOUT)
    except GridcoreError as error:
        assert str(path) in str(error)  # noqa: PT017
        return None
    try:
        return kept.results()
    except GridcoreError as error:
        assert str(path) in str(error)  # noqa: PT017
        return None
    finally:
        kept.close()


def test_a_store_with_one_bit_flipped_has_the_same_rows_or_is_refused(stored, tmp_path):
    path, made = stored
    data, draw, refused = path.read_bytes(), random.Random(2), 0
    for number in range(400):
        bit = draw.randrange(8 * len(data)) if number >= 100 else draw.randrange(8 * 200)  # its head, too
        for file in tmp_path.iterdir():
            file.unlink()
        (tmp_path / "s.db").write_bytes(flipped(data, bit))
        found = read(tmp_path / "s.db")
        refused += found is None
        assert found is None or found == made, bit
    assert refused > 50


def test_a_store_that_is_cut_short_has_the_same_rows_or_is_refused(stored, tmp_path):
    path, made = stored
    data = path.read_bytes()
    for size in range(1, len(data), 499):
        (tmp_path / "s.db").write_bytes(data[:size])
        assert read(tmp_path / "s.db") in (None, made)
        for file in tmp_path.iterdir():
            file.unlink()


def test_of_a_damaged_journal_no_other_row_is_taken(tmp_path):
    """The journal of a sweep that was killed: what it cannot prove is run again."""
    (tmp_path / "a").mkdir()
    kept, made = filled(tmp_path / "a" / "s.db")
    files = {name: (tmp_path / "a" / name).read_bytes() for name in ("s.db", "s.db-wal")}
    kept.close()
    draw, some = random.Random(3), 0
    for _ in range(100):
        shutil.rmtree(tmp_path / "b", ignore_errors=True)
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "s.db").write_bytes(files["s.db"])
        wal = files["s.db-wal"]
        (tmp_path / "b" / "s.db-wal").write_bytes(flipped(wal, draw.randrange(8 * len(wal))))
        found = read(tmp_path / "b" / "s.db")
        assert found is None or found.items() <= made.items() or all(made[key] == found[key] for key in found)
        some += bool(found)
    assert some > 10


def test_a_damaged_store_is_one_line_on_the_command_line(stored, tmp_path):
    data = stored[0].read_bytes()
    (tmp_path / "s.db").write_bytes(data[: len(data) // 2] + bytes(len(data) // 2))
    shown = CliRunner().invoke(gridcore, ["sweep", "smib", "--trips", "all", "--store", str(tmp_path / "s.db")])
    assert shown.exit_code == 2
    assert shown.exception is None or isinstance(shown.exception, SystemExit)
    assert "s.db: is not a store of a sweep, or is damaged" in shown.output
    assert "move it away, and the same sweep makes a new one" in shown.output


def test_a_row_that_somebody_changed_is_refused(stored, tmp_path):
    shutil.copy(stored[0], tmp_path / "s.db")
    with sqlite3.connect(tmp_path / "s.db") as db:
        db.execute("UPDATE result SET row = replace(row, '5.0', '6.0') WHERE name = 'fault at BUS3'")
    db.close()
    with pytest.raises(GridcoreError, match="the row of 'fault at BUS3' has changed"):
        Store(tmp_path / "s.db", ABOUT).results()


def test_a_store_of_the_format_before_checksums_is_to_be_made_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "VERSION", 1)
    with contextlib.suppress(GridcoreError):
        Store(tmp_path / "s.db", ABOUT)
    monkeypatch.undo()
    with pytest.raises(GridcoreError, match=r"s\.db: was written by an older gridcore, without checksums: give this"):
        Store(tmp_path / "s.db", ABOUT)


@pytest.mark.parametrize("changed", [{"keep": "all"}, {"record": "GEN*.omega"}])
def test_other_runs_to_keep_than_a_store_was_made_with_are_refused(tmp_path, changed):
    asked = {"contingencies": {"faults": [7]}, "t_end": 0.1, "store": tmp_path / "s.db", "processes": 1}
    gc.analyses.sweep("wscc9", **asked)
    name = next(iter(changed))
    with pytest.raises(GridcoreError, match=rf"s\.db: was made with {name} = .*, not .*; what is in it is not run"):
        gc.analyses.sweep("wscc9", **asked, **changed)
    assert len(gc.analyses.sweep("wscc9", **asked)) == 1


# A full disk --------------------------------------------------------------------------------------------------------

FULL = """
import resource, signal, sys
import gridcore as gc
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
table = gc.analyses.sweep("wscc9", contingencies={"faults": [7, 8]}, t_end=0.5, keep="all", processes=1,
                          store=sys.argv[1])
for result in table.results:
    print(result.row["stable"], result.error)
"""


def test_a_row_survives_its_run_for_which_there_is_no_room(tmp_path):
    """What the kernel does not let grow: run files, and not the store, which is smaller."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "s.db"), "200000"],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("True the run is not kept: ") and "File too large" in line for line in lines)
    again = gc.analyses.sweep("wscc9", contingencies={"faults": [7, 8]}, t_end=0.5, keep="all", processes=1,
                              store=tmp_path / "s.db", retry_failed=True)
    assert [r.error for r in again.results] == ["", ""]
    assert len([*(tmp_path / "s").glob("*.nc")]) == 2


def test_a_row_survives_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    original = os.replace

    def full(source, target):
        if str(target).endswith(".nc") and str(tmp_path) in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(source, target)

    monkeypatch.setattr(os, "replace", full)
    asked = {"contingencies": {"faults": [7]}, "t_end": 0.1, "keep": "all", "processes": 1, "store": tmp_path / "s.db"}
    [result] = gc.analyses.sweep("wscc9", **asked).results
    assert "the run is not kept: " in result.error
    assert "No space left on device" in result.error
    assert result.row["reached"] == 0.1
    monkeypatch.undo()
    assert [r.error for r in gc.analyses.sweep("wscc9", **asked).results] == [result.error]
    assert [r.error for r in gc.analyses.sweep("wscc9", **asked, retry_failed=True).results] == [""]


def test_a_store_that_has_no_room_says_so_and_keeps_what_it_has(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "s.db"), "15000"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "s.db: cannot be written (" in done.stderr.splitlines()[-1]
    assert "what is in it stays, and the same sweep goes on from there" in done.stderr.splitlines()[-1]
