"""Objective files: what a gradient is taken of, as data in TOML. Nothing in them is executed.

::

    [[objective]]
    name = "H_{device}"           # one objective for each quantity that the pattern matches
    kind = "integral"             # terminal: at the end; integral: over time; sampled: against data
    of = "GEN*.omega"
    shape = "band violation"
    low = "59.5 Hz"
    high = "60.5 Hz"
    sigma = 3600

    [[objective]]
    kind = "sampled"
    of = "BUS6.Vm"
    data = "measured.csv"         # beside this file; columns "time" and, by default, "BUS6.Vm"

Shapes, of the quantity v: ``value``, v; ``square``, (v - reference)^2; ``band violation``, max(0, v - high,
low - v)^power, with a power of 2 by default. A sampled objective is the sum of (v - data)^2. All are multiplied by
``sigma``, 1 by default. Values may carry a unit.
"""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Base, convert, shipped
from gridcore.equations import BASE
from gridcore.errors import CaseError
from gridcore.registry import ObjectiveShape, objective_kinds, objective_shapes
from gridcore.results import base_of, select
from gridcore.sensitivity import Objective, unit_of
from gridcore.suggest import suggest
from gridcore_readers import sources

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium

    from .shapes import Density

_COMMON = ("name", "kind", "of", "sigma")
_HEADINGS = ("title", "source", "remarks")


def load_objectives(path: str | Path, system: Equilibrium, *, outside: bool = False) -> list[Objective]:
    """The objectives of a file, for the quantities of a system.

    Parameters
    ----------
    path : str or Path
        A file; or by name one that is shipped with a case, ``"wscc9_paper/frequency.toml"``.
    system : Equilibrium
    outside : bool
        Files that it names may lie outside its folder.

    Raises
    ------
    CaseError
        With file, table and field of what is wrong, and what would be right.
    """
    path = _found(Path(path))
    data, _ = sources.toml(path)
    known = ("objective", *_HEADINGS)
    for key in data:
        if key not in known:
            raise CaseError(f"unknown heading{suggest(key, known)}", file=str(path), field=key)
    tables = data.get("objective")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise CaseError("has no objectives: write tables [[objective]]", file=str(path))
    return [o for k, table in enumerate(tables, 1)
            for o in Table(path, f"objective {k}", table, outside).objectives(system)]


def _found(path: Path) -> Path:
    """The file, or the one of that name that is shipped with a case."""
    if path.exists():
        return path
    beside = {f"{name}/{file.name}": file for name, case in shipped().items()
              for file in sorted(case.parent.glob("*.toml")) if file != case}
    if str(path) not in beside:
        raise CaseError(f"there is no such file, and none of this name is shipped with a case"
                        f"{suggest(str(path), beside)}", file=str(path))
    return beside[str(path)]


@dataclass
class Quantity:
    """What an objective is about: its device and name, its unit, and what per unit refers to."""

    device: str
    name: str
    unit: str
    base: Base

    @property
    def address(self) -> str:
        """``device.name``."""
        return f"{self.device}.{self.name}"

    def fill(self, text: str) -> str:
        """A text of the file, with the names in it that it asks for."""
        return text.replace("{device}", self.device).replace("{quantity}", self.name)


def _named(system: Equilibrium, of: str) -> list[tuple[str, str]]:
    """(device, name) of the quantities that a pattern matches; where there are none, of the parameters."""
    try:
        return select(system, [of])
    except CaseError:
        parameters = [name.rpartition(".") for name in fnmatch.filter(system.layout.parameter_names, of)]
        found = [(device, name) for device, _, name in parameters if device != BASE]
        if not found:
            raise
        return found


