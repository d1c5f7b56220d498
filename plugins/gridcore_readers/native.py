"""gridcore's own case format: TOML, an array of rows for each device model.

::

    name = "two_bus"
    base_mva = 100
    frequency = 60
    t_end = "5 s"            # how long a study of it lasts
    source = "free text under any heading"

    Bus = [
      {id = 1, kv = 20},       # one row a line; comments are welcome
      {id = 2, kv = 20},
    ]
    Line = [
      {bus1 = 1, bus2 = 2, x = "0.4 ohm"},
    ]

``[[Line]]`` tables, one a row, read the same. Numbers are written so that reading gives back every bit.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
import re
from collections.abc import Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from gridcore.case import Case, convert
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore.suggest import suggest

from . import sources
from .recordings import read_recordings

BASES = {"base_mva": "MVA", "frequency": "Hz"}
HEADINGS = ("name", "title", *BASES)
T_END = "t_end"  # seconds, or text with a unit; kept as text


def read(path: Path) -> Case:
    """Read a case; rows know their line, for error messages.

    Raises
    ------
    CaseError
        If the file is malformed: file, row and field.
    """
    file = str(path)
    data, lines = _parse(path)
    case = Case(path.parent.name if path.name == "case.toml" else path.stem)
    for key, value in data.items():
        if isinstance(value, list):
            case.records += _records(key, value, lines.get(key, []), file)
        else:
            set_heading(case, key, value, file)
    read_recordings(case)
    return case


def extend(case: Case, path: Path) -> None:
    """Add the rows of a file to a case: the events of a study, or further devices.

    Raises
    ------
    CaseError
        If it has anything but rows: name and bases are those of the case.
    """
    data, lines = _parse(path)
    for key, value in data.items():
        if not isinstance(value, list):
            raise CaseError(f"what adds to a case has rows only: {key} = [ {{...}}, ]", file=str(path), field=key)
        case.records += _records(key, value, lines.get(key, []), str(path))
    read_recordings(case)


def _parse(path: Path) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """What a file has by heading or model, and the lines of the rows of each model."""
    data, text = sources.toml(path)
    for key, value in data.items():
        if isinstance(value, dict):
            raise CaseError(f"a model is an array of rows: {key} = [ {{...}}, ] or [[{key}]]; {', '.join(HEADINGS)} "
                            f"and {T_END} of the case are in no table, above all rows", file=str(path), field=key)
    return data, _row_lines(text)


def set_heading(case: Case, key: str, value: Any, file: str, row: str = "") -> None:
    """Give a case its name, title, base quantity or free text as a file has it.

    Raises
    ------
    CaseError
        If this is no heading, or very nearly another one, or its value is of the wrong kind.
    """
    if key in BASES:
        setattr(case, key, _base_quantity(key, value, file))
    elif key == T_END:
        case.about[key] = _duration(value, file, row)
    elif not isinstance(value, str) or difflib.get_close_matches(key, set(HEADINGS) - {key}, 1, 0.85):
        raise CaseError(f"unknown setting{suggest(key, (*HEADINGS, T_END))}", file=file, row=row, field=key)
    elif key in HEADINGS:
        setattr(case, key, value)
    else:
        case.about[key] = value


def _base_quantity(key: str, value: Any, file: str) -> float:
    try:
        return convert(value, BASES[key]) if isinstance(value, str) else value
    except CaseError as error:
        raise CaseError(str(error), file=file, field=key) from None


def _duration(value: Any, file: str, row: str) -> str:
    """How long a study of the case lasts, as the file says it."""
    try:
        seconds = math.nan if isinstance(value, bool) else convert(str(value), "s")
    except CaseError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise CaseError(f"{value!r} must be a number of seconds above 0, or a text such as '500 ms'",
                        file=file, row=row, field=T_END)
    return str(value)


def _records(model: str, rows: list[Any], lines: list[int], file: str) -> Iterator[Record]:
    for n, row in enumerate(rows):
        place = f"{model} row {n + 1}" + (f" (line {lines[n]})" if n < len(lines) else "")
        if not isinstance(row, dict):
            raise CaseError(f"{row!r} is not a row: write {{field = value, ...}}", file=file, row=place)
        yield Record(model, row, file, place)


_TOKEN = re.compile(r"""
    (?P<text> \#[^\n]* | \"{3}(?:\\.|[^\\])*?\"{3} | '{3}.*?'{3} | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
  | ^[ \t]* \[\[ [ \t]* (?P<table>[\w-]+) [ \t]* \]\]
  | ^[ \t]* (?P<key>[\w-]+) [ \t]* =
  | (?P<open>[\[{]) | (?P<close>[\]}])
""", re.VERBOSE | re.MULTILINE | re.DOTALL)


def _row_lines(text: str) -> dict[str, list[int]]:
    """The line of each row of each model: what ``tomllib`` does not tell."""
    found: dict[str, list[int]] = {}
    model, depth, line, seen = "", 0, 1, 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
            if depth == 2 and model and token["open"] == "{":
                line, seen = line + text.count("\n", seen, token.start()), token.start()
                found.setdefault(model, []).append(line)
        elif kind == "close":
            depth -= 1
        elif kind == "table" and depth == 0:
            line, seen = line + text.count("\n", seen, token.end()), token.end()
            found.setdefault(token["table"], []).append(line)
        elif kind == "key" and depth == 0:
            model = token["key"]
    return found


def write(case: Case, path: Path) -> None:
    """Write a case, rows grouped by model in order of first appearance, their columns below each other.

    A name that would change because of the grouping (``GEN1_2``) is written down.

    Raises
    ------
    CaseError
        If a value is neither a number nor text, or a heading, text or model has the name of another.
    """
    rows, names = grouped(case)
    keys = [*HEADINGS, *case.about, *rows]
    for key in keys:
        if keys.count(key) > 1:
            raise CaseError("two of the headings, texts and models have this name: each needs its own",
                            file=str(path), field=key)
    text = [f"{key} = {_value(value, case, key)}" for key, value in headings(case).items()]
    text += [f"{_key(key)} = {_lines(value)}" for key, value in case.about.items()]
    for model, records in rows.items():
        text += ["", f"{_key(model)} = ["]
        text += _aligned([[f"{_key(k)} = {_value(v, record, k)}"
                           for k, v in named(record, names.get(id(record))).items()] for record in records])
        text += ["]"]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def headings(case: Case) -> dict[str, Any]:
    """The headings of a case that are not empty."""
    return {key: getattr(case, key) for key in HEADINGS if getattr(case, key) != ""}


def grouped(case: Case) -> tuple[dict[str, list[Record]], dict[int, str]]:
    """Records by model; and, by ``id()`` of the record, names that they had and would lose by that."""
    rows: dict[str, list[Record]] = {}
    for record in case.records:
        rows.setdefault(record.model, []).append(record)
    together = [record for records in rows.values() for record in records]
    if any(a is not b for a, b in zip(together, case.records)):
        before = {id(record): name for record, name in zip(case.records, case.ids())}
        if [before[id(record)] for record in together] != Case("", records=together).ids():
            return rows, before
    return rows, {}


def named(record: Record, name: str | None) -> dict[str, Any]:
    """The fields of a record, with a name it has not given itself."""
    return {"id": name, **record.fields} if name and "id" not in record.fields else record.fields


def _aligned(rows: list[list[str]]) -> list[str]:
    """One row a line; where rows follow each other with the same fields, these stand in columns."""
    out: list[str] = []
    for _, group in itertools.groupby(rows, lambda row: [cell.partition(" = ")[0] for cell in row]):
        block = list(group)
        widths = [max(map(len, column)) + 1 for column in zip(*block)]
        for row in block:
            cells = [f"{cell},".ljust(width) for cell, width in zip(row, widths)]
            out.append("  {" + " ".join(cells).rstrip().rstrip(",") + "},")
    return out


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _quoted(text: str) -> str:
    """A JSON string is a TOML string, but for the one control character that JSON lets through."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> str:
    """Free text, in as many lines as it has."""
    if "\n" not in text:
        return _quoted(text)
    return '"""\n' + "\n".join(_quoted(line)[1:-1] for line in text.split("\n")) + '"""'


def _value(value: Any, where: Any, key: str = "") -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):
        return repr(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, str):
        return _quoted(value)
    raise unwritable(value, where, key)


def unwritable(value: Any, where: Any, key: str) -> CaseError:
    """What to say of a value that no file can hold."""
    message = f"{value!r} is neither a number nor text, and cannot be written"
    return where.error(message, key) if isinstance(where, Record) else CaseError(message, field=key)
