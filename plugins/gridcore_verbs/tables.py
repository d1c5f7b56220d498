"""Tables of a verb: text for the screen, CSV and JSON for other programs."""

from __future__ import annotations

import contextlib
import csv
import functools
import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gridcore_notebook import html

_JSON = "gridcore.json"
_SHOWN = re.compile(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|inf|nan)")  # a number as it is shown; 1_2 and INF are names
_DIGITS = {"Vm [pu]": 5, "Va [deg]": 3, "P [MW]": 3, "Q [MVAr]": 3}


@dataclass
class Table:
    """Columns by heading, all of one length."""

    columns: dict[str, list[Any]]

    _repr_html_ = html

    def text(self) -> str:
        """Aligned columns: text to the left, numbers to the right."""
        parts = []
        for heading, cells in self._texts().items():
            width = max(map(len, [heading, *cells]))
            side = ">" if heading in _DIGITS else "<"
            parts.append([f"{cell:{side}{width}}" for cell in (heading, *cells)])
        return "\n".join("  ".join(row).rstrip() for row in zip(*parts, strict=True))

    def _texts(self) -> dict[str, list[str]]:
        """The columns as they are shown."""
        # adding zero turns -0.0 into 0.0
        return {heading: [str(v) if (digits := _DIGITS.get(heading)) is None else
                          f"{round(v, digits) + 0.0:.{digits}f}" for v in values]
                for heading, values in self.columns.items()}

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as they are shown."""
        return list(zip(*self._texts().values(), strict=True))

    def rows(self) -> list[dict[str, Any]]:
        """A mapping for each row, for JSON: a text that shows a number is one; None is what is not finite, or blank."""
        headings = [heading.strip() or "remark" for heading in self.columns]
        return [dict(zip(headings, map(_plain, row), strict=True))
                for row in zip(*self.columns.values(), strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip() or (None if value else "")
    if isinstance(value, bool | None) or (isinstance(value, str) and not _SHOWN.fullmatch(value)):
        return value
    for kind in (int, float) if isinstance(value, int | str) else (float,):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return number if math.isfinite(number := kind(value)) else None
    return str(value)


def show(name: str, table: Table, text: str | None = None) -> None:
    """A table of the verb, on the screen, or what is shown in its place; with ``--json`` it stands under this name."""
    kept = click.get_current_context().meta.get(_JSON)
    if kept is None:
        click.echo(table.text() if text is None else text)
    else:
        kept[name] = table.rows()


def as_tables() -> bool:
    """Whether ``--json`` asks for tables, also of what a verb tells in words otherwise."""
    return _JSON in click.get_current_context().meta


def json_option(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The option ``--json`` of a verb that shows tables by :func:`show`: they alone go to standard output, as one
    object; all else that the verb says goes to standard error.
    """
    @click.option("--json", "as_json", is_flag=True, help="The tables as one JSON object; all else on standard error.")
    @functools.wraps(verb)
    def wrapped(*args: Any, as_json: bool, **named: Any) -> Any:
        if not as_json:
            return verb(*args, **named)
        tables: dict[str, Any] = {}
        click.get_current_context().meta[_JSON] = tables
        try:
            with contextlib.redirect_stdout(sys.stderr):
                verb(*args, **named)
        except click.exceptions.Exit:  # what was found is told, and that it is not well
            click.echo(json.dumps(tables, ensure_ascii=False))
            raise
        click.echo(json.dumps(tables, ensure_ascii=False))

    return wrapped


def write_csv(table: Table, path: Path, made: Mapping[str, str]) -> None:
    """Write a table with every digit; and, beside it, what made it (:func:`gridcore_provenance.record.provenance`)."""
    from gridcore.results import whole_file
    from gridcore_provenance.beside import describe_table

    with whole_file(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([heading or "remark" for heading in table.columns])
        writer.writerows(zip(*table.columns.values(), strict=True))
    describe_table(path, dict.fromkeys((heading or "remark" for heading in table.columns), ""), made)


def per(of: str, to: str) -> str:
    """The unit of a derivative, ``"pu / s"``; nothing where neither has one."""
    return f"{of or 1} / {to or 1}" if of or to else ""
