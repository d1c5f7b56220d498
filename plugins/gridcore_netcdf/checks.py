"""What stands in a file of a run, checked as it is read: there, of its type and shape, and in its range."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import GridcoreError, PluginError
from gridcore.integrate import made_by
from gridcore.tape import Clock, Method, Record, Switch

from .form import ROWS

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium

Ranges = Mapping[str, tuple[float, float]]
"""Variable to its smallest value, and to what it must be below."""


class Part:
    """A group of a file, whose variables and attributes are what they must be, or an error that names them.

    Parameters
    ----------
    group : h5netcdf group or None
    name : str
    path : Path
        Of the file.
    """

    def __init__(self, group: Any, name: str, path: Path):
        self._group, self._name, self._path = group, name, path
        if group is None:
            raise GridcoreError(f"{path}: '{name}' is missing")

    def error(self, name: str, what: str) -> GridcoreError:
        """An error that names a variable or attribute."""
        where = "/".join(filter(None, (self._name, name)))
        return GridcoreError(f"{self._path}: '{where}' {what}")

    def __contains__(self, name: str) -> bool:
        return name in self._group.variables

    def variable(self, name: str, kind: type, shape: tuple[int | None, ...]) -> Any:
        """A variable, not read yet; a length of None may be any."""
        if name not in self:
            raise self.error(name, "is missing")
        found = self._group.variables[name]
        dtype = np.dtype(object if kind is str else kind)
        if found.dtype != dtype or len(found.shape) != len(shape) \
                or any(want not in (None, there) for want, there in zip(shape, found.shape, strict=True)):
            size = ", ".join("any" if length is None else str(length) for length in shape)
            raise self.error(name, f"is {found.dtype} {found.shape}, and must be {dtype} ({size})")
        if math.prod(found.shape) * dtype.itemsize > self._path.stat().st_size:  # nothing is compressed
            raise self.error(name, f"claims {math.prod(found.shape):,} values, more than the file has room for")
        return found

    def numbers(self, name: str, kind: type, shape: tuple[int | None, ...]) -> np.ndarray:
        """The numbers of a variable."""
        return self.variable(name, kind, shape)[...]

    def texts(self, name: str, rows: int) -> list[str]:
        """The texts of a variable; equal ones are one object."""
        found, seen = self.variable(name, str, (rows,)), dict[str, str]()
        return [seen.setdefault(text, text) for first in range(0, rows, ROWS) for text in found[first: first + ROWS]]

    def within(self, name: str, rows: int, ranges: Ranges, kind: type = int) -> np.ndarray:
        """The numbers of a variable, each in its range."""
        found, (low, end) = self.numbers(name, kind, (rows,)), ranges[name]
        fits = (found >= low) & (found < end)
        if not fits.all():
            row = int(np.argmin(fits))
            raise self.error(name, f"is {found[row]} in row {row}, and must be at least {low} and below {end}")
        return found

    def positions(self, name: str, n: int) -> np.ndarray:
        """Positions in X, each once."""
        found = self.numbers(name, int, (None,))
        if len(found) and not (found.min() >= 0 and found.max() < n and len(np.unique(found)) == len(found)):
            raise self.error(name, f"must be from 0 to {n - 1}, each once")
        return found

    def _attribute(self, name: str, *kinds: type) -> Any:
        if name not in self._group.attrs:
            raise self.error(name, "is missing")
        found = self._group.attrs[name]
        if not isinstance(found, kinds):
            raise self.error(name, f"is {type(found).__name__}, and must be {kinds[0].__name__}")
        return found

    def text(self, name: str) -> str:
        """A text among the attributes."""
        return self._attribute(name, str)

    def integer(self, name: str) -> int:
        """An integer among the attributes."""
        return int(self._attribute(name, int, np.integer))

    def json(self, name: str, *kinds: type) -> Any:
        """What an attribute says in JSON."""
        found = json.loads(self.text(name))
        if not isinstance(found, kinds):
            raise self.error(name, f"is {type(found).__name__}, and must be {kinds[0].__name__}")
        return found


def ranges(system: Equilibrium, points: int, clocks: int, methods: int, settings: int) -> Ranges:
    """Between what the numbers of records, clocks and points must be."""
    guards = len(system.switching.guards)
    point, step = (0, points), (0, points - 1)  # a step leads from a point to the next
    clock, guard = (0, clocks), (0, guards)
    return {
        "point_clock": clock, "Clock_of": (-1, len(system.Z0)), "Clock_after": (-1, clocks),
        "Step_k": step, "Step_h": (0.0, np.inf), "Step_start": clock, "Step_end": clock, "Step_guard": (-1, guards),
        "Step_method": (0, methods), "Arm_k": point, "Arm_guard": guard, "Arm_clock": clock, "Cancel_k": point,
        "Cancel_guard": guard, "Cancel_by": guard, "Switch_k": point, "Switch_settings": (0, settings),
        "Resolve_k": step}


def check_clocks(part: Part, clocks: Iterable[Clock], system: Equilibrium) -> None:
    """A clock is of a parameter, a guard, or another clock before it."""
    parameter, guards = range(system.n, len(system.Z0) - 1), range(len(system.switching.guards))
    of = {"grid": (-1,), "timer": parameter, "delay": parameter, "guard": guards}
    for number, clock in enumerate(clocks):
        after = range(number) if clock.kind == "delay" else (-1,)
        if clock.of not in of.get(clock.kind, ()) or clock.after not in after:
            raise part.error("Clock", f"number {number} cannot be {clock}")


def check_triggers(part: Part, records: Iterable[Record], system: Equilibrium) -> None:
    """A switch is made by timers and guards that there are."""
    there = {"timer": range(len(system.switching.timers)), "guard": range(len(system.switching.guards))}
    for record in records:
        for kind, number in record.triggers if isinstance(record, Switch) else ():
            if number not in there.get(kind, ()):
                raise part.error("Switch_triggers", f"has {kind} {number}, which the system has not")


def methods(part: Part) -> list[Method]:
    """The methods of a tape, with options that they take; of one that is not installed they cannot be known."""
    found = [Method(name, options) for name, options in part.json("methods", list)]
    for method in found:
        try:
            made_by(method)
        except PluginError:
            continue
        except GridcoreError as error:
            raise part.error("methods", f"cannot be: {error}") from None
    return found
