"""Sweep files: a sweep as data in TOML. Nothing in them is executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gridcore.commands import read_value
from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore_readers import sources

KNOWN = ("case", "set", "contingencies", "vary", "rows", "random", "measures", "t_end", "step", "method", "options",
         "own_events", "deenergise", "enforce_q_limits", "keep", "record", "title", "remarks")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "case": str, "set": dict, "contingencies": dict, "vary": dict, "rows": (list, str), "random": dict,
    "measures": (dict, list), "t_end": (int, float), "step": (int, float, list, str), "method": str, "options": dict,
    "own_events": bool, "deenergise": bool, "enforce_q_limits": bool, "keep": str, "record": (str, list)}
_OWN = {"case", "contingencies", "vary", "rows", "random", "measures"}
_SAYS = {str: "a text", dict: "a table", list: "a list", bool: "true or false", int: "an integer", float: "a number"}


def is_sweep(path: Path) -> bool:
    """Whether a file is a sweep: TOML with headings that no case has, be it without the one of its case."""
    try:
        return path.suffix == ".toml" and not _OWN.isdisjoint(sources.toml(path)[0])
    except CaseError:
        return False


def load_sweep(path: str | Path, *, outside: bool = False) -> dict[str, Any]:
    """The arguments of a sweep from its file; ``case`` is found beside the file, or by name.

    Parameters
    ----------
    path : str or Path
    outside : bool
        Files that it names may lie outside its folder.

    Raises
    ------
    CaseError
        With file and field of what is wrong.
    """
    path = Path(path)
    data, _ = sources.toml(path)
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
    beside = sources.beside(path, asked["case"], outside)
    if beside.exists():
        asked["case"] = str(beside)
    elif Path(asked["case"]).name != asked["case"]:
        raise CaseError(f"there is no file '{beside}'", file=str(path), field="case")
    if isinstance(asked.get("rows"), str):
        asked["rows"] = read_rows(sources.beside(path, asked["rows"], outside))
    return asked


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a CSV file: addresses at the head, one scenario below the other.

    Raises
    ------
    CaseError
    """
    lines = sources.table(path)
    if len(lines) < 2:
        raise CaseError("has no rows: addresses at the head, one scenario in each line below", file=str(path))
    head = [cell.strip() for cell in lines[0][1]]
    if twice := [name for name in head if head.count(name) > 1]:
        raise CaseError(f"'{twice[0]}' stands twice at the head", file=str(path))
    for number, line in lines[1:]:
        if len(line) != len(head) or not all(cell.strip() for cell in line):
            raise CaseError(f"{len(head)} values are wanted", file=str(path), row=f"line {number}")
    return [{a: read_value(cell.strip()) for a, cell in zip(head, line, strict=True)} for _, line in lines[1:]]
