"""Spreadsheets (``.xlsx``): the tables of gridcore's own format, one sheet for each model.

The first row of a sheet names the fields, every further row is a device, and an empty cell is a field that
is not given. The sheet ``case`` has two columns, headings and their values: name, title, base_mva,
frequency, and free text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from pathlib import Path
from typing import Any

from gridcore.case import Case, Record
from gridcore.errors import CaseError

from . import native

SHEET = "case"
INFINITE = {"inf": math.inf, "-inf": -math.inf}  # Excel has no such number


def read(path: Path) -> Case:
    """Read a case; rows know their sheet and number, for error messages."""
    import openpyxl

    file = str(path)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        sheets = [(sheet.title, [(n, tuple(row)) for n, row in enumerate(sheet.iter_rows(values_only=True), 1)
                                 if any(cell is not None for cell in row)])
                  for sheet in book.worksheets]
    except OSError as error:
        raise CaseError(f"cannot be read: {error.strerror or error}", file=file) from None
    except Exception as error:  # a damaged file breaks whatever part of zip, XML or openpyxl meets it first
        raise CaseError(f"is not a spreadsheet that can be read: {type(error).__name__}: {error}", file=file) from None
    case = Case(path.stem)
    for title, rows in sheets:
        if title == SHEET:
            _headings(case, rows, file)
        else:
            case.records += _records(title, rows, file)
    return case


def _headings(case: Case, rows: list[tuple[int, tuple[Any, ...]]], file: str) -> None:
    for n, (key, value, *_) in ((n, (*row, None)) for n, row in rows):
        place = f"sheet {SHEET} row {n}"
        if not isinstance(key, str):
            raise CaseError("the first column is the name of a heading", file=file, row=place)
        native.set_heading(case, key, "" if value is None else value, file, place)


def _records(model: str, rows: list[tuple[int, tuple[Any, ...]]], file: str) -> Iterator[Record]:
    if not rows:
        return
    names = rows[0][1]
    for n, cells in rows[1:]:
        fields: dict[str, Any] = {}
        for name, value in zip(names, cells):
            if value is None:
                continue
            place = f"sheet {model} row {n}"
            if not isinstance(name, str):
                raise CaseError(f"{value!r} stands in a column without a name", file=file, row=place)
            if name in fields:
                raise CaseError("two columns have this name", file=file, row=place, field=name)
            if not isinstance(value, str | Real):
                raise CaseError(f"{value} is neither a number nor text", file=file, row=place, field=name)
            fields[name] = INFINITE.get(value, value) if isinstance(value, str) else value
        yield Record(model, fields, file, f"sheet {model} row {n}")


def write(case: Case, path: Path) -> None:
    """Write a case; a name that would change because rows are grouped by model is written down."""
    import openpyxl

    rows, names = native.grouped(case)
    if SHEET in rows:
        raise CaseError("no model can have the name of this sheet", file=str(path), field=SHEET)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(SHEET)
    for key, value in (*native.headings(case).items(), *case.about.items()):
        sheet.append([_cell(sheet, key, case, key), _cell(sheet, value, case, key)])
    for model, records in rows.items():
        sheet = book.create_sheet(model)
        sheet.freeze_panes = "A2"
        all_fields = [native.named(record, names.get(id(record))) for record in records]
        columns = list(dict.fromkeys(key for fields in all_fields for key in fields))
        sheet.append([_cell(sheet, column, records[0], column) for column in columns])
        for record, fields in zip(records, all_fields):
            sheet.append([_cell(sheet, fields[key], record, key) if key in fields else None for key in columns])
    book.save(path)


def _cell(sheet: Any, value: Any, where: Any, key: str) -> Any:
    """A cell that reads back as the value: text stays text, whatever it looks like."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    if isinstance(value, Real) and not isinstance(value, bool):
        value = int(value) if isinstance(value, int) else float(value)
        if not math.isinf(value):
            return value
        value = str(value)
    if not isinstance(value, bool | str):
        raise native.unwritable(value, where, key)
    try:
        cell = WriteOnlyCell(sheet, value)
    except IllegalCharacterError:
        raise CaseError("has a character that a spreadsheet cannot hold", field=key) from None
    if isinstance(value, str):
        cell.data_type = "s"  # '=1+1' is no formula
    return cell
