"""Finding a case, shipped or as a file, and the reader or writer that its suffix stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

from . import plugins
from .case import Case
from .errors import CaseError
from .names import suggest

Read = Callable[[Path], Case]
Write = Callable[[Case, Path], None]


def load_case(name: str | Path) -> Case:
    """A shipped case by name, or a file in any format that a reader is there for.

    Raises
    ------
    CaseError
        If there is no such file or case (the nearest names are offered), or the file is malformed.
    """
    path = _find(name)
    read, _ = _reader(path)
    return read(path)


def save_case(case: Case, path: str | Path) -> None:
    """Write a case, in the format that the file's suffix stands for."""
    path = Path(path)
    _, write = _reader(path)
    if write is None:
        raise CaseError("this format can be read but not written", file=str(path))
    write(case, path)


def shipped() -> dict[str, Path]:
    """The cases that come with gridcore: name -> file."""
    found: dict[str, Path] = {}
    for folder in _case_folders():
        for file in sorted(folder.glob("*/case.toml")):
            found.setdefault(file.parent.name, file)
    return found


def _case_folders() -> Iterator[Path]:
    try:
        yield Path(str(resources.files("gridcore_cases").joinpath("")))
    except ModuleNotFoundError:  # not installed: the folder beside the source
        yield Path(__file__).parent.parent / "cases"


def _find(name: str | Path) -> Path:
    path = Path(name)
    if path.is_file():
        return path
    if (path / "case.toml").is_file():
        return path / "case.toml"
    cases = shipped()
    if str(name) in cases:
        return cases[str(name)]
    if path.suffix or len(path.parts) > 1:
        raise CaseError("there is no such file", file=str(name))
    raise CaseError(f"there is no case '{name}', shipped or as a file{suggest(name, cases)}")


def _reader(path: Path) -> tuple[Read, Write | None]:
    """``(read, write)`` of the longest suffix that the file's name ends in."""
    for suffix in sorted(plugins.readers, key=len, reverse=True):
        if path.name.lower().endswith(suffix.lower()):
            item = plugins.readers[suffix]
            return item if isinstance(item, tuple) else (item, None)
    known = ", ".join(sorted(plugins.readers))
    raise CaseError(f"no reader for this format; there are: {known}", file=str(path))
