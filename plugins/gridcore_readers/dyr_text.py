"""The records of PSS/E dynamic data files: ``bus 'MODEL' id values... /``, over any number of lines.

Those of a line for direct current begin with its name, ``'name' 'MODEL' values... /``.

Siemens PTI, PSS/E Program Operation Manual, "Dynamics model raw data file contents". What follows a slash is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gridcore.errors import CaseError

from . import sources
from .psse import split

Key = tuple[int, str]
#: bus 'USRMDL' id 'NAME' IC IT NI NC NS NV, NI + NC values: where the name stands, and how much before the values.
USER = {"USRMDL": 3, "USRLOD": 3, "USRBUS": 2}
USER_HEAD = 7
_NAMED = re.compile(r"""\s*(['"])[^'"]*\1[\s,]+'[A-Za-z]\w*'""")  # the beginning of a record with a name
_NEXT = re.compile(rf"\s*\d+[\s,]+'|{_NAMED.pattern}")
_BEGIN = re.compile(r"\s*[+-]?\d+(?:[\s,]|$)")  # of a record: the number of a bus
_NUMBERS = re.compile(r"[\s\d.,eEdD+*-]*$")


@dataclass
class Model:
    """One record: a model at the machine or load of a bus.

    Attributes
    ----------
    bus : int
        Zero where it begins with a name.
    name : str
        The model, in capitals.
    identifier : str
    values : list of str
    line : int
        Where the record begins.
    further : dict
        Parameters that the device has and a DYR record has not.
    named : bool
        Whether it begins with a name, which is the identifier, and not with a bus.
    """

    bus: int
    name: str
    identifier: str
    values: list[str]
    line: int
    further: dict[str, float] = field(default_factory=dict)
    named: bool = False

    @property
    def key(self) -> Key:
        """What identifies a machine or a load: bus and identifier."""
        return self.bus, self.identifier

    @property
    def place(self) -> str:
        """For errors."""
        if self.named:
            return f"{self.name} '{self.identifier}' (line {self.line})"
        return f"{self.name} at bus {self.bus} '{self.identifier}' (line {self.line})"


def read_models(path: Path) -> tuple[list[Model], list[str]]:
    """The records of a file, and notes on what is no record of a model.

    Raises
    ------
    CaseError
        If the file ends within a record, or a record is malformed: file and line.
    """
    models, skipped = [], []
    for line, words, named in _records(path):
        if named:
            models.append(Model(0, words[1].upper(), words[0].strip(), words[2:], line, named=True))
            continue
        if not re.fullmatch(r"[+-]?\d{1,18}", words[0]):
            skipped.append(f"line {line}: '{words[0]}' is not the number of a bus, and the record is skipped")
            continue
        if len(words) < 3:
            raise CaseError("a record is 'bus, model, id, values /'", file=str(path), row=f"line {line}")
        name, identifier, values = words[1].upper(), words[2], words[3:]
        at = USER.get(name, 0)
        if at and len(words) >= at + USER_HEAD:
            name, identifier, values = words[at].upper(), words[2] if at > 2 else "1", words[at + USER_HEAD:]
        models.append(Model(int(words[0]), name, identifier, values, line))
    return models, skipped


def _records(path: Path) -> Iterator[tuple[int, list[str], bool]]:
    """(line on which it begins, words, whether it begins with a name) of everything that a slash ends."""
    file = str(path)
    text = sources.text(path, errors="replace")
    words: list[str] = []
    began, remark, named = 0, False, False
    for number, line in enumerate(text.splitlines(), 1):
        rest: str | None = line
        within, remark = remark, not words and _remark(line, remark)
        if remark and "/" not in line:  # whoever forgot the slash before a remark did not mean the next record
            if not within:
                yield number, line.split()[:1], False
            continue
        while rest is not None:
            start = rest
            try:
                found, rest = split(start, blanks=True)
            except CaseError as error:
                if remark:
                    break
                raise CaseError(str(error), file=file, row=f"line {number}") from None
            if found and not words:
                began, named = number, bool(_NAMED.match(start))
            words += found
            if rest is None:
                break
            if words:
                yield began, words, named
            words = []
            if not _NEXT.match(rest):  # a comment, unless it can only be the next record
                break
    if words:
        raise CaseError("the file ends within this record: no '/'", file=file, row=f"line {began}")


def _remark(line: str, within: bool) -> bool:
    """Whether a line that should begin a record does not: it has neither the number of a bus nor a name and a model, or
    goes on with such lines.
    """
    begins = _BEGIN.match(line) or _NAMED.match(line)
    return bool(line.strip()) and (not begins or (within and bool(_NUMBERS.match(line))))
