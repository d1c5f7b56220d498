"""The heat map of a sweep, with critical times beside it where they were searched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore_plot.figures import PLAIN, drawn

from .scenarios import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .table import Table

ROWS_SHOWN, COLUMNS_SHOWN = 40, 60
_CELL, _WIDEST = 0.2, 0.6  # inches
_BARS, _BESIDE = 1.5, 0.15  # width of the critical times, and what is between them and the map
_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 2.4, 1.2, 0.15, 0.9, 0.18
_WRITTEN = 240  # cells in which there is room for a number
_LOOKS = {"margin": ("RdYlBu", -100.0, 100.0), "machine": ("YlOrRd", 0.0, 180.0)}


@dataclass(frozen=True)
class Map:
    """What is drawn: numbers over rows and columns.

    Attributes
    ----------
    values : (rows, columns) array
        nan where there is none.
    failed : (rows, columns) bool array
    down, across : tuple of str and list of str
        Heading and names of the rows, and of the columns.
    told : str
        What the numbers are, with their unit.
    look : str
    scenarios : list of int
        Of the rows, where each is one.
    """

    values: np.ndarray
    failed: np.ndarray
    down: tuple[str, list[str]]
    across: tuple[str, list[str]]
    told: str
    look: str
    scenarios: list[int]


def heat_map(table: Table, path: str | Path | None = None, column: str | None = None) -> Figure:
    """Draw the heat map of a sweep.

    Where one label varies: the scenarios, the worst on top, by machines, and how far each went from the centre of
    inertia; of many machines those that went farthest. Where critical clearing times were searched they stand beside
    it. Where two labels or more vary: one column of the table over the first two; of the others the worst. What failed
    is crossed out, what had no room is counted.

    Parameters
    ----------
    table : Table
    path : str or Path, optional
        Where to write it; without it the figure belongs to pyplot.
    column : str, optional
        By default the one that ranks.
    """
    return drawn(path, lambda figure: _compose(figure, table, column), table.made or None, PLAIN, bbox_inches="tight")


def _compose(figure: Figure, table: Table, column: str | None) -> None:
    shows = _cells(table, column)
    values, down, across = shows.values, shows.down, shows.across
    searched = column is None and bool(shows.scenarios) and table.severity == "critical"
    rows, columns = values.shape
    wide = min(max(5.5 / columns, _CELL), _WIDEST) * columns
    tall = max(_CELL * rows, 1.0)
    title = wrap(table.title, max(30, int(14 * (wide + 2))))
    left = _LEFT + (_BARS + _BESIDE if searched else 0.0)
    width, height = left + wide + _RIGHT, _TOP + _LINE * len(title) + tall + _BOTTOM
    figure.set_size_inches(width, height)
    axes = figure.add_axes((left / width, _BOTTOM / height, wide / width, tall / height))
    colours, low, high = _LOOKS.get(shows.look, ("viridis", None, None))
    image = axes.imshow(np.ma.masked_invalid(values), aspect="auto", cmap=colours, vmin=low, vmax=high)
    for y, x in np.argwhere(shows.failed):
        axes.plot(x, y, "x", color="#303030", markersize=5)
    if values.size <= _WRITTEN:
        _write_numbers(axes, image, values)
    named = axes
    if searched:
        named = figure.add_axes((_LEFT / width, _BOTTOM / height, _BARS / width, tall / height))
        _critical_times(named, table, shows.scenarios)
        axes.set_yticks([])
        named.set_ylim(axes.get_ylim())
    named.set_yticks(range(rows), [shorten(t, 38, placeholder="...") for t in down[1]], fontsize=7)
    some = max(1, columns // 30)
    axes.set_xticks(range(0, columns, some), across[1][::some], fontsize=7, rotation=90 if columns > 6 else 0)
    named.set_ylabel(down[0], fontsize=8)
    axes.set_xlabel(across[0], fontsize=8)
    axes.tick_params(length=0)
    bar = figure.colorbar(image, cax=figure.add_axes(((left + wide + 0.15) / width, _BOTTOM / height, 0.15 / width,
                                                      tall / height)),
                          extend="max" if shows.look == "machine" else "neither")
    bar.set_label(shows.told, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    named.set_title("\n".join(title), fontsize=9, fontweight="bold", loc="left")


def _write_numbers(axes: Any, image: Any, values: np.ndarray) -> None:
    for (y, x), value in np.ndenumerate(values):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.45
            text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
            axes.text(x, y, text, ha="center", va="center", fontsize=6, color="white" if dark else "black")


def _critical_times(axes: Axes, table: Table, scenarios: list[int]) -> None:
    """A bar for each scenario, with its number; behind those that the longest fault does not part, a plus."""
    times = [_number(table.results[k].row.get("critical")) for k in scenarios]
    axes.barh(range(len(times)), np.nan_to_num(times), height=0.7, color="#0072B2")
    longest = float(np.nanmax(times)) if np.isfinite(times).any() else 1.0
    axes.set_xlim(0, 1.35 * (longest or 1.0))
    for y, (k, time) in enumerate(zip(scenarios, times, strict=True)):
        if np.isfinite(time):
            more = "+" if table.results[k].row.get("unstable_from") == np.inf else ""
            axes.annotate(f"{time:.3f}{more}", (time, y), (3, 0), textcoords="offset points", fontsize=6, va="center")
    axes.set_xlabel("critical clearing time (s)", fontsize=8)
    axes.tick_params(labelsize=7, length=2)
    axes.spines[["top", "right"]].set_visible(False)


def _cells(table: Table, column: str | None) -> Map:
    varied = {name: values for name, values in table.labels.items() if len(values) > 1}
    machines = list(dict.fromkeys(m for r in table.results for m in r.machines))
    if len(varied) >= 2:
        return _over_labels(table, varied, column)
    order = table.ranked(column)[:ROWS_SHOWN]
    worst = "all" if len(order) == len(table) else f"the {len(order)} worst of {len(table)}"
    down = (_heading(table, next(iter(varied), "scenario"), worst), [_name(table, k, varied) for k in order])
    failed = np.array([bool(table.results[k].error) for k in order])
    if column is None and machines:
        values = np.array([[table.results[k].machines.get(m, np.nan) for m in machines] for k in order])
        farthest = np.argsort(-np.nan_to_num(values).max(axis=0, initial=0.0), kind="stable")[:COLUMNS_SHOWN]
        kept = np.sort(farthest)
        heading = "machine" if len(kept) == len(machines) else f"machine: {len(kept)} of {len(machines)}"
        return Map(values[:, kept], np.tile(failed[:, None], len(kept)), down, (heading, [machines[k] for k in kept]),
                   "largest angle to the centre of inertia (deg)", "machine", order)
    name, numbers = _column(table, column)
    values = np.array([[_number(numbers[k])] for k in order])
    return Map(values, failed[:, None], down, ("", [name]), _with_unit(table, name), name, order)


def _column(table: Table, asked: str | None) -> tuple[str, list[Any]]:
    """What is drawn of each scenario, and what that is; nothing, where all have failed before there was anything."""
    name = asked or table.severity
    return name, table.column(name) if asked or table.columns else [None] * len(table)


def _heading(table: Table, name: str, shown_of_all: str) -> str:
    """A label, with its unit where its values have none of their own, and how many of how many there are."""
    bare = not any(isinstance(value, str) for value in table.labels.get(name, ()))
    return (_with_unit(table, name) if bare else name) + ("" if shown_of_all == "all" else f": {shown_of_all}")


def _with_unit(table: Table, name: str) -> str:
    return f"{name} ({unit})" if (unit := table.units.get(name)) else name


def _name(table: Table, k: int, varied: dict[str, Any]) -> str:
    labels = table.scenarios[k].labels
    return ", ".join(shown(labels[name]) for name in varied if name in labels) or table.scenarios[k].name


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else np.nan


def _over_labels(table: Table, varied: dict[str, list[Any]], asked: str | None) -> Map:
    column, numbers = _column(table, asked)
    (y, rows), (x, columns), *_ = varied.items()
    values = np.full((len(rows), len(columns)), np.nan)
    failed = np.zeros(values.shape, dtype=bool)
    for scenario, result, value in zip(table.scenarios, table.results, numbers, strict=True):
        at = rows.index(scenario.labels[y]), columns.index(scenario.labels[x])
        failed[at] |= bool(result.error)
        values[at] = np.fmin(values[at], _number(value))
    kept = np.argsort(np.nan_to_num(values, nan=-np.inf).min(axis=1), kind="stable") if isinstance(rows[0], str) \
        else np.arange(len(rows))
    kept, first = kept[:ROWS_SHOWN], slice(COLUMNS_SHOWN)
    told = _with_unit(table, column) + ("" if len(varied) == 2 else ", the worst of the others")
    return Map(values[kept][:, first], failed[kept][:, first],
               (_heading(table, y, _of(len(kept), len(rows))), [shown(rows[k]) for k in kept]),
               (_heading(table, x, _of(len(columns[first]), len(columns))), [shown(v) for v in columns[first]]),
               told, column, [])


def _of(some: int, of: int) -> str:
    return "all" if some == of else f"{some} of {of}"
