"""The table of a sweep: rows by scenario, ranked, as text, CSV or an xarray dataset."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import CaseError
from gridcore.results import whole_file
from gridcore.suggest import suggest
from gridcore_notebook import html
from gridcore_verbs.tables import Table as Columns

from .measures import SEARCHED, UNITS
from .scenarios import Scenario, shown
from .store import finite
from .worker import Result

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_SHOWN = ("critical", "margin", "angle", "speed_min", "speed_max", "voltage_end")
_DIGITS = {"critical": 4, "margin": 1, "angle": 1, "speed_min": 4, "speed_max": 4, "voltage_end": 4}


@dataclass(frozen=True, repr=False)
class Table:
    """What came of a sweep.

    Attributes
    ----------
    scenarios : list of Scenario
    results : list of Result
        One for each scenario.
    units : dict
        Of the columns, and of labels that are addresses.
    title : str
    made : dict of str to str
        What made it: version, date, case, options; see ``run.provenance``.
    """

    scenarios: list[Scenario]
    results: list[Result]
    units: dict[str, str]
    title: str = ""
    made: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    _repr_html_ = html

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<{self.title or 'Sweep'}: {len(self)} scenarios{failed}; {', '.join(self.columns)}>"

    def __len__(self) -> int:
        return len(self.scenarios)

    @property
    def labels(self) -> dict[str, list[Any]]:
        """Label to the values that occur, in their order."""
        found: dict[str, dict[Any, None]] = {}
        for scenario in self.scenarios:
            for name, value in scenario.labels.items():
                found.setdefault(name, {})[value] = None
        return {name: list(values) for name, values in found.items()}

    @property
    def varied(self) -> list[str]:
        """Addresses that scenarios set and that no label tells."""
        return list(dict.fromkeys(a for s in self.scenarios for a in s.values if a not in s.labels))

    @property
    def columns(self) -> list[str]:
        """Columns that some row has, in order."""
        there = {name for result in self.results for name in result.row}
        return [name for name in self.units if name in there]

    def column(self, name: str) -> list[Any]:
        """One column, None where a row does not have it.

        Raises
        ------
        CaseError
            If there is none of that name; the nearest are offered.
        """
        if name not in self.columns:
            raise CaseError(f"the sweep has no column '{name}'{suggest(name, self.columns)}")
        return [result.row.get(name) for result in self.results]

    @property
    def failed(self) -> list[int]:
        """Rows with an error."""
        return [k for k, result in enumerate(self.results) if result.error]

    @property
    def severity(self) -> str:
        """The column that ranks: critical clearing time, margin, or the first number there is."""
        for name in (*SEARCHED, *UNITS, *self.columns):
            if name in ("critical", "margin") and name in self.columns:
                return name
        numbers = [n for n in self.columns if n != "reached" and any(finite(v) for v in self.column(n))]
        return next(iter(numbers), "reached")

    def ranked(self, by: str | None = None, descending: bool = False) -> list[int]:
        """Rows, the worst first: what failed, then by the column `by`, the smallest first."""
        by = by or self.severity
        values = self.column(by) if self.columns else [None] * len(self)
        sign = -1 if descending else 1

        def rank(k: int) -> tuple[int, float]:
            value = values[k]
            if not isinstance(value, int | float) or value != value:  # nan is neither large nor small
                return 0 if self.results[k].error else 2, 0.0
            return 0 if self.results[k].error else 1, sign * value

        return sorted(range(len(self)), key=rank)

    def text(self, top: int | None = None, by: str | None = None, descending: bool = False) -> str:
        """The worst rows as aligned columns."""
        return self.worst(top, by, descending).text()

    def worst(self, top: int | None = None, by: str | None = None, descending: bool = False) -> Columns:
        """The worst rows, as they are shown."""
        order = self.ranked(by, descending)[:top]
        wanted = [n for n in self.columns if n in _SHOWN or n not in {**UNITS, **SEARCHED}]
        if by is not None and by not in wanted:
            wanted.append(by)
        columns: dict[str, list[Any]] = {name: [shown(self.scenarios[k].labels.get(name, "")) for k in order]
                                         for name in self.labels}
        for name in wanted:
            values = self.column(name)
            unit = f" [{self.units[name]}]" if self.units[name] else ""
            columns[f"{name}{unit}"] = _aligned([_cell(name, values[k]) for k in order])
        columns[""] = [self._remark(k) for k in order]
        return Columns(columns)

    def _remark(self, k: int) -> str:
        result = self.results[k]
        if result.error:
            return f"failed: {result.error}"
        if result.row.get("unstable_from") == np.inf:
            return "stable with the longest fault"
        if result.row.get("critical") == 0:
            return "unstable with the shortest fault"
        islands = result.row.get("islands", 1)
        said = ["unstable" if result.row.get("stable") is False else "", f"{islands} islands" if islands > 1 else "",
                result.row.get("warning", "")]
        return "; ".join(filter(None, said))

    @property
    def headings(self) -> list[str]:
        """Of the columns of a file, with their units."""
        columns = [f"{name} [{unit}]" if (unit := self.units[name]) else name for name in self.columns]
        return [*self.labels, *self.varied, *columns, "error"]

    def to_csv(self, path: str | Path) -> None:
        """Write every row, in the order of the scenarios, every digit kept."""
        with whole_file(Path(path)) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.headings)
            writer.writerows([["" if value is None else value for value in row] for row in self._rows()])

    def to_pandas(self) -> pd.DataFrame:
        """A table with a row for each scenario, in their order: labels, results, and what went wrong; nothing where a
        row does not have it. Its ``attrs["units"]`` has the units of the columns.
        """
        import pandas as pd

        names = [*self.labels, *self.varied, *self.columns, "error"]
        table = pd.DataFrame(self._rows(), columns=names)
        table.attrs["units"] = {name: self.units[name] for name in names if name in self.units}
        return table

    def _rows(self) -> list[list[Any]]:
        """The cells of each scenario, None where there is nothing."""
        heads, varied, columns = list(self.labels), self.varied, self.columns
        return [[*map(scenario.labels.get, heads), *map(scenario.values.get, varied), *map(result.row.get, columns),
                 result.error] for scenario, result in zip(self.scenarios, self.results, strict=True)]

    def to_xarray(self) -> xr.Dataset:
        """A dataset over the labels, and over machines their largest angle: ``ds["margin"].sel(contingency=...)``.

        Where the scenarios are not all combinations of their labels there is one dimension, ``scenario``.
        """
        import xarray as xr

        labels = self.labels
        full = len(labels) > 0 and int(np.prod([len(v) for v in labels.values()])) == len(self)
        if full:
            shape = tuple(len(v) for v in labels.values())
            place = [tuple(values.index(s.labels[name]) for name, values in labels.items()) for s in self.scenarios]
            coordinates: dict[str, Any] = {name: (name, values) for name, values in labels.items()}
        else:
            labels, shape, place = {"scenario": []}, (len(self),), [(k,) for k in range(len(self))]
            coordinates = {"scenario": ("scenario", [s.name for s in self.scenarios])}
        dimensions = tuple(labels)
        variables: dict[str, Any] = {}
        for name in self.columns:
            words = any(isinstance(v, str) for v in self.column(name))
            values = np.full(shape, "" if words else np.nan, dtype=object if words else float)
            for at, value in zip(place, self.column(name), strict=True):
                values[at] = values[at] if value is None else value
            variables[name] = (dimensions, values.astype(str) if words else values, {"units": self.units[name]})
        errors = np.full(shape, "", dtype=object)
        machines = list(dict.fromkeys(m for r in self.results for m in r.machines))
        angles = np.full((*shape, len(machines)), np.nan)
        for at, result in zip(place, self.results, strict=True):
            errors[at] = result.error
            angles[at] = [result.machines.get(m, np.nan) for m in machines]
        variables["error"] = (dimensions, errors.astype(str))
        if machines:
            variables["machine_angle"] = ((*dimensions, "machine"), angles, {
                "units": "deg", "long_name": "largest angle to the centre of inertia"})
            coordinates["machine"] = ("machine", machines)
        for address in self.varied:
            numbers = np.full(shape, np.nan)
            for at, scenario in zip(place, self.scenarios, strict=True):
                value = scenario.values.get(address)
                numbers[at] = value if finite(value) else np.nan
            if np.isfinite(numbers).any():
                variables[address] = (dimensions, numbers)
        return xr.Dataset(variables, coordinates, {"title": self.title})


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:.{_DIGITS[name]}f}" if name in _DIGITS else f"{value:.6g}"


def _aligned(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells), default=0)
    return [f"{cell:>{width}}" for cell in cells]
