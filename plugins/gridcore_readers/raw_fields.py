"""What rows of a power-flow file of PSS/E come to as fields of records."""

from __future__ import annotations

import math
import re
from typing import Any

from .characteristics import shares_of
from .psse import Row

MVAR = 6e-3  # reactive powers of a file differ by more than their rounding


def bus_fields(number: int, row: Row) -> dict[str, Any]:
    """Of a ``Bus``."""
    label, kv, Vm = row.text("NAME"), row.number("BASKV"), row.number("VM")
    return {"id": number, **({"label": label} if label else {}), **({"kv": kv} if kv > 0 else {}),
            "Vm0": Vm, "Va0": math.radians(row.number("VA"))}


def called(kind: str, row: Row) -> str:
    """The name of what a file calls by words of its own."""
    return kind + "_" + re.sub(r"[\s.*?\[\]]+", "-", row.text("NAME"))


def given_id(name: str, default: str) -> dict[str, Any]:
    """The field ``id`` where the model would not be named so by itself."""
    return {} if name == default else {"id": name}


def is_on(row: Row, column: str) -> bool:
    """Whether what a row says is in service."""
    return row.integer(column) != 0


def status(row: Row, column: str) -> dict[str, Any]:
    """The field ``status`` where it is not 1."""
    return {} if is_on(row, column) else {"status": 0}


def at_limit(row: Row) -> bool:
    """Whether the solution in the file has a generator at a reactive limit."""
    Q, low, high = (row.number(column) for column in ("QG", "QB", "QT"))
    return Q <= low + MVAR or Q >= high - MVAR


def parts(row: Row, side: str, powers: list[float]) -> dict[str, float]:
    """``pZ``, ``pI``, ``pP`` (or q) of a load; what adds up to nothing is constant power."""
    if not (powers[0] or powers[1]):
        return dict(zip((f"{side}Z", f"{side}I", f"{side}P"), (0.0, 0.0, 1.0)))
    total = sum(powers)
    if abs(total) <= 1e-9 * max(map(abs, powers), default=0.0):
        if any(powers):
            raise row.error(f"its parts at constant power, current and admittance cancel out ({side.upper()} = 0)")
        return dict(zip((f"{side}Z", f"{side}I", f"{side}P"), (0.0, 0.0, 1.0)))
    return dict(zip((f"{side}Z", f"{side}I", f"{side}P"), shares_of(powers)))
