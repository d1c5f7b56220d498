"""Results on disk: one SQLite file, written by the one process that runs the sweep, a row as soon as it is there.

A row is found by a digest of the study and the scenario, so a sweep that was interrupted, anywhere, goes on where it
was: what is in the store is not run again, and what is not in it is. Every row has a digest of what it says, and SQLite
looks through the file when it is opened: what was damaged on disk is refused.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import math
import os
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gridcore.errors import DataWarning, GridcoreError

from .worker import Result

FORMAT, VERSION = "gridcore sweep", 2
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE result (key TEXT PRIMARY KEY, name TEXT NOT NULL, row TEXT NOT NULL, machines TEXT NOT NULL,
                     error TEXT NOT NULL, seconds REAL NOT NULL, worker TEXT NOT NULL, finished REAL NOT NULL,
                     digest TEXT NOT NULL);
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
    made : dict, optional
        What makes it, or adds to it, in the words of :func:`gridcore_provenance.record.provenance`: a new store has
        them for who reads it; where its results are by other versions, a DataWarning says so.

    Raises
    ------
    GridcoreError
        If the file is no store, is damaged, or is that of another study, or another process is writing to it.
    """

    def __init__(self, path: Path | None, study: Mapping[str, str], made: Mapping[str, str] | None = None):
        self.path = path
        self._lock: int | None = None
        if path is not None:
            self._take_lock(path)
        try:
            with self._in_words():
                self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None)
                self._open(study, made or {})
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

    def _open(self, study: Mapping[str, str], made: Mapping[str, str]) -> None:
        db = self._db
        if not db.execute("PRAGMA page_count").fetchone()[0]:
            if self.path is not None and self.path.stat().st_size:
                raise self._damaged("it is shorter than any")
            with self._transaction():
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                about = {"format": FORMAT, "version": str(VERSION), **made, **study}
                about["checksum"] = _digest(sorted(about.items(), key=repr))
                db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        there = dict(db.execute("SELECT name, value FROM about").fetchall())
        checksum = there.pop("checksum", None)
        if there.get("format") != FORMAT:
            raise GridcoreError(f"{self.path}: is not a store of a sweep")
        if there.get("version") == "1":
            raise GridcoreError(f"{self.path}: was written by an older gridcore, without checksums: "
                                "give this sweep a new store")
        if checksum != _digest(sorted(there.items(), key=repr)):
            raise self._damaged("what it says of its sweep has changed")
        if int(there["version"]) > VERSION:
            raise GridcoreError(f"{self.path}: was written by a newer gridcore; this one does not know the format")
        found = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise self._damaged(found)
        if there["digest"] != study["digest"]:
            other = [f"{name}: {there.get(name, 'none')}, not {value}" for name, value in study.items()
                     if name != "digest" and there.get(name) != value]
            raise GridcoreError(f"{self.path}: holds another sweep ({'; '.join(other) or 'the case is another'}): "
                                "give this one a store of its own")
        for name in ("keep", "record"):
            if there.get(name) != study.get(name):
                raise GridcoreError(f"{self.path}: was made with {name} = {there.get(name)}, not {study.get(name)}; "
                                    "what is in it is not run again for that: give this sweep a store of its own")
        were, are = set(_versions(there)), set(_versions(made))
        if are and were != are and db.execute("SELECT 1 FROM result").fetchone():
            then, now = (", ".join(sorted(each)) or "nothing" for each in (were - are, are - were))
            warnings.warn(f"{self.path}: has results made with {then} in place of {now}; they are not made again",
                          DataWarning, stacklevel=4)
        db.execute("PRAGMA journal_mode = WAL")  # readers may look on, and a row is there or is not
        db.execute("PRAGMA synchronous = NORMAL")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._in_words():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite itself rolls back at a full disk
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """What SQLite has to say of the file, and what to do."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise GridcoreError(f"{self.path}: cannot be written ({error}): what is in it stays, and the same "
                                    "sweep goes on from there") from None
            raise self._damaged(error) from None
        except UnicodeDecodeError as error:  # of the name of a column, which SQLite does not look at
            raise self._damaged(error) from None

    def _damaged(self, how: object) -> GridcoreError:
        said = " ".join(str(how).split())  # SQLite says more in lines
        return GridcoreError(f"{self.path}: is not a store of a sweep, or is damaged ({said}): move it away, and the "
                             "same sweep makes a new one")

    def add(self, key: str, name: str, result: Result) -> None:
        """Write a row. There can be only one of a key: a second is an error."""
        row = (key, str(name), json.dumps(result.row, default=lambda value: value.item()), json.dumps(result.machines),
               result.error, float(result.seconds), result.worker, time.time())
        with self._transaction():
            self._db.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, _digest(row)))

    def forget(self, keys: Iterable[str]) -> None:
        """Take rows out: they will be run again."""
        with self._transaction():
            self._db.executemany("DELETE FROM result WHERE key = ?", [(key,) for key in keys])

    def results(self) -> dict[str, Result]:
        """All rows, by key."""
        with self._in_words():
            rows = self._db.execute("SELECT * FROM result").fetchall()
        for *row, digest in rows:
            if digest != _digest(tuple(row)):
                raise self._damaged(f"the row of {row[1]!r} has changed")
        return {key: Result(json.loads(row), json.loads(machines), error, seconds, worker)
                for key, _, row, machines, error, seconds, worker, *_ in rows}

    def close(self) -> None:
        """Nothing is left but the file."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            with contextlib.suppress(OSError):  # a disk that refuses this, too: the next sweep finds no one holds it
                self._lock_file.unlink(missing_ok=True)
            _held.discard(self._lock)
            with contextlib.suppress(OSError):
                os.close(self._lock)
            self._lock = None


def _versions(made: Mapping[str, str]) -> Iterator[str]:
    """Of gridcore and the libraries."""
    if "gridcore" in made:
        yield f"gridcore {made['gridcore']}"
        yield from made["libraries"].split(", ")


def _digest(what: object) -> str:
    return hashlib.sha256(repr(what).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def finite(value: Any) -> bool:
    """Whether a value of a row is a number that can be drawn or sorted."""
    return isinstance(value, int | float) and math.isfinite(value)
