"""What rows of a power-flow file of PSS/E come to as fields of records."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from .characteristics import shares_of
from .psse import Row

MVAR = 6e-3  # reactive powers of a file differ by more than their rounding
CONSTANT_POWER = {side: {f"{side}Z": 0.0, f"{side}P": 1.0} for side in "pq"}


def bus_fields(number: int, label: str, kv: float, Vm: float, Va: float) -> dict[str, Any]:
    """Of a ``Bus``."""
    return {"id": number, **({"label": label} if label else {}), **({"kv": kv} if kv > 0 else {}),
            "Vm0": Vm, "Va0": math.radians(Va)}


def called(kind: str, row: Row) -> str:
    """The name of what a file calls by words of its own."""
    return called_so(kind, row.text("NAME"))


def called_so(kind: str, words: str) -> str:
    """The name of what is called so in a file."""
    return kind + "_" + re.sub(r"[\s.*?\[\]]+", "-", words.strip())


def given_id(name: str, default: str) -> dict[str, Any]:
    """The field ``id`` where the model would not be named so by itself."""
    return {} if name == default else {"id": name}


def is_on(row: Row, column: str) -> bool:
    """Whether what a row says is in service."""
    return row.integer(column) != 0


def status(row: Row, column: str) -> dict[str, Any]:
    """The field ``status`` where it is not 1."""
    return {} if is_on(row, column) else {"status": 0}


class Machine(NamedTuple):
    """A generator of a file: its columns by their names."""

    row: Row
    STAT: int
    IREG: int
    ID: str
    VS: float
    RT: float
    XT: float
    MBASE: float
    QB: float
    QT: float
    ZR: float
    ZX: float
    PG: float
    QG: float

    @property
    def at_limit(self) -> bool:
        """Whether the solution in the file has it at a reactive limit."""
        return self.QG <= self.QB + MVAR or self.QG >= self.QT - MVAR


def parts(row: Row, side: str, powers: list[float]) -> dict[str, float]:
    """Those of ``pZ``, ``pI``, ``pP`` (or q) of a load that are not the default; of nothing it is constant power."""
    if not (powers[0] or powers[1]):
        return CONSTANT_POWER[side]
    if not (powers[1] or powers[2]):
        return {}
    if abs(sum(powers)) <= 1e-9 * max(map(abs, powers)):
        raise row.error(f"its parts at constant power, current and admittance cancel out ({side.upper()} = 0)")
    return unlike_default({f"{side}{kind}": share for kind, share in zip("ZIP", shares_of(powers))})


def unlike_default(shares: dict[str, float]) -> dict[str, float]:
    """Without those that are as for constant admittance, the default of ``ZIP``."""
    return {name: share for name, share in shares.items() if share != (name[1] == "Z")}
