"""What is disturbed, what it promises while it goes on, and what must be there afterwards."""

from __future__ import annotations

import contextlib
import io
import re
import sqlite3
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
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
    """A verb that makes files."""

    verb: tuple[str, ...]  # "{}" is the folder
    replaces = True  # what stands where they go

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            gc.simulate("hiskens_pai", t_end=0.2, step=0.02).save(folder / "x.nc")
            self._run = (folder / "x.nc").read_bytes()
            self.work(folder, lambda promise: None)
            files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name != "x.nc"]
            self._expected, self._left = self._found(folder, files), self.left(folder)

    def _found(self, folder: Path, files: Iterable[Path]) -> dict[Path, bytes]:
        """What is in the files that are there, but for the names that Bokeh makes up."""
        return {file: re.sub(rb"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bp\d{4,}\b", b"", path.read_bytes())
                for file in files if (path := folder / file).exists()}

    def prepare(self, folder: Path) -> None:
        (folder / "x.nc").write_bytes(self._run)
        for file in self._expected if self.replaces else ():
            (folder / file).write_bytes(b"old")

    def work(self, folder: Path, promise: Callable[[bytes], None]) -> None:
        verb(*(word.format(folder) for word in self.verb))
        promise(b"written")

    def check(self, folder: Path, promised: list[bytes]) -> None:
        found = self._found(folder, self._expected)
        for file, new in self._expected.items():
            allowed = [new] + [b"old" if self.replaces else None] * (not promised)
            demand(found.get(file) in allowed, f"{file} is neither as it was nor as it is written")
        if self.replaces or not found:  # the next writer, which removes what a process that was killed has left
            self.work(folder, lambda promise: None)
            demand(self.left(folder) == self._left, f"there is {self.left(folder)}")
        demand(self._found(folder, self._expected) == self._expected, "it is not written whole")


class Convert(Writes):
    """``gridcore convert``."""

    verb = ("convert", "wscc9", "{}/x.toml")


class Export(Writes):
    """``gridcore export``: a table, and what describes it."""

    verb = ("export", "{}/x.nc", "{}/x.csv")


class NewDevice(Writes):
    """``gridcore new-device``: a folder, whole or not at all."""

    verb = ("new-device", "HeatPump", "--out", "{}")
    replaces = False


class Report(Writes):
    """``gridcore report``."""

    verb = ("report", "{}/x.nc")


class Plot(Writes):
    """``gridcore plot``."""

    verb = ("plot", "{}/x.nc")


JOBS = {"save": Save, "run": RunVerb, "sweep": Sweep, "grad": Gradient, "convert": Convert, "export": Export,
        "new-device": NewDevice, "report": Report, "plot": Plot}


def jobs(names: Iterable[str]) -> dict[str, Job]:
    """These, once done each, so that nothing is left to load."""
    with warnings.catch_warnings(action="ignore"):
        return {name: JOBS[name]() for name in names}
