"""Results on disk: one SQLite file, written by the one process that runs the sweep, a row as soon as it is there.

A row is found by a digest of the study and the scenario, so a sweep that was interrupted, anywhere, goes on where it
was: what is in the store is not run again, and what is not in it is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gridcore.errors import GridcoreError

from .worker import Result

FORMAT, VERSION = "gridcore sweep", 1
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE result (key TEXT PRIMARY KEY, name TEXT NOT NULL, row TEXT NOT NULL, machines TEXT NOT NULL,
                     error TEXT NOT NULL, seconds REAL NOT NULL, worker TEXT NOT NULL, finished REAL NOT NULL);
"""


_held: set[int] = set()


def _let_go() -> None:
    """A lock is this process's: one that is copied from it must not keep it when this one is gone."""
    for handle in _held:
        os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


class Store:
    """The results of one study.

    Parameters
    ----------
    path : Path or None
        The file; None keeps them in memory only.
    study : dict
        What the study is, in words: ``digest``, and what is told where the store is of another one.

    Raises
    ------
    GridcoreError
        If the file is no store, or that of another study, or another process is writing to it.
    """

    def __init__(self, path: Path | None, study: Mapping[str, str]):
        self.path = path
        self._lock: int | None = None
        if path is not None:
            self._take_lock(path)
        try:
            self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None)
            self._open(study)
        except sqlite3.Error as error:
            self.close()
            raise GridcoreError(f"{path}: is not a store of a sweep ({error})") from None
        except GridcoreError:
            self.close()
            raise

    def _take_lock(self, path: Path) -> None:
        """One process at a time: the lock is gone with the process, however it ends."""
        self._lock_file = path.with_name(f".{path.name}.lock")
        while self._lock is None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                handle = os.open(self._lock_file, os.O_CREAT | os.O_RDWR, 0o666)
            except OSError as error:
                raise GridcoreError(f"{path}: cannot be written: {error.strerror}") from None
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # the one who had it may have removed the file in the meantime
                if os.path.exists(self._lock_file) \
                        and os.fstat(handle).st_ino == os.stat(self._lock_file).st_ino:
                    self._lock, handle = handle, -1
                    _held.add(self._lock)
            except BlockingIOError:
                raise GridcoreError(f"{path}: another sweep is writing to this store") from None
            finally:
                if handle >= 0:
                    os.close(handle)

    def _open(self, study: Mapping[str, str]) -> None:
        db = self._db
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with self._transaction():
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                about = {"format": FORMAT, "version": str(VERSION), **study}
                db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        there = dict(db.execute("SELECT name, value FROM about").fetchall())
        if there.get("format") != FORMAT:
            raise GridcoreError(f"{self.path}: is not a store of a sweep")
        if int(there["version"]) > VERSION:
            raise GridcoreError(f"{self.path}: was written by a newer gridcore; this one does not know the format")
        if there["digest"] != study["digest"]:
            other = [f"{name}: {there.get(name, 'none')}, not {value}" for name, value in study.items()
                     if name != "digest" and there.get(name) != value]
            raise GridcoreError(f"{self.path}: holds another sweep ({'; '.join(other) or 'the case is another'}): "
                                "give this one a store of its own")
        db.execute("PRAGMA journal_mode = WAL")  # readers may look on, and a row is there or is not
        db.execute("PRAGMA synchronous = NORMAL")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def add(self, key: str, name: str, result: Result) -> None:
        """Write a row. There can be only one of a key: a second is an error."""
        with self._transaction():
            self._db.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (
                key, name, json.dumps(result.row, default=lambda value: value.item()),
                json.dumps(result.machines), result.error, result.seconds, result.worker, time.time()))

    def forget(self, keys: Iterable[str]) -> None:
        """Take rows out: they will be run again."""
        with self._transaction():
            self._db.executemany("DELETE FROM result WHERE key = ?", [(key,) for key in keys])

    def results(self) -> dict[str, Result]:
        """All rows, by key."""
        rows = self._db.execute("SELECT key, row, machines, error, seconds, worker FROM result").fetchall()
        return {key: Result(json.loads(row), json.loads(machines), error, seconds, worker)
                for key, row, machines, error, seconds, worker in rows}

    def close(self) -> None:
        """Nothing is left but the file."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock_file.unlink(missing_ok=True)
            _held.discard(self._lock)
            os.close(self._lock)
            self._lock = None


def finite(value: Any) -> bool:
    """Whether a value of a row is a number that can be drawn or sorted."""
    return isinstance(value, int | float) and math.isfinite(value)
