"""What a device class declares, as tables: for ``gridcore describe``, and for the pages of the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gridcore.contract import REQUIRED, Device, Param

from .tables import Table

_BOUNDS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def declared(cls: type[Device]) -> Iterator[tuple[str, Table]]:
    """(heading, table) of each kind of declaration that a class has, without columns that are empty."""
    own = cls.declares
    for heading, items in (("parameters", {**own.params, **own.fields}), ("inputs", own.inputs),
                           ("references", own.references), ("set-points", own.setpoints), ("states", own.states),
                           ("algebraic variables", own.algebraics), ("modes", own.modes),
                           ("quantities", own.quantities)):
        columns: dict[str, list[Any]] = {
            "name": list(items), "unit": [getattr(item, "unit", "") for item in items.values()],
            "default": list(map(_default, items.values())), "bounds": list(map(_bounds, items.values())),
            "meaning": [_meaning(item) for item in items.values()]}
        if items:
            yield heading, Table({name: values for name, values in columns.items() if any(values)})


def _default(item: Any) -> str:
    """What holds where a row of a case, or nothing else, says it."""
    value = getattr(item, "default", getattr(item, "initial", ""))
    if value is REQUIRED:
        return "required"
    return f"{value:g}" if isinstance(value, int | float) else str(value or "")


def _bounds(item: Any) -> str:
    """``> 0, ≤ 1``; of a word, what it may be."""
    if isinstance(item, Param):
        return ", ".join(f"{_BOUNDS[how]} {value:g}" for how, value in item.bounds.items())
    limits = getattr(item, "limits", None)
    if limits:
        return " to ".join("-" if limit is None else str(limit) for limit in limits)
    return ", ".join(getattr(item, "choices", ()))


def _meaning(item: Any) -> str:
    drives = getattr(item, "drives", None)
    return " ".join(item.doc.split()) + (f" (drives {drives})" if drives else "")


def record(cls: type[Device]) -> str:
    """The record of a DYR file; nothing where there is none. ``·`` is a value that is not used."""
    values = getattr(cls, "dyr", ())
    model = getattr(cls, "dyr_record", cls.__name__).upper()
    return f"bus '{model}' id  {' '.join(str(value or '·') for value in values)} /" if values else ""
