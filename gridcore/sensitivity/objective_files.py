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

import csv
import fnmatch
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..case.units import Base, convert
from ..equations.layout import BASE
from ..errors import CaseError
from ..results.signals import select
from ..suggest import suggest
from .objective import Integral, Objective, Sampled, Terminal

if TYPE_CHECKING:
    from ..equilibrium.equilibrium import Equilibrium

Density = Callable[[Any], Any]
KINDS = ("terminal", "integral", "sampled")
SHAPES = {"value": (), "square": ("reference",), "band violation": ("low", "high", "power")}
_COMMON = ("name", "kind", "of", "sigma")
_SAMPLED = ("data", "column", "time")
HEADINGS = ("title", "source", "remarks")


def load_objectives(path: str | Path, system: Equilibrium) -> list[Objective]:
    """The objectives of a file, for the quantities of a system.

    Raises
    ------
    CaseError
        With file, table and field of what is wrong, and what would be right.
    """
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise CaseError("there is no such file", file=str(path)) from None
    except OSError as error:
        raise CaseError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise CaseError(f"is not UTF-8 text (byte {error.start})", file=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise CaseError(f"is not valid TOML: {error}", file=str(path)) from None
    known = ("objective", *HEADINGS)
    for key in data:
        if key not in known:
            raise CaseError(f"unknown heading{suggest(key, known)}", file=str(path), field=key)
    tables = data.get("objective")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise CaseError("has no objectives: write tables [[objective]]", file=str(path))
    return [o for k, table in enumerate(tables, 1) for o in _Table(path, f"objective {k}", table).objectives(system)]


@dataclass
class _Quantity:
    """What an objective is about: its address, its unit, and what per unit refers to."""

    device: str
    name: str
    unit: str
    base: Base

    @property
    def address(self) -> str:
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


def _quantity(system: Equilibrium, device: str, name: str) -> _Quantity:
    instance = system.layout.instances[system.layout.find(device)]
    base = Base(system.case.base_mva, instance.values.get("kv"), system.case.frequency)
    return _Quantity(device, name, instance.device.declares.unit(name), base)


class _Table:
    """One table of the file; reads its fields, and says where a field is wrong."""

    def __init__(self, path: Path, row: str, fields: dict[str, Any]):
        self.path, self.row, self.fields = path, row, fields

    def error(self, message: str, field: str = "") -> CaseError:
        return CaseError(message, file=str(self.path), row=self.row, field=field)

    def objectives(self, system: Equilibrium) -> list[Objective]:
        """One for each quantity that the pattern matches."""
        kind = self.word("kind", KINDS)
        shape = "" if kind == "sampled" else self.word("shape", SHAPES, "value")
        known = (*_COMMON, *(_SAMPLED if kind == "sampled" else ("shape", *SHAPES[shape])))
        for field in self.fields:
            if field not in known:
                what = "a sampled objective" if kind == "sampled" else f"the shape '{shape}'"
                raise self.error(f"{what} has no such field{suggest(field, known)}", field)
        of = self.text("of")
        try:
            found = _named(system, of)
        except CaseError as error:
            raise self.error(str(error), "of") from None
        quantities = [_quantity(system, device, name) for device, name in found]
        out = [self.sampled(q) if kind == "sampled" else self.shaped(kind, shape, q) for q in quantities]
        self.label(out, quantities, f"{kind} {shape}".replace("sampled ", "sampled deviation"))
        return out

    def label(self, objectives: list[Objective], quantities: list[_Quantity], what: str) -> None:
        """Give each its name; where the file's own would be the same for several, the quantity is added."""
        given = self.text("name", f"{what} of {{device}}.{{quantity}}")
        names = [q.fill(given) for q in quantities]
        for o, q, name in zip(objectives, quantities, names, strict=True):
            o.name = name if names.count(name) == 1 else f"{name} {q.address}"

    def shaped(self, kind: str, shape: str, quantity: _Quantity) -> Objective:
        """A terminal or an integral objective."""
        sigma, key = self.number("sigma", default=1.0), (quantity.device, quantity.name)
        power: float = 1
        if shape == "value":
            density = _value(key, sigma)
        elif shape == "square":
            density, power = _square(key, sigma, self.number("reference", quantity)), 2
        else:
            low, high = (self.number(field, quantity, default=end)
                         for field, end in (("low", -math.inf), ("high", math.inf)))
            if not math.isfinite(low) and not math.isfinite(high):
                raise self.error("missing: give low, high or both", "high")
            if not low < high:
                raise self.error(f"{low:g} must be less than high = {high:g}", "low")
            power = self.number("power", default=2.0)
            if power < 1:
                raise self.error(f"{power:g} must be at least 1", "power")
            power = int(power) if power == int(power) else power
            density = _violation(key, sigma, low, high, power)
        made = Integral if kind == "integral" else Terminal
        return made(density, unit=_unit(quantity.unit, power, "s" if kind == "integral" else ""))

    def sampled(self, quantity: _Quantity) -> Objective:
        """The sum of squared differences to a column of a CSV file."""
        file = self.path.parent / self.text("data")
        column = quantity.fill(self.text("column", quantity.address))
        times, values = self.columns(file, self.text("time", "time"), column)
        return Sampled(times, _value((quantity.device, quantity.name), 1.0), values, self.number("sigma", default=1.0),
                       unit=_unit(quantity.unit, 2))

    def columns(self, file: Path, *names: str) -> list[np.ndarray]:
        """Columns of a CSV file as numbers."""
        try:
            with open(file, newline="", encoding="utf-8-sig") as stream:
                reader = csv.DictReader(stream)
                there = reader.fieldnames or []
                for name, field in zip(names, ("time", "column"), strict=True):
                    if name not in there:
                        raise self.error(f"{file} has no column '{name}'{suggest(name, there)}", field)
                out: list[list[float]] = [[] for _ in names]
                for row in reader:
                    for name, values in zip(names, out, strict=True):
                        values.append(self.cell(row[name], f"{file}, line {reader.line_num}, column '{name}'"))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise self.error(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}", "data") from None
        if not out[0]:
            raise self.error(f"{file} has no rows", "data")
        return [np.array(values) for values in out]

    def cell(self, text: str | None, place: str) -> float:
        try:
            value = float(text or "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.error(f"{place}: {text!r} is not a finite number", "data")
        return value

    def text(self, field: str, default: str | None = None) -> str:
        value = self.fields.get(field, default)
        if value is None:
            raise self.error("missing", field)
        if not isinstance(value, str):
            raise self.error(f"{value!r} must be a text", field)
        return value

    def word(self, field: str, known: Any, default: str | None = None) -> str:
        value = self.text(field, default)
        if value not in known:
            raise self.error(f"unknown {field} '{value}'{suggest(value, known)}", field)
        return value

    def number(self, field: str, quantity: _Quantity | None = None, default: float | None = None) -> float:
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


def _value(key: tuple[str, str], sigma: float) -> Density:
    return lambda v: sigma * v[key]


def _square(key: tuple[str, str], sigma: float, reference: float) -> Density:
    return lambda v: sigma * (v[key] - reference) ** 2


def _violation(key: tuple[str, str], sigma: float, low: float, high: float, power: float) -> Density:
    if not math.isfinite(low):
        return lambda v: sigma * np.maximum(0.0, v[key] - high) ** power
    if not math.isfinite(high):
        return lambda v: sigma * np.maximum(0.0, low - v[key]) ** power
    return lambda v: sigma * np.maximum(0.0, np.maximum(v[key] - high, low - v[key])) ** power


def _unit(unit: str, power: float, time: str = "") -> str:
    if unit and power != 1:
        unit = f"({unit})^{power:g}" if "/" in unit else f"{unit}^{power:g}"
    return " ".join(filter(None, [unit, time]))
