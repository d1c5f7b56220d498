"""The tables of a power-flow file of PSS/E as JSON (``.rawx``, versions 35 and 36): each names its columns."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gridcore.errors import CaseError

from . import sources
from .psse import Row
from .raw_tables import (
    COLUMNS,
    DC_TERMINAL,
    HEADER,
    IMPEDANCE,
    MULTI_TERMINAL,
    RAWX,
    RAWX_COLUMNS,
    VERSIONS,
    VSC_TERMINAL,
    WINDING,
    Tables,
    named,
)


def read_tables(path: Path) -> Tables:
    """Read a file.

    Raises
    ------
    CaseError
        If it is no such file, or a table is malformed: file and table.
    """
    file = str(path)
    network = _network(path)
    words, fields = _case(network, file)
    header = Row(words, named(HEADER, fields), file, "caseid")
    version = header.integer("REV")
    if version not in VERSIONS:
        raise header.error(f"is a PSS/E power-flow file of version {version}; versions {VERSIONS[0]} to "
                           f"{VERSIONS[-1]} are read", "REV")
    found = Tables(header, version, " ".join(filter(None, (words[fields[name]] for name in ("TITLE1", "TITLE2")
                                                           if name in fields and fields[name] < len(words)))))
    for name in network:
        if name in RAWX:
            _table(name, network, found, file)
        elif name == "general":
            fields, rows = _rows(name, network, file)
            found.solution |= {key: Row(rows[0], named(f"{key}=0", fields), file, name).number(key)
                               for key in ("THRSHZ", "PQBRAK") if rows and fields.get(key, len(rows[0])) < len(rows[0])}
    return found


def _network(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(sources.text(path, errors="replace"))
    except (ValueError, RecursionError) as error:
        raise CaseError(f"is not valid JSON: {str(error) or 'too deep'}", file=str(path)) from None
    network = data.get("network") if isinstance(data, dict) else None
    if not isinstance(network, dict) or "caseid" not in network:
        raise CaseError("is not a PSS/E power-flow file: it has no network with a caseid", file=str(path))
    return network


def _case(network: dict[str, Any], file: str) -> tuple[list[str], dict[str, int]]:
    fields, rows = _rows("caseid", network, file)
    if len(rows) != 1:
        raise CaseError(f"has {len(rows)} rows in caseid, of one", file=file)
    return rows[0], fields


def _rows(name: str, network: dict[str, Any], file: str) -> tuple[dict[str, int], list[list[str]]]:
    """Where each column of a table stands, by its name in capitals, and its rows as words."""
    table = network[name]
    fields, data = (table.get(key) for key in ("fields", "data")) if isinstance(table, dict) else (None, None)
    if not isinstance(fields, list) or not isinstance(data, list) or not all(isinstance(f, str) for f in fields):
        raise CaseError("is no table: it has no fields and data", file=file, row=name)
    own = RAWX_COLUMNS | RAWX.get(name, ("", {}))[1]
    rows = [data] if data and not isinstance(data[0], list) else data
    if not all(isinstance(row, list) for row in rows):
        raise CaseError("is no table: a row is no list", file=file, row=name)
    places = {own.get(field, field.upper()): n for n, field in enumerate(fields)}
    return places, [[_word(value) for value in row] for row in rows]


def _word(value: Any) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else str(int(value)) if isinstance(value, bool) else str(value)


def _table(name: str, network: dict[str, Any], found: Tables, file: str) -> None:
    section = RAWX[name][0]
    fields, rows = _rows(name, network, file)
    names = named(COLUMNS.get(section, "I="), fields)
    made = [Row(words, names, file, f"{name} row {n}") for n, words in enumerate(rows, 1)]
    if section == "impedance correction":
        _corrections(made, fields, found)
        return
    found.rows[section] = made
    if section == "transformer":
        impedance = named(IMPEDANCE, {re.sub(r"(\d)_(\d)$", r"\1-\2", key): n for key, n in fields.items()})
        windings = [named(WINDING, _with(fields, str(k))) for k in (1, 2, 3)]
        found.further[section] = [[Row(row.words, each, file, row.place) for each in (
            impedance, *windings[:3 if row.integer("K") else 2])] for row in made]
    elif section in ("two-terminal dc", "VSC dc"):
        endings, text = ("RI", DC_TERMINAL) if section == "two-terminal dc" else ("12", VSC_TERMINAL)
        ends = [named(text, _with(fields, ending)) for ending in endings]
        found.further[section] = [[Row(row.words, end, file, row.place) for end in ends] for row in made]
    elif section == "multi-terminal dc":
        parts = [_parts(part, text, network, file) for _, part, text in MULTI_TERMINAL]
        found.further[section] = [_of(row, parts) for row in made]


def _parts(name: str, text: str, network: dict[str, Any], file: str) -> list[Row]:
    """The rows of a table whose records belong to others by their NAME."""
    fields, rows = _rows(name, network, file) if name in network else ({}, [])
    names = named(f"NAME {text}", fields)
    return [Row(words, names, file, f"{name} row {n}") for n, words in enumerate(rows, 1)]


def _of(row: Row, parts: list[list[Row]]) -> list[Row]:
    """Those that belong to this one, as many as it says."""
    name, out = row.text("NAME"), []
    for (count, table, _), rows in zip(MULTI_TERMINAL, parts):
        own = [part for part in rows if part.text("NAME") == name]
        if len(own) != row.integer(count):
            raise row.error(f"{table} has {len(own)} rows of it", count)
        out += own
    return out


def _with(fields: dict[str, int], ending: str) -> dict[str, int]:
    """The columns whose names end so, without that: those of one winding, or of one converter."""
    out = {key[:-1]: n for key, n in fields.items() if key.endswith(ending)}
    for theirs, ours in (("VSREG", "REMOT"),):
        if theirs in out:
            out[ours] = out[theirs]
    return out


def _corrections(rows: list[Row], fields: dict[str, int], found: Tables) -> None:
    names = named("ITABLE TAP=0 REFACT=0 IMFACT=0", fields)
    for row in rows:
        point = Row(row.words, names, row.file, row.place)
        found.corrections.setdefault(point.integer("ITABLE"), []).append(
            (point.number("TAP"), complex(point.number("REFACT"), point.number("IMFACT"))))
