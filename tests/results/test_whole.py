"""Files are written whole or not at all, and are on disk when they are there; nothing stays beside them."""

from __future__ import annotations

import errno
import os
import shutil
import threading

import pytest

from gridcore.errors import GridcoreError
from gridcore.whole import whole_file


def beside(path, process, host=None):
    """A folder as a process leaves it that is killed while it writes."""
    folder = path.with_name(f".{path.name}.{host or os.uname().nodename}.{process}.abcd_123")
    folder.mkdir()
    (folder / path.name).write_text("a part")
    return folder


def test_what_is_written_takes_the_place_of_the_file_when_all_went_well(tmp_path):
    path = tmp_path / "folder" / "in it" / "x.txt"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert temporary.name == "x.txt"  # whose suffix may say the format
        assert not path.exists()
    assert path.read_text() == "new"
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, OSError])
def test_what_goes_wrong_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def write():
        with whole_file(path) as temporary:
            temporary.write_text("new")
            raise error

    with pytest.raises(GridcoreError if error is OSError else error):
        write()
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_an_error_names_the_file_and_not_the_temporary_one(tmp_path):
    with pytest.raises(GridcoreError) as error, whole_file(tmp_path / "x.txt") as temporary:
        raise GridcoreError(f"{temporary}: is not to be written")
    assert str(error.value) == f"{tmp_path / 'x.txt'}: is not to be written"


@pytest.mark.parametrize(("error", "words"), [
    (OSError(errno.ENOSPC, "No space left"), "No space left"), (OSError("out of paper"), "out of paper")])
def test_an_error_of_the_system_is_told_in_its_words(tmp_path, error, words):
    with pytest.raises(GridcoreError) as told, whole_file(tmp_path / "x.txt"):
        raise error
    assert str(told.value) == f"{tmp_path / 'x.txt'}: cannot be written: {words}"


def test_a_file_is_on_disk_before_it_takes_the_place_and_its_name_after(tmp_path, monkeypatch):
    done, path = [], tmp_path / "x.txt"
    sync, replace = os.fsync, os.replace

    def noted_sync(handle):
        done.append(os.path.realpath(f"/proc/self/fd/{handle}"))
        sync(handle)

    def noted_replace(source, target):
        done.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    with whole_file(path) as temporary:
        temporary.write_text("new")
    assert done == [str(temporary), "replace", str(tmp_path)]


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path):
    path, gone = tmp_path / "x[1].txt", os.fork()
    if not gone:
        os._exit(0)
    os.waitpid(gone, 0)
    left = beside(path, gone)
    stay = [beside(path, 1), beside(path, gone, "elsewhere"), beside(tmp_path / "x1.txt", gone)]
    (mine := tmp_path / ".x[1].txt.notes").write_text("mine")
    with whole_file(path) as temporary:
        temporary.write_text("new")
    assert not left.exists()
    assert {*tmp_path.iterdir()} == {path, mine, *stay}


def test_what_another_process_removes_meanwhile_is_no_error(tmp_path, monkeypatch):
    path, remove = tmp_path / "x.txt", shutil.rmtree
    beside(path, 2**22 + 1)  # more than Linux numbers processes

    def twice(folder, **options):
        remove(folder)
        remove(folder, **options)

    monkeypatch.setattr(shutil, "rmtree", twice)
    with whole_file(path) as temporary:
        temporary.write_text("new")
        monkeypatch.undo()
    assert [*tmp_path.iterdir()] == [path]


def test_a_folder_that_cannot_be_removed_does_not_undo_what_is_written(tmp_path, monkeypatch):
    """As on a file system of a network, where what is open elsewhere stays."""
    def busy(*_, **options):
        raise OSError(errno.EBUSY, "Device or resource busy")

    path = tmp_path / "x.txt"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        monkeypatch.setattr(os, "rmdir", busy)
    monkeypatch.undo()
    assert path.read_text() == "new"


def test_threads_that_write_one_file_leave_that_of_one_of_them(tmp_path):
    path, failed = tmp_path / "x.txt", []

    def write(number):
        try:
            for _ in range(30):
                with whole_file(path) as temporary, open(temporary, "w") as file:
                    for _ in range(50):
                        file.write(f"{number}\n")
                assert len(set(path.read_text().split())) == 1
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [*tmp_path.iterdir()] == [path]
