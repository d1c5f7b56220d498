"""What any reader of cases must show: a file gives one case, or an error that names it; and it is left as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gridcore import Case
from gridcore.case import load_case, save_case
from gridcore.errors import GridcoreError
from gridcore.registry import Reader, readers, registered
from gridcore.testing import NotExamined, Suite, Wrong, require

MUTANTS = 100
NATIVE = ".toml"


@dataclass
class Sample:
    """A format, a file of it, and a folder in which its copies may lie."""

    reader: Reader
    file: Path
    folder: Path

    def copy(self, content: bytes, name: str = "copy") -> Path:
        """A file of this format with other content."""
        path = self.folder / f"{name}{self.reader.suffix}"
        path.write_bytes(content)
        return path

    def read(self, path: Path) -> Case:
        """The case of a file, alone."""
        return load_case(path, alone=True)

    def tried(self, path: Path, what: str) -> Case | None:
        """The case of a file that is damaged, None if it is refused in words; anything else is wrong."""
        try:
            return self.read(path)
        except GridcoreError as error:
            require(path.name in str(error), f"{what}: the error does not name the file: {error}")
            require("\n" not in str(error), f"{what}: the error has several lines: {error}")
        except Exception as error:
            raise Wrong(f"{what}: {type(error).__name__}: {error}; it must be a CaseError that says where") from None
        return None


@contextmanager
def sample(reader: Reader, file: str | Path) -> Iterator[Sample]:
    """A record of a reader, which need not be registered, and a small file that it reads."""
    with registered(reader), tempfile.TemporaryDirectory() as folder:
        yield Sample(reader, Path(file), Path(folder))


reader_checks = Suite(sample)


@reader_checks.add("reads")
def read(sample: Sample) -> str:
    """There are records, and each says where it stands."""
    case = sample.read(sample.file)
    require(isinstance(case, Case) and len(case), f"read() gives {case!r}: a Case with records is expected")
    lost = [f"{record.model} {record.fields.get('id', '')}".strip() for record in case
            if Path(record.file) != sample.file or not record.row]
    require(not lost, f"{len(lost)} of {len(case)} records do not say in which file and row they stand: {lost[:3]}")
    return f"{len(case)} records"


@reader_checks.add("again", "reads")
def read_again(sample: Sample) -> str:
    """Twice the same, whatever is done to the first; and the file is as it was."""
    content, changed = sample.file.read_bytes(), sample.file.stat().st_mtime_ns
    first = sample.read(sample.file)
    kept = first.copy()
    for record in first:
        record.fields.clear()
    need_same(kept, sample.read(sample.file), "read a second time")
    require(sample.file.read_bytes() == content and sample.file.stat().st_mtime_ns == changed, "it changes the file")
    return "the same twice, and the file is as it was"


@reader_checks.add("kept", "reads")
def kept(sample: Sample) -> str:
    """What is read survives gridcore's own format."""
    if NATIVE not in readers or readers[NATIVE].write is None:
        raise NotExamined(f"there is no writer of {NATIVE}")
    return need_round_trip(sample, sample.folder / f"case{NATIVE}")


@reader_checks.add("written", "reads")
def written(sample: Sample) -> str:
    """What is written in this format is read as it was."""
    if sample.reader.write is None:
        raise NotExamined("it is not written")
    return need_round_trip(sample, sample.folder / f"case{sample.reader.suffix}")


@reader_checks.add("mutants", "reads")
def damaged(sample: Sample) -> str:
    """Files with bytes cut, changed, lost, doubled or added: a case, or an error in words."""
    content, refused = np.frombuffer(sample.file.read_bytes(), np.uint8), 0
    for seed in range(MUTANTS):
        rng, mutant = np.random.default_rng(seed), content
        for _ in range(rng.integers(1, 4)):
            mutant = MUTATIONS[rng.integers(len(MUTATIONS))](mutant, rng)
        refused += sample.tried(sample.copy(mutant.tobytes()), f"mutant {seed}") is None
    return f"{MUTANTS - refused} of {MUTANTS} read, {refused} refused in words"


def _cut(data: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return data[: rng.integers(len(data) + 1)]


def _changed(data: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    data = data.copy()
    data[rng.integers(max(len(data), 1)):][:1] = rng.integers(256)
    return data


def _piece(data: np.ndarray, rng: np.random.Generator) -> slice:
    start = rng.integers(len(data) + 1)
    return slice(start, start + rng.integers(1, 40))


def _lost(data: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.delete(data, _piece(data, rng))


def _twice(data: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    piece = _piece(data, rng)
    return np.concatenate([data[: piece.stop], data[piece.start:]])


def _added(data: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    words = (b"nan", b"-1", b"1e400", b"x", b"'", b"[", b",", b"\n", b" ", b"\0", b"9" * 400)
    word = np.frombuffer(words[rng.integers(len(words))], np.uint8)
    return np.insert(data, rng.integers(len(data) + 1), word)


MUTATIONS: tuple[Callable[[np.ndarray, np.random.Generator], np.ndarray], ...] = (_cut, _changed, _lost, _twice, _added)


@reader_checks.add("odd files", "reads")
def odd_files(sample: Sample) -> str:
    """An empty file, a mark of byte order, Latin-1, a folder, nothing."""
    content = sample.file.read_bytes()
    sample.tried(sample.copy(b""), "an empty file")
    marked = sample.tried(sample.copy(b"\xef\xbb\xbf" + content), "a file with a mark of byte order")
    if marked is not None:
        need_same(sample.read(sample.file), marked, "with a mark of byte order before it")
    for place in range(0, len(content), max(len(content) // 10, 1)):
        sample.tried(sample.copy(content[:place] + "é".encode("latin-1") + content[place:]), "a file in Latin-1")
    folder, nothing = (sample.folder / f"{name}{sample.reader.suffix}" for name in ("folder", "nothing"))
    folder.mkdir()
    for path, what in ((folder, "a folder"), (nothing, "a file that is not there")):
        require(sample.tried(path, what) is None, f"{what} gives a case")
    return "empty, with a mark of byte order, in Latin-1, a folder, none: a case or an error in words"


def need_round_trip(sample: Sample, path: Path) -> str:
    """Require that a case written to a file is the same when it is read from there."""
    case = sample.read(sample.file)
    before = case.copy()
    save_case(case, path)
    need_same(before, case, "after it was written")
    need_same(case, sample.read(path), f"written to {path.name} and read from it")
    return f"{len(case)} records written to {path.name} and read from it"


def need_same(a: Case, b: Case, what: str) -> None:
    """Require two cases to have the same records of each model, in the same order."""
    def content(case: Case) -> list[tuple[str, dict[str, Any]]]:
        return [(record.model, record.fields) for record in sorted(case, key=lambda record: record.model)]

    require((a.base_mva, a.frequency) == (b.base_mva, b.frequency),
            f"{what}, its base is {b.base_mva:g} MVA and {b.frequency:g} Hz, not {a.base_mva:g} and {a.frequency:g}")
    require(len(a) == len(b), f"{what}, it has {len(b)} records in place of {len(a)}")
    for one, other in zip(content(a), content(b), strict=True):
        require(one == other, f"{what}, it has {other} in place of {one}")