class Table:
    """One table of the file; gives its fields, and says where a field is wrong.

    Attributes
    ----------
    path : Path
        The file.
    row : str
        Which of its tables.
    fields : dict
    outside : bool
        Whether files that it names may lie outside the folder of this one.
    """

    def __init__(self, path: Path, row: str, fields: dict[str, Any], outside: bool = False):
        self.path, self.row, self.fields, self.outside = path, row, fields, outside

    def error(self, message: str, field: str = "") -> CaseError:
        """An error that says where it is."""
        return CaseError(message, file=str(self.path), row=self.row, field=field)

    def objectives(self, system: Equilibrium) -> list[Objective]:
        """One for each quantity that the pattern matches."""
        kind = objective_kinds[self.word("kind", objective_kinds)]
        shape = self._shape() if kind.shaped else None
        known = (*_COMMON, *kind.fields, *(("shape", *shape.fields) if shape else ()))
        for field in self.fields:
            if field not in known:
                what = f"the shape '{shape.name}'" if shape else f"a {kind.name} objective"
                raise self.error(f"{what} has no such field{suggest(field, known)}", field)
        of = self.text("of")
        try:
            found = _named(system, of)
        except CaseError as error:
            raise self.error(str(error), "of") from None
        quantities = [Quantity(device, name, unit_of(system, device, name), base_of(system, device, name))
                      for device, name in found]
        out = [kind.make(self, quantity) for quantity in quantities]
        self.label(out, quantities, f"{kind.name} {shape.name if shape else 'deviation'}")
        return out

    def _shape(self) -> ObjectiveShape:
        return objective_shapes[self.word("shape", objective_shapes, "value")]

    def density(self, quantity: Quantity) -> Density:
        """What the shape that the table names makes of a quantity."""
        found: Density = self._shape().make(self, quantity)
        return found

    def label(self, objectives: list[Objective], quantities: list[Quantity], what: str) -> None:
        """Give each its name and base; where the file's own name would be that of several, the quantity is added."""
        given = self.text("name", f"{what} of {{device}}.{{quantity}}")
        names = [q.fill(given) for q in quantities]
        for o, q, name in zip(objectives, quantities, names, strict=True):
            o.name, o.base = name if names.count(name) == 1 else f"{name} {q.address}", q.base

    def file(self, field: str) -> Path:
        """A file that the table names: beside this one, or below its folder."""
        name = self.text(field)
        try:
            return sources.beside(self.path, name, self.outside)
        except CaseError as error:
            raise self.error(str(error).removeprefix(f"{self.path}: "), field) from None

    def columns(self, file: Path, *names: str) -> list[np.ndarray]:
        """Columns of a CSV file, time first, as numbers."""
        try:
            (_, head), *rows = sources.table(file) or [(0, [])]
        except CaseError as error:
            raise self.error(f"{file} {str(error).removeprefix(f'{file}: ')}", "data") from None
        there = [name.strip() for name in head]
        for name, field in zip(names, ("time", "column"), strict=True):
            if name not in there:
                raise self.error(f"{file} has no column '{name}'{suggest(name, there)}", field)
            if there.count(name) > 1:
                raise self.error(f"{file} has {there.count(name)} columns '{name}': give each a name of its own", field)
        if not rows:
            raise self.error(f"{file} has no rows", "data")
        at = [there.index(name) for name in names]
        return [np.array([self.cell(row[k] if k < len(row) else None, f"{file}, line {line}, column '{name}'")
                          for line, row in rows]) for name, k in zip(names, at, strict=True)]

    def cell(self, text: str | None, place: str) -> float:
        """A number of a CSV file."""
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(f"{place}: {text!r} is not a finite number", "data")
        return value

    def text(self, field: str, default: str | None = None) -> str:
        """A text of the table."""
        value = self.fields.get(field, default)
        if value is None:
            raise self.error("missing", field)
        if not isinstance(value, str):
            raise self.error(f"{value!r} must be a text", field)
        return value

    def word(self, field: str, known: Any, default: str | None = None) -> str:
        """A text of the table that is one of those known."""
        value = self.text(field, default)
        if value not in known:
            raise self.error(f"unknown {field} '{value}'{suggest(value, known)}", field)
        return value

    def number(self, field: str, quantity: Quantity | None = None, default: float | None = None) -> float:
        """A number of the file; with a quantity, in its unit."""
        value = self.fields.get(field, default)
        if value is None:
            raise self.error("missing", field)
        if isinstance(value, str) and quantity is not None:
            try:
                return convert(value, quantity.unit, quantity.base)
            except CaseError as error:
                raise self.error(str(error), field) from None
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise self.error(f"{value!r} is not a number", field)
        return float(value)
