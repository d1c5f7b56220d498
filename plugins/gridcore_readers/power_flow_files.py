"""The power-flow files of PSS/E that records of a case were read from, for what a case does not keep of them."""

from __future__ import annotations

from pathlib import Path

from gridcore.contract import Record
from gridcore.errors import CaseError

from . import raw_text, rawx
from .psse import Row
from .raw_tables import Tables


class PowerFlowFiles:
    """Tables of power-flow files; each file is read once."""

    def __init__(self) -> None:
        self._tables: dict[str, Tables] = {}
        self._rows: dict[tuple[str, str], dict[str, Row]] = {}

    def tables(self, record: Record, id: str, what: str) -> Tables:
        """All of the file that the record of a device is from; `what` is looked for there.

        Raises
        ------
        CaseError
            If it is from another file.
        """
        file = record.file
        if not file.lower().endswith((".raw", ".rawx")):
            raise CaseError(f"{what} in the RAW file, and '{id}' is not from one")
        if file not in self._tables:
            self._tables[file] = (rawx if file.lower().endswith("x") else raw_text).read_tables(Path(file))
        return self._tables[file]

    def row(self, record: Record, id: str, section: str, what: str) -> Row:
        """The row of a section that a record was read from."""
        tables, key = self.tables(record, id, what), (record.file, section)
        if key not in self._rows:
            self._rows[key] = {row.place: row for row in tables.rows[section]}
        return self._rows[key][record.row]
