"""Finding a case, shipped or as a file, and the reader or writer that its suffix stands for."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from ..errors import CaseError
from ..registry import Companion, Reader
from ..registry import registries as plugins
from ..suggest import suggest
from ..whole import whole_file
from .records import Case


def load_case(name: str | Path, *companions: str | Path, alone: bool = False, **options: Any) -> Case:
    """A shipped case by name, or a file in any format that a reader is there for.

    Parameters
    ----------
    name : str or Path
    *companions : str or Path
        Files that add to it: ``load_case("x.raw", "y.dyr")``. Where none of a format is given that belongs to that of
        the file, one that stands beside it with the same stem is taken, ``x.dyr`` beside ``x.raw``.
    alone : bool
        Leave what stands beside it unread.
    **options
        What the readers of these formats offer, such as ``drop=["GGOV1"]`` (docs/formats.md).

    Raises
    ------
    CaseError
        If there is no such file or case (the nearest names are offered), the file is malformed, or no reader of
        these files has such an option.
    """
    path = _find(name)
    given = [Path(companion) for companion in companions]
    belonging = {suffix for suffix in plugins.companions if path.suffix.lower()
                 in plugins.companions.unresolved(suffix).beside} - {file.suffix.lower() for file in given}
    there = sorted(path.parent.iterdir()) if belonging and not alone else []
    beside = [file for file in there if file.stem == path.stem and file.suffix.lower() in belonging]
    files = [*beside, *given]
    functions = [_reader(path).read, *(_companion(file).extend for file in files)]
    offered = [{parameter.name for parameter in inspect.signature(function).parameters.values()
                if parameter.kind is parameter.KEYWORD_ONLY} for function in functions]
    for option in options:
        if not any(option in names for names in offered):
            raise CaseError(f"is read without an option '{option}'{suggest(option, sorted(set().union(*offered)))}",
                            file=str(path))
    taken = [{name: value for name, value in options.items() if name in names} for names in offered]
    try:
        case = functions[0](file := path, **taken[0])
        for file, extend, own in zip(files, functions[1:], taken[1:], strict=True):
            extend(case, existing(file), **own)
    except OverflowError:
        raise CaseError("has a number that is too large, or too small, to calculate with", file=str(file)) from None
    if there and not beside:
        case.note(f"there is no {path.stem}{' or '.join(sorted(belonging))} beside it")
    return case


def _companion(path: Path) -> Companion:
    found = plugins.companions.of_file(path)
    if found is None:
        raise CaseError("no format that adds to a case; there are: " + ", ".join(sorted(plugins.companions)),
                        file=str(path))
    return found


def save_case(case: Any, path: str | Path) -> None:
    """Write a case, in the format that the file's suffix stands for: whole, or not at all. Its folder is made.

    Parameters
    ----------
    case : Case, or what has one or names one, as :func:`gridcore.build` takes it
    path : str or Path

    Raises
    ------
    CaseError
        If files of this format are not written, have no place for what the case has, or cannot be written.
    """
    path = Path(path)
    reader = _reader(path)
    if reader.write is None:
        raise CaseError("this format can be read but not written", file=str(path))
    with whole_file(path) as temporary:
        reader.write(as_case(case), temporary)


def existing(path: Path) -> Path:
    """The path of a file that is there; a CaseError, if it is that of none or of what is no regular file."""
    if not os.path.isfile(path):  # which takes what no file can be called, too
        raise CaseError("is no regular file" if os.path.exists(path) else "there is no such file", file=str(path))
    return path


def as_case(study: Any) -> Case:
    """A case as it is; that of a system or a run; of the name or path of one, what :func:`load_case` reads."""
    for of in (study, getattr(study, "system", None)):
        if isinstance(case := getattr(of, "case", of), Case):
            return case
    return load_case(study)


def shipped() -> dict[str, Path]:
    """The cases that plugins ship: name -> file."""
    found: dict[str, Path] = {}
    for name in plugins.cases:
        for file in sorted(plugins.cases[name].folder.glob("*/case.toml")):
            found.setdefault(file.parent.name, file)
    return found


def _find(name: str | Path) -> Path:
    if not isinstance(name, str | Path):
        raise CaseError(f"{name!r} is no case: give a Case, a system or a run, or the name or path of one")
    path, cases = Path(name), shipped()
    for file in (path, path / "case.toml", cases.get(str(name), path)):
        if os.path.isfile(file):  # of what no file can be called, too
            return file
    if path.suffix or len(path.parts) > 1:
        existing(path)
    raise CaseError(f"there is no case '{name}', shipped or as a file{suggest(name, cases)}")


def _reader(path: Path) -> Reader:
    found = plugins.readers.of_file(path)
    if found is None and plugins.companions.of_file(path):
        raise CaseError("adds to a case and is none by itself: name the case first, then this file", file=str(path))
    if found is None:
        raise CaseError("no reader for this format; there are: " + ", ".join(sorted(plugins.readers)), file=str(path))
    return found
