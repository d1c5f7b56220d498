"""The heat map of a sweep."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .scenarios import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .table import Table

ROWS_SHOWN, COLUMNS_SHOWN = 40, 60
_CELL, _WIDEST = 0.2, 0.6  # inches
_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 2.4, 1.2, 0.15, 0.9, 0.18
_WRITTEN = 240  # cells in which there is room for a number
_LOOKS = {"margin": ("RdYlBu", -100.0, 100.0), "machine": ("YlOrRd", 0.0, 180.0)}


def heat_map(table: Table, path: str | Path | None = None, column: str | None = None) -> Figure:
    """Draw the heat map of a sweep.

    Where one label varies: the scenarios, the worst on top, by machines, and how far each went from the centre of
    inertia. Where two or more do: one column of the table over the first two; of the others the worst. What failed
    is crossed out.

    Parameters
    ----------
    table : Table
    path : str or Path, optional
        Where to write it; without it the figure belongs to pyplot.
    column : str, optional
        By default the one that ranks.
    """
    values, failed, down, across, what, unit, look = _cells(table, column)
    if path is None:
        from matplotlib import pyplot

        figure = pyplot.figure()
    else:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure()
        FigureCanvasAgg(figure)
    rows, columns = values.shape
    wide = min(max(5.5 / columns, _CELL), _WIDEST) * columns
    tall = max(_CELL * rows, 1.0)
    title = wrap(table.title, max(30, int(14 * (wide + 2))))
    width, height = _LEFT + wide + _RIGHT, _TOP + _LINE * len(title) + tall + _BOTTOM
    figure.set_size_inches(width, height)
    axes = figure.add_axes((_LEFT / width, _BOTTOM / height, wide / width, tall / height))
    colours, low, high = _LOOKS.get(look, ("viridis", None, None))
    image = axes.imshow(np.ma.masked_invalid(values), aspect="auto", cmap=colours, vmin=low, vmax=high)
    for y, x in np.argwhere(failed):
        axes.plot(x, y, "x", color="#303030", markersize=5)
    if values.size <= _WRITTEN:
        _write_numbers(axes, image, values)
    axes.set_yticks(range(rows), [shorten(t, 38, placeholder="...") for t in down[1]], fontsize=7)
    some = max(1, columns // 30)
    axes.set_xticks(range(0, columns, some), across[1][::some], fontsize=7, rotation=90 if columns > 6 else 0)
    axes.set_ylabel(down[0], fontsize=8)
    axes.set_xlabel(across[0], fontsize=8)
    axes.tick_params(length=0)
    bar = figure.colorbar(image, cax=figure.add_axes(((_LEFT + wide + 0.15) / width, _BOTTOM / height, 0.15 / width,
                                                      tall / height)), extend="max" if look == "machine" else "neither")
    bar.set_label(f"{what} ({unit})" if unit else what, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    axes.set_title("\n".join(title), fontsize=9, fontweight="bold", loc="left")
    if path is not None:
        figure.savefig(path, dpi=160, bbox_inches="tight")
    return figure


def _write_numbers(axes: Any, image: Any, values: np.ndarray) -> None:
    for (y, x), value in np.ndenumerate(values):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.45
            text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
            axes.text(x, y, text, ha="center", va="center", fontsize=6, color="white" if dark else "black")


def _cells(table: Table, column: str | None) -> tuple[
        np.ndarray, np.ndarray, tuple[str, list[str]], tuple[str, list[str]], str, str, str]:
    """Values, what failed, heading and names of rows and of columns, what is drawn, its unit, and its look."""
    varied = {name: values for name, values in table.labels.items() if len(values) > 1}
    machines = list(dict.fromkeys(m for r in table.results for m in r.machines))
    if len(varied) >= 2:
        return _over_labels(table, varied, column or table.severity)
    order = table.ranked(column)[:ROWS_SHOWN]
    down = (next(iter(varied), "scenario"), [_name(table, k, varied) for k in order])
    failed = np.array([bool(table.results[k].error) for k in order])
    if column is None and machines:
        shown_machines = machines[:COLUMNS_SHOWN]
        values = np.array([[table.results[k].machines.get(m, np.nan) for m in shown_machines] for k in order])
        return (values, np.tile(failed[:, None], len(shown_machines)), down, ("machine", shown_machines),
                "largest angle to the centre of inertia", "deg", "machine")
    name = column or table.severity
    numbers = table.column(name)
    values = np.array([[_number(numbers[k])] for k in order])
    return values, failed[:, None], down, ("", [name]), name, table.units[name], name


def _name(table: Table, k: int, varied: dict[str, Any]) -> str:
    labels = table.scenarios[k].labels
    return ", ".join(shown(labels[name]) for name in varied if name in labels) or table.scenarios[k].name


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else np.nan


def _over_labels(table: Table, varied: dict[str, list[Any]], column: str) -> Any:
    (y, rows), (x, columns), *_ = varied.items()
    values = np.full((len(rows), len(columns)), np.nan)
    failed = np.zeros(values.shape, dtype=bool)
    for scenario, result, value in zip(table.scenarios, table.results, table.column(column), strict=True):
        at = rows.index(scenario.labels[y]), columns.index(scenario.labels[x])
        failed[at] |= bool(result.error)
        values[at] = np.fmin(values[at], _number(value))
    kept = np.argsort(np.nan_to_num(values, nan=-np.inf).min(axis=1), kind="stable") if isinstance(rows[0], str) \
        else np.arange(len(rows))
    kept, first = kept[:ROWS_SHOWN], slice(COLUMNS_SHOWN)
    what = column if len(varied) == 2 else f"{column}, the worst of the others"
    return (values[kept][:, first], failed[kept][:, first], (y, [shown(rows[k]) for k in kept]),
            (x, [shown(v) for v in columns[first]]), what, table.units[column], column)
