"""Sweep files: a sweep as data in TOML. Nothing in them is executed."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

from gridcore.commands import read_value
from gridcore.errors import CaseError
from gridcore.suggest import suggest

KNOWN = ("case", "set", "contingencies", "vary", "rows", "random", "measures", "t_end", "step", "method", "options",
         "own_events", "deenergise", "enforce_q_limits", "keep", "record", "title", "remarks")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "case": str, "set": dict, "contingencies": dict, "vary": dict, "rows": (list, str), "random": dict,
    "measures": (dict, list), "t_end": (int, float), "step": (int, float, list), "method": str, "options": dict,
    "own_events": bool, "deenergise": bool, "enforce_q_limits": bool, "keep": str, "record": (str, list)}
_SAYS = {str: "a text", dict: "a table", list: "a list", bool: "true or false", int: "an integer", float: "a number"}


def is_sweep(path: Path) -> bool:
    """Whether a file is a sweep: TOML, and it names a case."""
    try:
        return path.suffix == ".toml" and "case" in tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False


def load_sweep(path: str | Path) -> dict[str, Any]:
    """The arguments of a sweep from its file; ``case`` is found beside the file, or by name.

    Raises
    ------
    CaseError
        With file and field of what is wrong.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CaseError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CaseError(f"is not valid TOML: {error}", file=str(path)) from None
    for key, value in data.items():
        if key not in KNOWN:
            raise CaseError(f"unknown heading{suggest(key, KNOWN)}", file=str(path), field=key)
        kinds = _KINDS.get(key, object)
        if not isinstance(value, kinds) or (isinstance(value, bool) and key in _KINDS and kinds is not bool):
            says = " or ".join(_SAYS[k] for k in (kinds if isinstance(kinds, tuple) else (kinds,)))
            raise CaseError(f"{value!r} must be {says}", file=str(path), field=key)
    if "case" not in data:
        raise CaseError("missing: the name of a case, or its file", file=str(path), field="case")
    asked = {key: value for key, value in data.items() if key not in ("title", "remarks")}
    beside = path.parent / asked["case"]
    if beside.exists():
        asked["case"] = str(beside)
    if isinstance(asked.get("rows"), str):
        asked["rows"] = read_rows(path.parent / asked["rows"])
    return asked


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a CSV file: addresses at the head, one scenario below the other.

    Raises
    ------
    CaseError
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except (OSError, UnicodeDecodeError) as error:
        raise CaseError(f"cannot be read: {error}", file=str(path)) from None
    if len(lines) < 2:
        raise CaseError("has no rows: addresses at the head, one scenario in each line below", file=str(path))
    head = [cell.strip() for cell in lines[0]]
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(head) or not all(cell.strip() for cell in line):
            raise CaseError(f"{len(head)} values are wanted", file=str(path), row=f"line {number}")
    return [{a: read_value(cell.strip()) for a, cell in zip(head, line, strict=True)} for line in lines[1:]]
