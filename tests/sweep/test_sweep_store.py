"""Stores that are damaged, full, or of a sweep that keeps other runs: an error in words, and never other numbers."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest
from click.testing import CliRunner
from fuzz.sealed import ABOUT, filled

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.errors import GridcoreError
from gridcore_sweep import store as module
from gridcore_sweep.store import Store


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "s.db"
    kept, made = filled(path)
    kept.close()
    return path, made


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


def test_a_store_that_is_cut_short_has_the_same_rows_or_is_refused(stored, tmp_path):
    path, made = stored
    data = path.read_bytes()
    for size in range(1, len(data), 499):
        (tmp_path / "s.db").write_bytes(data[:size])
        assert read(tmp_path / "s.db") in (None, made)
        for file in tmp_path.iterdir():
            file.unlink()


def test_a_damaged_store_is_one_line_on_the_command_line(stored, tmp_path):
    data = stored[0].read_bytes()
    (tmp_path / "s.db").write_bytes(data[: len(data) // 2] + bytes(len(data) // 2))
    shown = CliRunner().invoke(gridcore, ["sweep", "smib", "--trips", "all", "--store", str(tmp_path / "s.db")])
    assert shown.exit_code == 2
    assert shown.exception is None or isinstance(shown.exception, SystemExit)
    assert "s.db: is not a store of a sweep, or is damaged" in shown.output
    assert "move it away, and the same sweep makes a new one" in shown.output


def test_what_sqlite_says_of_damage_in_several_lines_is_one(stored, tmp_path):
    """A page of the table in the place of another."""
    data = stored[0].read_bytes()
    pages, said = [data[at: at + 4096] for at in range(0, len(data), 4096)], []
    for place in range(1, len(pages)):
        (tmp_path / "s.db").write_bytes(b"".join([*pages[:place], pages[-1 - place // 2], *pages[place + 1:]]))
        try:
            Store(tmp_path / "s.db", ABOUT).close()
        except GridcoreError as error:
            said.append(str(error))
        for file in tmp_path.iterdir():
            file.unlink()
    assert any("in database main" in text for text in said)
    assert not any("\n" in text for text in said)


def test_a_store_that_says_something_without_a_name_is_damaged(stored, tmp_path):
    """SQLite takes NULL for a primary key; it has no order among texts."""
    shutil.copy(stored[0], tmp_path / "s.db")
    with sqlite3.connect(tmp_path / "s.db") as db:
        db.execute("UPDATE about SET name = NULL WHERE name = 't_end'")
    db.close()
    with pytest.raises(GridcoreError, match=r"damaged \(what it says of its sweep has changed\)"):
        Store(tmp_path / "s.db", ABOUT)


def test_a_store_whose_columns_have_no_names_is_damaged(stored, tmp_path):
    """SQLite takes any bytes for a name; what it hands them to does not."""
    data = stored[0].read_bytes()
    begin = data.index(b"CREATE TABLE result (key")
    at = data.index(b"seconds", begin)
    (tmp_path / "s.db").write_bytes(data[:at] + b"\xa0" + data[at + 1:])
    assert read(tmp_path / "s.db") is None


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
    asked = {"contingencies": {"faults": [7], "clear": 0.05}, "t_end": 0.2, "store": tmp_path / "s.db", "processes": 1}
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
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "s.db"), "100000"],
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
    asked = {"contingencies": {"faults": [7], "clear": 0.05}, "t_end": 0.2, "keep": "all", "processes": 1,
             "store": tmp_path / "s.db"}
    [result] = gc.analyses.sweep("wscc9", **asked).results
    assert "the run is not kept: " in result.error
    assert "No space left on device" in result.error
    assert result.row["reached"] == 0.2
    monkeypatch.undo()
    assert [r.error for r in gc.analyses.sweep("wscc9", **asked).results] == [result.error]
    assert [r.error for r in gc.analyses.sweep("wscc9", **asked, retry_failed=True).results] == [""]


def test_a_store_that_has_no_room_says_so_and_keeps_what_it_has(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "s.db"), "15000"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "s.db: cannot be written (" in done.stderr.splitlines()[-1]
    assert "what is in it stays, and the same sweep goes on from there" in done.stderr.splitlines()[-1]
