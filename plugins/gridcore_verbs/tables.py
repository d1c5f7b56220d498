"""Tables of a verb: text for the screen, CSV for other programs."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DIGITS = {"Vm [pu]": 5, "Va [deg]": 3, "P [MW]": 3, "Q [MVAr]": 3}


@dataclass
class Table:
    """Columns by heading, all of one length."""

    columns: dict[str, list[Any]]

    def text(self) -> str:
        """Aligned columns: text to the left, numbers to the right."""
        parts = []
        for heading, values in self.columns.items():
            digits = _DIGITS.get(heading)
            # adding zero turns -0.0 into 0.0
            cells = [str(v) if digits is None else f"{round(v, digits) + 0.0:.{digits}f}" for v in values]
            width = max(map(len, [heading, *cells]))
            side = "<" if digits is None else ">"
            parts.append([f"{cell:{side}{width}}" for cell in (heading, *cells)])
        return "\n".join("  ".join(row).rstrip() for row in zip(*parts, strict=True))


def write_csv(table: Table, path: Path) -> None:
    """Write a table with every digit."""
    from gridcore.results import whole_file

    with whole_file(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([heading or "remark" for heading in table.columns])
        writer.writerows(zip(*table.columns.values(), strict=True))


def per(of: str, to: str) -> str:
    """The unit of a derivative, ``"pu / s"``; nothing where neither has one."""
    return f"{of or 1} / {to or 1}" if of or to else ""
