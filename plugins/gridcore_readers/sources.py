"""Files from others, opened with care: regular ones, no larger than what stands here, and read no further than that.

A few bytes of a file can ask for any amount of memory. Each limit is far above what real cases and recordings need, and
an error names it; readers of other plugins use the same.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gc
import io
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gridcore.errors import CaseError

FILE = 100_000_000  # bytes of a file
EXPANDED = 200_000_000  # bytes of what a compressed file unpacks to
CELLS = 5_000_000  # of a workbook, empty ones included
EMPTY = 1_000_000, 10  # empty cells of a workbook, and those that each of the others may bring with it
DEPTH = 20  # arrays and tables in each other
VALUES = 20_000_000  # samples of a recording, of all its channels
CHANNELS = 100_000  # of a recording
SCENARIOS = 1_000_000  # of a sweep, and points of a map

# A key of more parts than tables may be in each other: a.b.c
_LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEPTH + 1}}}""")


def within(number: float, limit: int, what: str, file: str) -> None:
    """Refuse what a file asks for, if it is more than a limit."""
    if number > limit:
        raise CaseError(f"has {number:,} {what}, of at most {limit:,}", file=file)


def check(path: Path) -> None:
    """Refuse what is no regular file, and would be read for ever or waited for; and what is too large."""
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        raise CaseError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=str(path)) from None
    if not stat.S_ISREG(found.st_mode):
        raise CaseError("is no regular file", file=str(path))
    within(found.st_size, FILE, "bytes", str(path))


def text(path: Path, errors: str = "strict") -> str:
    """The text of a file, UTF-8; where `errors` is "replace" the file may be of an older encoding, or of UTF-16.

    Raises
    ------
    CaseError
        If it cannot be read, is no regular file, too large, or no text.
    """
    check(path)
    try:
        with path.open("rb") as stream:
            content = stream.read(FILE + 1)  # some say that they are empty, and have no end
        within(len(content), FILE, "bytes", str(path))
        found = content.decode("utf-8-sig") if errors == "strict" else _old(content)
        return found.replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise CaseError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise CaseError(f"is not UTF-8 text (byte {error.start})", file=str(path)) from None


class _Aged:
    """How many objects became old past the collector's own count, by which it would look through the old ones."""

    count = 0
    ENOUGH = 200_000


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles: what is read has none, and it would look through all of it again and again."""
    was = gc.isenabled()
    if was and _Aged.count > _Aged.ENOUGH:
        gc.collect()
        _Aged.count = 0
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # what was made is old at once: else the collector would look through all of it
            young, middle, _ = gc.get_count()
            _Aged.count += young + middle * gc.get_threshold()[0]
            gc.freeze()
            gc.unfreeze()
        if was:
            gc.enable()


def _old(content: bytes) -> str:
    """Text of any encoding: what is not UTF-8 is that of Windows in the west, where a byte is a character."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    try:
        found = content.decode()
    except UnicodeDecodeError:
        found = content.removeprefix(codecs.BOM_UTF8).decode("cp1252", "replace")
    return found.replace("\ufeff", "")  # files that were put together have one in the middle


def toml(path: Path) -> tuple[dict[str, Any], str]:
    """What a TOML file says, and its text.

    Raises
    ------
    CaseError
        As from :func:`text`; if it is not valid, or has integers beyond 64 bits or too much in each other.
    """
    written = text(path)
    deep = CaseError(f"has arrays and tables in each other, more than {DEPTH} deep", file=str(path))
    if _LONG_KEY.search(written):  # tomllib's memory grows with the square of its parts
        raise deep
    try:
        data = tomllib.loads(written)
    except RecursionError:
        raise deep from None
    except ValueError as error:  # also of an integer with too many digits
        raise CaseError(f"is not valid TOML: {error}", file=str(path)) from None
    inside: list[Any] = list(data.values())
    for _ in range(DEPTH):
        if any(value.bit_length() > 64 for value in inside if type(value) is int):
            raise CaseError("has an integer of more than 64 bits: TOML has none", file=str(path))
        inside = [value for each in inside if type(each) in (dict, list)
                  for value in (each.values() if type(each) is dict else each)]
    if inside:
        raise deep
    return data, written


def table(path: Path) -> list[tuple[int, list[str]]]:
    """(line, cells) of a CSV file, without empty lines.

    Raises
    ------
    CaseError
        As from :func:`text`, or if it is no CSV.
    """
    try:
        reader = csv.reader(io.StringIO(text(path), newline=""))
        return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise CaseError(f"cannot be read: {error}", file=str(path)) from None


def beside(path: Path, name: str, outside: bool = False) -> Path:
    """The file that a file names: in the same folder or below it, unless it may be `outside`.

    Raises
    ------
    CaseError
    """
    found = path.parent / name
    try:
        found.exists()
        if outside or found.resolve().is_relative_to(path.parent.resolve()):
            return found
    except (OSError, ValueError, RuntimeError):
        raise CaseError(f"'{name}' cannot be the name of a file", file=str(path)) from None
    raise CaseError(f"'{name}' lies outside the folder of this file: --outside, or outside=True, allows that",
                    file=str(path))
