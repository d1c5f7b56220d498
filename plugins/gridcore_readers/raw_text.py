"""The tables of a power-flow file of PSS/E as text (``.raw``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gridcore.errors import CaseError

from . import sources
from .plain_lines import odd_lines
from .psse import MANY, Columns, Row, columns, split
from .raw_tables import (
    COLUMNS,
    DC_TERMINAL,
    HEADER,
    IMPEDANCE,
    MULTI_TERMINAL,
    SEVERAL,
    VERSIONS,
    VSC_TERMINAL,
    WINDING,
    Tables,
    layout,
    sections,
)

#: Sections whose records have further lines.
CONTINUED = (*SEVERAL, "impedance correction", "substation")
MANY_LINES = 10_000  # of one kind in a record: what is more is damaged
NEEDED = 34  # the first version that may end before its last sections
Line = tuple[int, list[str]]
_SAID = re.compile(r"PSS\W*(?:\(\w+\))?\W*E\D{0,10}(\d\d)\b", re.IGNORECASE)
_SETTING = re.compile(r"\b(THRSHZ|PQBRAK)\s*=\s*([-+.\dEeDd]+)")
_POINT = columns("T,F=0")
_FACTORS = 3  # numbers of a point of an impedance correction table that has complex factors


def read_tables(path: Path) -> Tables:
    """Read a file.

    Raises
    ------
    CaseError
        If it is of a version before 29 or after 36, ends too early, or a record is malformed: file, line and field.
    """
    file = str(path)
    text = sources.text(path, errors="replace")
    lines: Iterator[tuple[int, str]] = enumerate(text.split("\n"), 1)
    if "@!" in text:
        lines = ((number, line) for number, line in lines if not line.startswith("@!"))
    found = _header(lines, file, text)
    titles = [line.strip() for _, line in (next(lines, (0, "")), next(lines, (0, "")))]
    found.title = " ".join(filter(None, titles))
    if found.version >= NEEDED:
        _solution(lines, found)
    records = _Records(lines, odd_lines(text), file)
    for section in sections(found.version):
        if not _section(section, records, found):
            return found
    return found


def _header(lines: Iterator[tuple[int, str]], file: str, text: str) -> Tables:
    for number, line in lines:
        try:
            words, comment = split(line)
        except CaseError:
            words, comment = [], None
        header = Row(words, layout(HEADER, VERSIONS[0]), file, f"line {number}")
        try:
            version = header.integer("REV") if header.text("REV") else 0
            header.number("SBASE")
            header.integer("IC")
        except CaseError:
            version = -1
        if not text.strip():
            break
        if version < 0 or not words:
            raise CaseError("is not a PSS/E power-flow file: its first record is not 'IC, SBASE, REV, ...'",
                            file=file, row=f"line {number}")
        notes: list[str] = []
        if not version:
            version, notes = _guess(comment or "", text)
        if version not in VERSIONS:
            raise header.error(f"is a PSS/E power-flow file of version {version}; versions {VERSIONS[0]} to "
                               f"{VERSIONS[-1]} are read, and PSS/E writes them too", "REV")
        return Tables(header, version, remark=(comment or "").strip(), notes=notes)
    raise CaseError("is empty", file=file)


def _guess(comment: str, text: str) -> tuple[int, list[str]]:
    """The version of a file whose first record has none, from its remark or from its sections."""
    said = _SAID.search(comment)
    if said:
        return int(said[1]), [f"the first record has no version: {said[1]} is taken, which its remark says"]
    version = 33 if re.search(r"fixed\s+(bus\s+)?shunt", text, re.IGNORECASE) else 30
    return version, [f"the first record has no version: {version} is taken, which the names of its sections speak for"]


def _solution(lines: Iterator[tuple[int, str]], found: Tables) -> None:
    """The lines before the buses: parameters of the solution, names of ratings."""
    for _, line in lines:
        if re.match(r"\s*0\s*(/|$)", line) or re.match(r"\s*[Qq]\s*$", line):
            return
        found.solution |= {name: float(re.sub("[dD]", "e", value)) for name, value in _SETTING.findall(line)
                           if re.fullmatch(r"\d*\.?\d+([EeDd][-+]?\d{1,2})?|\d+\.", value)}


class _Records:
    """What is left of a file: the number of a line and its words, of which some are wanted."""

    def __init__(self, lines: Iterator[tuple[int, str]], odd: set[int], file: str):
        self.lines, self.odd, self.file = lines, odd, file

    def all(self, most: int = MANY) -> Iterator[Line]:
        """One record after the other, with `most` words: those beyond would be half of the work."""
        odd = self.odd
        for number, line in self.lines:
            if number in odd:
                try:
                    words, rest = split(line)
                except CaseError as error:
                    raise CaseError(str(error), file=self.file, row=f"line {number}") from None
                if words or rest is not None:
                    yield number, words
                continue
            words = line.replace("'", "").split(",", most)
            if len(words) > most:
                del words[-1]
            if not words[-1].strip():
                while words and not words[-1].strip():
                    del words[-1]
                if not words:
                    continue
            yield number, words

    def next(self) -> Line:
        """The next record, without a number where there is none."""
        return next(self.all(), (0, []))


def _section(section: str, records: _Records, found: Tables) -> bool:
    """Read one section up to its zero; False where the data end."""
    names, rows, version = layout(COLUMNS.get(section, "I"), found.version), found.rows[section], found.version
    number, count, continued, file = 0, 0, section in CONTINUED, records.file
    end = DC_TERMINAL if section == "two-terminal dc" else VSC_TERMINAL
    texts = (IMPEDANCE, *[WINDING] * 3) if section == "transformer" else (end, end)
    layouts = [layout(text, version) for text in texts]
    further = [(each, records.all(each.width)) for each in layouts]
    for number, words in records.all(names.width if section in COLUMNS else MANY):
        first = words[0] if words else ""
        if len(first) < 9 and (first := first.strip()) in ("0", "Q", "q"):
            return first == "0"
        count += 1
        row = Row(words, names, file, f"{section} row {count} (line {number})")
        rows.append(row)
        if not continued:
            continue
        if section == "transformer":
            windings = 3 if row.integer("K") else 2
            found.further[section].append(_lines(row, further[:1 + windings]))
        elif section in ("two-terminal dc", "VSC dc"):
            ends = _lines(row, further)
            if any(end.words and end.words[0].strip() == "0" for end in ends):
                rows.pop()
                found.notes.append(f"{row.place} is not complete, and left out with the rest of its section")
                return True
            found.further[section].append(ends)
        elif section == "multi-terminal dc":
            found.further[section].append([line for count, _, text in MULTI_TERMINAL
                                           for line in _several(row, count, layout(text, version), records)])
        elif section == "impedance correction":
            _correction(row, records, found)
        elif section == "substation":
            for _ in ("nodes", "switching devices", "terminals"):
                _block(row, records)
    past = sections(version)
    if past.index(section) <= past.index("switched shunt") or (version < 31 and section != past[-1]):
        raise CaseError(f"ends within the {section} data" if number else f"ends before the {section} data", file=file)
    return False


def _lines(row: Row, further: list[tuple[Columns, Iterator[Line]]]) -> list[Row]:
    """The further lines of a record: each the next one, with its columns."""
    out = []
    for names, records in further:
        number, words = next(records, (0, []))
        if not number:
            raise row.error(f"the file ends within this {row.place.partition(' row')[0]}")
        out.append(Row(words, names, row.file, f"{row.place}, line {number}"))
    return out


def _several(row: Row, count: str, names: Columns, records: _Records) -> list[Row]:
    """As many lines of a kind as a record says."""
    number = row.integer(count)
    if not 0 <= number <= MANY_LINES:
        raise row.error(f"must be from 0 to {MANY_LINES}", count)
    return _lines(row, [(names, records.all(names.width))] * number)


def _block(row: Row, records: _Records) -> None:
    """A list within a record, up to its own zero."""
    for _, words in records.all():
        if words and words[0].strip() == "0":
            return
    raise row.error("the file ends within this record")


def _correction(row: Row, records: _Records, found: Tables) -> None:
    """A table of factors: pairs in a line, or threes in several lines, up to one of zeros."""
    number, words = row.integer("I"), row.words[1:]
    size = 2 if found.version < NEEDED else _FACTORS
    points: list[tuple[float, complex]] = []
    while True:
        values = [_value(row, word) for word in words]
        for k in range(0, len(values) - size + 1, size):
            t, real, *imaginary = values[k:k + size]
            if t == real == 0:
                found.corrections[number] = points
                return
            points.append((t, complex(real, *imaginary)))
        if size == 2:
            found.corrections[number] = points
            return
        line, words = records.next()
        if not line:
            raise row.error("the file ends within this record")


def _value(row: Row, word: str) -> float:
    return Row([word], _POINT, row.file, row.place).number("T,F")
