"""What PSS/E's data files share: free-format records, and how a device gets its id from bus and identifier.

A record is numbers and words, separated by commas or blanks, up to a slash; words with blanks stand in
quotes. Siemens PTI, PSS/E Program Operation Manual, chapter "Power flow data file contents".
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gridcore.errors import CaseError

_QUOTED_WORD = re.compile(r"""(?:(?<=[\s,])|^)(['"])((?:(?!\1).|\1\1)*)\1(?=[\s,/]|$)""", re.DOTALL)
_OPENING_QUOTE = re.compile(r"""(?:^|[\s,])['"]""")
MANY = 1000  # more columns than a record has
_BLANK = re.compile(r"\s")
_SPECIAL = re.compile(r"[\s.*?\[\]]")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eEdD][-+]?\d+|[-+]\d+)?")
_REPEATED = re.compile(r"(\d{1,4})\*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD]?[-+]?\d+)?|)")
_MARK = "\0"  # stands for a quoted word while a record is taken apart


class Columns(dict[str, tuple[int, str | None]]):
    """The columns of a record by name: where each stands, and its default (None: required); how many it may have."""

    def __init__(self, places: Mapping[str, tuple[int, str | None]]):
        super().__init__(places)
        self.width = 1 + max((position for position, _ in places.values() if position < MANY), default=0)
        self.pickers = _Pickers(self)


class _Pickers(dict[str, tuple[Callable[[list[str]], tuple[str, ...]], list[str]]]):
    """By the names of several columns what takes their words out of a record, and the names, each made once."""

    def __init__(self, columns: Columns):
        super().__init__()
        self.columns = columns

    def __missing__(self, names: str) -> tuple[Callable[[list[str]], tuple[str, ...]], list[str]]:
        each = names.split()
        found = self[names] = operator.itemgetter(*(self.columns[name][0] for name in each)), each
        return found


def columns(text: str) -> Columns:
    """The columns of a record, from a list of ``NAME`` (required) and ``NAME=default``."""
    parts = [part.partition("=") for part in text.split()]
    return Columns({name: (n, default if equals else None) for n, (name, equals, default) in enumerate(parts)})


def split(text: str, blanks: bool = False) -> tuple[list[str], str | None]:
    """The words of a record, without quotes, and what follows its slash (None where there is none).

    Parameters
    ----------
    text : str
    blanks : bool
        Whether blanks separate words even where there are commas, and ``3*`` stands for three values that are not
        given. Else they do so beside what stands in quotes, and between numbers.

    Raises
    ------
    CaseError
        If a quote is not closed.
    """
    rest: str | None = None
    quoted: list[str] = []
    text = text.replace(_MARK, "")
    if "'" in text or '"' in text:
        text, rest = _without_quotes(text, quoted)
    elif "/" in text:
        text, _, rest = text.partition("/")
    if "," not in text:
        words = text.split()
    elif blanks:
        words = [word for piece in text.split(",") for word in piece.split() or [""]]
    else:
        words = [piece.strip() for piece in text.split(",")]
        if any(map(_BLANK.search, words)):
            words = [word for piece in words for word in _apart(piece)]
    if "*" in text:
        words = [each for word in words for each in _repeated(word, blanks)]
    while words and not words[-1]:
        del words[-1]
    if quoted:
        following = iter(quoted)
        words = [re.sub(_MARK, lambda _: next(following), word) if _MARK in word else word for word in words]
    return words, rest


def _without_quotes(text: str, quoted: list[str]) -> tuple[str, str | None]:
    """A record with a mark for each word in quotes, which is added to a list, up to the slash; and what follows that.

    A quote begins where a word does; within a word it is itself (``O'BRIEN``), and so is a double one within its like.
    """
    kept, begin = "", 0
    for word in (*_QUOTED_WORD.finditer(text), None):
        outside, slash, _ = text[begin:word.start() if word else None].partition("/")
        kept += outside
        if _OPENING_QUOTE.search(outside):
            raise CaseError("a quote is not closed")
        if slash:
            return kept, text[begin + len(outside) + 1:]
        if word:
            kept += _MARK
            quoted.append(word[2].replace(2 * word[1], word[1]).strip())
            begin = word.end()
    return kept, None


def _apart(piece: str) -> list[str]:
    """The words between two commas: one, unless blanks part numbers or what stands in quotes."""
    parts = piece.split()
    return parts if len(parts) > 1 and (_MARK in piece or all(map(_NUMBER.fullmatch, parts))) else [piece]


def _repeated(word: str, blanks: bool) -> list[str]:
    """``2*0.4``: twice that."""
    found = _REPEATED.fullmatch(word)
    return [found[2]] * int(found[1]) if found and (found[2] or blanks) else [word]


