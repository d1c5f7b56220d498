"""What is disturbed, what it promises while it goes on, and what must be there afterwards."""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.errors import GridcoreError

OBJECTIVE = 'objective = [{kind = "integral", of = "HP.x1"}]\n'


class Broken(Exception):
    """Something that was promised is not there, or what is there is not what was written."""


def demand(condition: object, what: str) -> None:
    """An error unless it is so."""
    if not condition:
        raise Broken(what)


def verb(*words: object) -> None:
    """A verb of the command line, by a process of its own; what it says of an error is raised."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            gridcore.main([str(word) for word in words])
    except SystemExit as end:
        if end.code:
            told = said.getvalue().splitlines()[-1]
            demand(end.code == 2 and told.startswith("error: "), f"exit code {end.code}: {said.getvalue()}")
            raise GridcoreError(told) from None


class Job(ABC):
    """Something that writes files into a folder."""

    def prepare(self, folder: Path) -> None:  # noqa: B027 nothing to prepare is the rule
        """What is there before."""

    @abstractmethod
    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        """Do it, and tell what is done for good."""

    @abstractmethod
    def check(self, folder: Path, promised: list[bytes]) -> None:
        """Broken, if what is there is not as it should be, though the work was stopped anywhere."""

    def left(self, folder: Path) -> set[str]:
        """The names in a folder."""
        return {path.name for path in folder.iterdir()}


class Save(Job):
    """A run takes the place of another."""

    def __init__(self) -> None:
        system = gc.build("hiskens_pai")
        self._old, self._new = (gc.simulate(system, t_end=t, step=0.02) for t in (0.2, 0.4))

    def prepare(self, folder: Path) -> None:
        self._old.save(folder / "x.nc")

    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        self._new.save(folder / "x.nc")
        promise(b"saved")

    def check(self, folder: Path, promised: list[bytes]) -> None:
        found = gc.load_run(folder / "x.nc").X.tobytes()
        allowed = [self._new.X.tobytes()] if promised else [self._old.X.tobytes(), self._new.X.tobytes()]
        demand(found in allowed, "the file is neither the old one nor the new one")
        self._new.save(folder / "x.nc")
        demand(gc.load_run(folder / "x.nc").X.tobytes() == self._new.X.tobytes(), "it cannot be saved again")
        demand(self.left(folder) == {"x.nc"}, f"there is {self.left(folder)}")


class RunVerb(Job):
    """``gridcore run``: simulates, and saves the run."""

    def __init__(self) -> None:
        self._expected = gc.simulate("hiskens_pai", t_end=0.4, step=0.02).X.tobytes()

    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        verb("run", "hiskens_pai", "--t-end", 0.4, "--step", 0.02, "--out", folder)
        promise(b"saved")

    def check(self, folder: Path, promised: list[bytes]) -> None:
        path = folder / "hiskens_pai.nc"
        demand(path.exists() or not promised, "the run that was saved is not there")
        demand(not path.exists() or gc.load_run(path).X.tobytes() == self._expected, "the file is another run")
        verb("run", "hiskens_pai", "--t-end", 0.4, "--step", 0.02, "--out", folder)
        demand(gc.load_run(path).X.tobytes() == self._expected, "it cannot be saved again")
        demand(self.left(folder) == {path.name}, f"there is {self.left(folder)}")


class Sweep(Job):
    """A sweep with a store, which keeps its runs."""

    def __init__(self) -> None:
        self._asked: dict[str, Any] = {"vary": {"HP.x10": [0.0, 0.5, 1.0]}, "t_end": 0.1, "step": 0.02, "processes": 1}
        self._expected = [result.row for result in gc.analyses.sweep("hiskens_pai", **self._asked).results]

    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        def tell(done: int, of: int) -> None:
            promise(bytes([done]))

        gc.analyses.sweep("hiskens_pai", **self._asked, keep="all", store=folder / "s.db", progress=tell)

    def check(self, folder: Path, promised: list[bytes]) -> None:
        done = max((told[0] for told in promised), default=0)
        if done:
            with contextlib.closing(sqlite3.connect(folder / "s.db")) as store:
                [[rows]] = store.execute("SELECT count(*) FROM result").fetchall()
            demand(rows >= done, f"{rows} rows of {done} that were finished are in the store")
        table = gc.analyses.sweep("hiskens_pai", **self._asked, keep="all", store=folder / "s.db", retry_failed=True)
        demand([result.error for result in table.results] == [""] * 3, "it does not go on where it was")
        found = [result.row for result in table.results]
        demand(found == self._expected, f"the table is another: {found} in place of {self._expected}")
        demand(self.left(folder) == {"s.db", "s"}, f"there is {self.left(folder)}")
        demand(len(self.left(folder / "s")) == 3, f"of runs there are {self.left(folder / 's')}")
        for path in (folder / "s").iterdir():
            gc.load_run(path)


class Gradient(Job):
    """A gradient of a run whose states are in a file; the verb ``grad`` keeps it."""

    def __init__(self) -> None:
        self._system = gc.build("hiskens_pai")
        self._expected = self._gradient(None)

    def _gradient(self, folder: Path | None) -> bytes:
        run = gc.simulate(self._system, t_end=0.6, step=2e-3, checkpoint=folder or "memory")
        return gc.adjoint(run, gc.Terminal(lambda v: v["HP", "x1"]), ["HP.p1", "HP.a12"]).values.tobytes()

    def prepare(self, folder: Path) -> None:
        (folder / "o.toml").write_text(OBJECTIVE)

    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        promise(self._gradient(folder))
        verb("grad", "hiskens_pai", "--objective", folder / "o.toml", "--wrt", "HP.p1", "--t-end", 0.2, "--out", folder)
        promise(b"tables")

    def check(self, folder: Path, promised: list[bytes]) -> None:
        demand(not promised or promised[0] == self._expected, "the gradient is another")
        tables = {"hiskens_pai_gradient.csv", "hiskens_pai_gradient.nc"}
        demand(tables <= self.left(folder) or b"tables" not in promised, "the tables are not there")
        before = {name: (folder / name).read_bytes() for name in tables & self.left(folder)}
        self.work(folder, lambda told: None)
        demand(self.left(folder) == {"o.toml", *tables, "hiskens_pai_gradient.csv-metadata.json"},
               f"there is {self.left(folder)}")
        csv = "hiskens_pai_gradient.csv"
        demand(before.get(csv) in (None, (folder / csv).read_bytes()), "a table was there in part")


class Writes(Job):
    """A verb that makes a file of a case or a run, in the place of another."""

    def __init__(self, *words: str, made: Sequence[str]):
        self._words, self._made = words, made
        self._run = gc.simulate("smib", t_end=0.05)
        with tempfile.TemporaryDirectory() as folder:
            self.prepare(Path(folder))
            self.work(Path(folder), lambda told: None)
            self._expected = self._found(Path(folder))

    def prepare(self, folder: Path) -> None:
        self._run.save(folder / "smib.nc")
        for name in self._made:
            (folder / name).write_bytes(b"old")

    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        with contextlib.chdir(folder):
            verb(*self._words)
        promise(b"written")

    def check(self, folder: Path, promised: list[bytes]) -> None:
        for name, found in self._found(folder).items():
            allowed = [self._expected[name], *([] if promised else [b"old"])]
            demand(found in allowed, f"{name} is neither the old one nor the new one")
        self.work(folder, lambda told: None)
        demand(self._found(folder) == self._expected, "it cannot be written again")
        demand(self.left(folder) == {"smib.nc", *self._made}, f"there is {self.left(folder)}")

    def _found(self, folder: Path) -> dict[str, bytes]:
        """What is in the files, but for names that are drawn at random in a page."""
        return {name: re.sub(rb"[0-9a-f]{8}-[0-9a-f-]{27}|p[0-9]+", b"", (folder / name).read_bytes())
                for name in self._made}


JOBS: dict[str, Callable[[], Job]] = {
    "save": Save, "run": RunVerb, "sweep": Sweep, "grad": Gradient,
    "convert": partial(Writes, "convert", "smib", "x.toml", made=["x.toml"]),
    "export": partial(Writes, "export", "smib.nc", "x.csv", made=["x.csv", "x.csv-metadata.json"]),
    "plot": partial(Writes, "plot", "smib.nc", "--to", "x.png", made=["x.png"]),
    "report": partial(Writes, "report", "smib.nc", "--to", "x.html", made=["x.html"])}


def jobs() -> dict[str, Job]:
    """All of them."""
    with warnings.catch_warnings(action="ignore"):
        return {name: made() for name, made in JOBS.items()}
