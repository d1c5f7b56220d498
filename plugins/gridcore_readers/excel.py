"""Spreadsheets (``.xlsx``): the tables of gridcore's own format, one sheet for each model.

The first row of a sheet names the fields, every further row is a device, and an empty cell is a field that
is not given. The sheet ``case`` has two columns, headings and their values: name, title, base_mva,
frequency, and free text.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO

from gridcore.case import Case
from gridcore.contract import Record
from gridcore.errors import CaseError

from . import sources
from .native import grouped, headings, named, set_heading, unwritable
from .recordings import read_recordings

SHEET = "case"
INFINITE = {"inf": math.inf, "-inf": -math.inf}  # Excel has no such number

Rows = list[tuple[int, tuple[Any, ...]]]  # with their numbers


def read(path: Path, *, drop: Sequence[str] = (), loads: str = "") -> Case:
    """Read a case; rows know their sheet and number, for error messages.

    A workbook whose buses have an ``idx`` is one of ANDES, and the options are of such: see
    :func:`gridcore_readers.json_file.read`.
    """
    file = str(path)
    sources.check(path)
    try:
        with path.open("rb") as stream:
            with zipfile.ZipFile(stream) as parts:
                found = parts.infolist()
                sources.within(sum(part.file_size for part in found), sources.EXPANDED, "bytes", file)
                packed, size = sum(part.compress_size for part in found), path.stat().st_size
                sources.within(packed, size, "bytes packed", file)  # before it reads, zipfile takes the memory
            sheets = _cells(stream, file)
    except CaseError:
        raise
    except OSError as error:
        raise CaseError(f"cannot be read: {error.strerror or error}", file=file) from None
    except Exception as error:  # a damaged file breaks whatever part of zip, XML or openpyxl meets it first
        raise CaseError(f"is not a spreadsheet that can be read: {type(error).__name__}: {error}", file=file) from None
    if any(title == "Bus" and rows and "idx" in rows[0][1] for title, rows in sheets):
        from . import andes  # which few workbooks need

        tables = {title: [dict(zip(map(str, rows[0][1]), cells)) for _, cells in rows[1:]]
                  for title, rows in sheets if rows}
        return andes.case_of(path, tables, drop, loads)
    case = Case(path.stem)
    for title, rows in sheets:
        if title == SHEET:
            _headings(case, rows, file)
        else:
            case.records += _records(title, rows, file)
    read_recordings(case)
    return case


def _cells(stream: BinaryIO, file: str) -> list[tuple[str, Rows]]:
    """The rows of each sheet that have anything in them; of formulas the values that are stored with them.

    What is written and what is stored are read one after the other, the second only where there is a formula.
    """
    import openpyxl

    sheets: list[tuple[str, Rows]] = []
    cells = filled = 0
    for sheet in openpyxl.load_workbook(stream, read_only=True).worksheets:
        sheets.append((sheet.title, rows := []))
        for n, row in enumerate(sheet.iter_rows(values_only=True), 1):  # a few bytes make a million of them
            cells += len(row) + 1
            filled += sum(cell is not None for cell in row)
            sources.within(cells, sources.CELLS, "cells", file)
            sources.within(cells - filled, sources.EMPTY[0] + sources.EMPTY[1] * filled, "empty cells", file)
            if any(cell is not None for cell in row):
                rows.append((n, tuple(row)))
    if any(_computes(cell) for _, rows in sheets for _, row in rows for cell in row):
        for (title, rows), sheet in zip(sheets, openpyxl.load_workbook(stream, read_only=True, data_only=True)):
            written = dict(rows)
            rows[:] = [(n, tuple(_stored(*both, title, file) for both in zip(written[n], row)))
                       for n, row in enumerate(sheet.iter_rows(), 1) if n in written]
    return sheets


def _computes(cell: Any) -> bool:
    """Whether it may be a formula: text that begins as one, or what openpyxl makes of formulas for a range."""
    return cell.startswith("=") if isinstance(cell, str) else hasattr(cell, "ref")


def _stored(written: Any, cell: Any, title: str, file: str) -> Any:
    """The value of a cell; none of a formula that comes to an empty text."""
    if written is not None and cell.value is None and cell.data_type != "str":
        raise CaseError("a formula without a stored value: open the file in a spreadsheet and save it", file=file,
                        row=f"sheet {title} cell {cell.coordinate}")
    return cell.value


def _headings(case: Case, rows: Rows, file: str) -> None:
    for n, (key, value, *_) in ((n, (*row, None)) for n, row in rows):
        place = f"sheet {SHEET} row {n}"
        if not isinstance(key, str):
            raise CaseError("the first column is the name of a heading", file=file, row=place)
        set_heading(case, key, "" if value is None else value, file, place)


def _records(model: str, rows: Rows, file: str) -> Iterator[Record]:
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

    rows, names = grouped(case)
    if SHEET in rows:
        raise CaseError("no model can have the name of this sheet", file=str(path), field=SHEET)
    heading = {**headings(case), **case.about}
    sheets: dict[str, list[list[_Cell | None]]] = {SHEET: [
        [_cell(key, case, key), _cell(value, case, key) if value != "" else None] for key, value in heading.items()]}
    for model, records in rows.items():
        all_fields = [named(record, names.get(id(record))) for record in records]
        columns = list(dict.fromkeys(key for fields in all_fields for key in fields))
        sheets[model] = [[_cell(column, records[0], column) for column in columns]]
        sheets[model] += [[_cell(fields[key], record, key) if key in fields else None for key in columns]
                          for record, fields in zip(records, all_fields)]
    book = openpyxl.Workbook(write_only=True)
    for title, cells in sheets.items():
        sheet = book.create_sheet(title)
        sheet.freeze_panes = None if title == SHEET else "A2"
        for row in cells:
            sheet.append([None if cell is None else cell.on(sheet) for cell in row])
    content = io.BytesIO()  # a file that cannot be written would be tried once more when it is forgotten
    book.save(content)
    path.write_bytes(content.getvalue())


@dataclass(frozen=True)
class _Cell:
    """Text of a cell, and whether it is a number (n), a word (s) or a truth value (b)."""

    text: str | bool
    kind: str

    def on(self, sheet: Any) -> Any:
        """The cell of openpyxl."""
        from openpyxl.cell import WriteOnlyCell

        cell = WriteOnlyCell(sheet, self.text)
        cell.data_type = self.kind  # '=1+1' is no formula
        return cell


def _cell(value: Any, where: Any, key: str) -> _Cell:
    """What reads back as the value: text stays text, whatever it looks like, and numbers keep every digit."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, bool):
        return _Cell(value, "b")
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
        return _Cell(repr(number), "s" if math.isinf(number) else "n")  # of a number itself it would write 16 digits
    if not isinstance(value, str) or not value:
        raise unwritable(value, where, key)
    if ILLEGAL_CHARACTERS_RE.search(value):
        raise CaseError("has a character that a spreadsheet cannot hold", field=key)
    return _Cell(value, "s")