def real(word: str) -> float:
    """A number as Fortran writes it: ``0.3D-01`` and ``0.3-01`` are 0.03.

    Raises
    ------
    ValueError
    """
    try:
        return float(word)
    except ValueError:
        return float(re.sub(r"(?<=[\d.])[dD]?(?=[-+]\d)|(?<=[\d.])[dD](?=\d)", "e", word))


class Row:
    """A record of a table: its words by the names of the columns.

    Parameters
    ----------
    words : list of str
    columns : Columns
    file, place : str
        Where it stands, for errors.
    """

    __slots__ = ("columns", "file", "place", "words")

    def __init__(self, words: list[str], columns: Columns, file: str, place: str):
        self.words, self.columns, self.file, self.place = words, columns, file, place

    def error(self, message: str, field: str = "") -> CaseError:
        """An error that says where this record stands."""
        return CaseError(message, file=self.file, row=self.place, field=field)

    def _missing(self, name: str) -> CaseError:
        blank = self.columns[name][0] < len(self.words)
        return self.error(f"missing: {'it is blank' if blank else f'the record has {len(self.words)} values'}", name)

    def text(self, name: str) -> str:
        """A word; the default of the column where the record has none."""
        position, default = self.columns[name]
        words = self.words
        word = words[position].strip() if position < len(words) else ""
        if word:
            return word
        if default is None:
            raise self._missing(name)
        return default

    def number(self, name: str) -> float:
        """A finite number."""
        position, default = self.columns[name]
        words = self.words
        word = (words[position] if position < len(words) else "") or default
        if word is None:
            raise self._missing(name)
        try:
            value = float(word)
        except ValueError:
            word = self.text(name)
            try:
                value = real(word)
            except ValueError:
                raise self.error(f"{word!r} is not a number", name) from None
        if value - value:  # infinite, or no number
            raise self.error(f"{word!r} is not a number to calculate with", name)
        return value

    def numbers(self, names: str) -> Sequence[float]:
        """Several of them at once, which is faster: ``row.numbers("R X B")``."""
        picked, each = self.columns.pickers[names]
        try:
            values = [*map(float, picked(self.words))]
            if math.isfinite(sum(values)):
                return values
        except (IndexError, ValueError):  # one has a default, or is written as Fortran does, or is no number
            pass
        return [self.number(name) for name in each]

    def integer(self, name: str) -> int:
        """A whole number."""
        position = self.columns[name][0]
        words = self.words
        word = words[position] if position < len(words) and words[position] else self.text(name)
        try:
            return int(word)
        except ValueError:
            word = self.text(name)
            value = self.number(name)
            if value != int(value):
                raise self.error(f"{word!r} is not a whole number", name) from None
            return int(value)


def by_columns(rows: Sequence[Row], integers: str = "", texts: str = "", numbers: str = "") -> list[tuple[Any, ...]]:
    """Of each row itself and what it has in these columns, in this order: a column at once is several times as fast.

    Raises
    ------
    ValueError, IndexError
        If a row lacks something, or has it otherwise than most do: to be read by itself then, which says what is wrong.
    """
    if not rows:
        return []
    columns, words = rows[0].columns, [row.words for row in rows]
    width = min(map(len, words))

    def column(name: str) -> Iterable[str]:
        position, default = columns[name]
        if position < width:
            return map(operator.itemgetter(position), words)
        if default is None:
            raise IndexError(name)
        return [row[position] if position < len(row) else default for row in words]

    found: list[Iterable[Any]] = [rows]
    found += [[*map(int, column(name))] for name in integers.split()]
    for name in texts.split():
        found.append([*map(str.strip, column(name))])
        if "" in found[-1] and (default := columns[name][1]):
            found[-1] = [word or default for word in found[-1]]
    for name in numbers.split():
        found.append([*map(float, column(name))])
        if not math.isfinite(sum(found[-1])):
            raise ValueError(name)
    return [*zip(*found, strict=True)]


def element(naming: str, identifier: str = "1") -> str:
    """The id of an element: the first at a place has the plain name, ``GEN7``, others their identifier, ``GEN7_2``."""
    if identifier in ("", "1"):
        return naming
    return f"{naming}_{identifier if identifier.isalnum() else _SPECIAL.sub('-', identifier)}"


def listed(items: Iterable[Any], most: int = 10) -> str:
    """``1, 2, 3, ...``, each once."""
    unique = [str(item) for item in dict.fromkeys(items)]
    return ", ".join(unique[:most]) + (f", ... ({len(unique)} in all)" if len(unique) > most else "")
