"""The tornado of a gradient: for each objective the parameters that matter most, as bars."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from gridcore.sensitivity import products

from .curves import COLOURS
from .figures import BOTTOM, GAP, LEFT, TITLE, WIDTH, drawn

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gridcore.results import Run

BARS, PANELS_SHOWN = 12, 4
_BAR, _NAMES, _HEAD, _TICKS, _LABEL = 0.17, 0.55, 0.3, 0.2, 0.2  # inches
_SIZE = 7.5
_ROOM = 0.22  # of the width, on the sides, for the numbers


def plot_gradient(gradient: xr.DataArray, path: str | Path | None = None, title: str = "",
                  of: Run | None = None) -> Figure:
    """Draw the table of ``gc.adjoint``: derivative times parameter, largest first.

    Blue bars raise the objective when the parameter grows, red ones lower it. Up to four objectives, those with the
    largest bars; up to twelve parameters each.

    Parameters
    ----------
    gradient : xarray.DataArray
    path : str or Path, optional
        As for the figure of a run.
    title : str
        By default that of the case, where `of` says which.
    of : Run, optional
        The run that was differentiated: the picture says what made it.
    """
    case = of.system.case if of is not None else None
    told = title or (case and (case.title or case.name)) or "Gradient"
    return drawn(path, lambda figure: _compose(figure, gradient, told), of)


def chosen(gradient: xr.DataArray) -> list[tuple[int, list[int]]]:
    """(objective, its parameters, largest first) of what is drawn."""
    sizes = np.abs(products(gradient))
    largest = sizes.max(axis=1, initial=0.0)
    shown = sorted(k for k in np.argsort(-largest, kind="stable")[:PANELS_SHOWN].tolist() if largest[k] > 0)
    return [(k, [j for j in np.argsort(-sizes[k], kind="stable")[:BARS].tolist() if sizes[k, j] > 0]) for k in shown]


def _compose(figure: Figure, gradient: xr.DataArray, title: str) -> None:
    shown, values = chosen(gradient), products(gradient)
    heights = [_BAR * len(parameters) + 0.12 for _, parameters in shown]
    rest = gradient.sizes["objective"] - len(shown)
    apart = len({gradient["objective_unit"].values[k] for k, _ in shown}) > 1  # each axis then says its own
    ticks = _TICKS + _LABEL * apart
    head = TITLE * 2.4
    height = head + sum(heights) + len(shown) * (_HEAD + GAP + ticks) + BOTTOM - ticks
    figure.set_size_inches(WIDTH, height)
    left, right = LEFT + _NAMES, 0.25
    top = height - head
    for (k, parameters), inches in zip(shown, heights, strict=True):
        top -= _HEAD
        axes = figure.add_axes((left / WIDTH, (top - inches) / height, (WIDTH - left - right) / WIDTH, inches / height))
        unit = gradient["objective_unit"].values[k]
        _bars(axes, [gradient["parameter"].values[j] for j in parameters], values[k, parameters])
        name, value = shorten(str(gradient["objective"].values[k]), 60), gradient["value"].values[k]
        figure.text(left / WIDTH, (top + 0.08) / height, f"{name} = {value:.4g} {unit}", fontsize=_SIZE + 1)
        if apart or k == shown[-1][0]:
            axes.set_xlabel("derivative * parameter" + (f" ({unit})" if unit else ""))
        top -= inches + GAP + ticks
    figure.text(LEFT / WIDTH, 1 - 0.5 * TITLE / height, title, fontsize=9, fontweight="bold", va="top")
    if rest:
        zero = int((np.abs(gradient.values).max(axis=1, initial=0.0) == 0).sum())
        told = f"{rest} more objectives" if rest > 1 else "1 more objective"
        if zero:
            told += f"; the gradient of {zero} is zero" if zero < rest or rest > 1 else ": its gradient is zero"
        figure.text(LEFT / WIDTH, 1 - 1.6 * TITLE / height, told, fontsize=_SIZE, color="#606060", va="top")


def _bars(axes: Axes, names: list[str], values: np.ndarray) -> None:
    """Horizontal bars from zero, largest on top, each with its number."""
    rows = np.arange(len(names))
    axes.barh(rows, values, height=0.7, color=[COLOURS[0] if v > 0 else COLOURS[1] for v in values], zorder=2)
    axes.axvline(0.0, color="#606060", linewidth=0.8, zorder=3)
    axes.set_yticks(rows, names, fontsize=_SIZE)
    axes.set_ylim(len(names) - 0.35, -0.65)
    reach = (1 + _ROOM) * abs(values[0])
    axes.set_xlim(-reach, reach)
    axes.ticklabel_format(axis="x", scilimits=(-3, 4))
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=3, labelsize=_SIZE)
    axes.xaxis.get_offset_text().set_fontsize(_SIZE)
    axes.spines["left"].set_visible(False)
    for row, value in zip(rows, values, strict=True):
        side = 1 if value > 0 else -1
        axes.annotate(f"{value:.3g}", (value, row), (3 * side, 0), textcoords="offset points", fontsize=_SIZE - 1,
                      ha="left" if value > 0 else "right", va="center_baseline", color="#303030")
