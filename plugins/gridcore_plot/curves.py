"""Many curves in one panel, each known by its label: colours, what stands out, labels that keep apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .panels import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), without the yellow that vanishes on white: apart for every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Where those do not suffice: as far from them and from each other as they are.
MORE = ("#1E0078", "#961E3C", "#5A3300", "#3C4BFF", "#8B8B2E")
GREY = "#B4B4B4"
_SIZE = 7.5


@dataclass(frozen=True)
class Label:
    """The name of a curve, where the curve ends (data coordinates), and what it looks like."""

    text: str
    height: float
    colour: str
    text_colour: str
    width: float
    dashes: tuple[float, ...] | None = None


def look(number: int) -> tuple[str, tuple[float, ...] | None]:
    """Colour and dashes of the curve of this number: of more than twelve dashed, each time in longer dashes."""
    again, colour = divmod(number, len(COLOURS) + len(MORE))
    return (COLOURS + MORE)[colour], (4.0 * again, 1.5) if again else None


# Lines of runs, the first being solid.
RUNS: tuple[tuple[float, ...] | None, ...] = (None, (5.0, 2.0), (1.2, 1.6), (6.0, 1.6, 1.2, 1.6))


def draw(axes: Axes, t: np.ndarray, panel: Panel, numbers: Mapping[str, int], run: int = 0) -> list[Label]:
    """Draw a panel's curves; returns the labels that name them.

    Those that the panel names are coloured, by their numbers, and labelled; the others are thin and grey. Of the second
    of several runs on, lines are dashed.
    """
    rest = [k for k, device in enumerate(panel.devices) if device not in panel.named]
    if rest:
        axes.plot(t, panel.values[:, rest], color=GREY, linewidth=0.5, zorder=2)
    labels = []
    for order, device in enumerate(panel.named):
        values, (colour, dashes) = panel.values[:, panel.devices.index(device)], look(numbers[device])
        dashes = RUNS[run % len(RUNS)] if run else dashes
        line, = axes.plot(t, values, color=colour, linewidth=1.2, zorder=4 - 0.01 * order)
        if dashes:
            line.set_dashes(dashes)
        finite = np.flatnonzero(np.isfinite(values))
        if len(finite):
            labels.append(Label(device, float(values[finite[-1]]), colour, colour, 1.2, dashes))
    at_end = panel.values[-1, rest]
    if np.isfinite(at_end).any():
        labels.append(Label(f"{len(rest)} others", float(np.nanmedian(at_end)), GREY, "#707070", 0.6))
    return labels


def label(axes: Axes, labels: list[Label]) -> None:
    """Write labels to the right of a panel, beside the ends of their curves and clear of each other.

    Each begins with a piece of its curve. The limits and the place of the axes must be final.
    """
    from matplotlib.lines import Line2D

    figure = axes.get_figure()
    assert figure is not None
    scale = 72.0 / figure.dpi
    low, high, right = (edge * scale for edge in (axes.bbox.y0, axes.bbox.y1, axes.bbox.x1))
    width, height = figure.get_size_inches() * 72.0
    ends = [float(np.clip(axes.transData.transform((0.0, item.height))[1] * scale, low, high))
            for item in labels]
    for item, end, place in zip(labels, ends, spread(ends, 1.2 * _SIZE, low, high), strict=True):
        x, y = np.array([right, right + 6.0, right + 20.0]) / width, np.array([end, place, place]) / height
        at = {"transform": figure.transFigure, "color": item.colour}
        figure.add_artist(Line2D(x[:2], y[:2], linewidth=0.5, **at))
        figure.add_artist(Line2D(x[1:], y[1:], linewidth=item.width, dashes=item.dashes or (None, None), **at))
        figure.text(x[2] + 3.0 / width, y[2], item.text, color=item.text_colour, fontsize=_SIZE,
                    va="center_baseline")


def spread(heights: list[float], gap: float, low: float, high: float) -> list[float]:
    """Heights moved as little as need be (in the mean square) to stand `gap` apart, from `low` to `high`.

    Less the gaps below each, they need only be in order: an isotonic regression.
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    below = gap * np.arange(len(order))
    level = isotonic_regression(np.asarray(heights)[order] - below).x
    out = np.empty(len(order))
    out[order] = np.clip(level, low, high - gap * (len(order) - 1)) + below
    return [float(height) for height in out]
