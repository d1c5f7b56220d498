"""The figure of a run: panels under each other over one axis of time, events marked through all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill, wrap
from typing import TYPE_CHECKING

from .curves import draw, label
from .events import Instant, arrange, instants
from .outstanding import colour_numbers
from .panels import Panel, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gridcore.results import Run

# Inches.
WIDTH, LEFT, RIGHT, BOTTOM, TITLE = 8.0, 0.85, 1.05, 0.5, 0.22
PANEL, GAP, ROW = 1.75, 0.12, 0.135
_DPI = 160
_STYLE = {"font.size": 8.5, "axes.labelsize": 8.5, "axes.spines.top": False, "axes.spines.right": False,
          "axes.grid": True, "grid.color": "#E6E6E6", "grid.linewidth": 0.6, "axes.axisbelow": True,
          "axes.formatter.useoffset": False, "axes.edgecolor": "#606060", "xtick.color": "#404040",
          "ytick.color": "#404040", "axes.xmargin": 0.0, "svg.fonttype": "none", "pdf.fonttype": 42}
_LINE = "#707070"
_SIZE = 7.5


def plot(run: Run, path: str | Path | None = None) -> Figure:
    """Draw a run: speeds, rotor angles, bus voltages, field voltages; events marked.

    Parameters
    ----------
    run : Run
    path : str or Path, optional
        Where to write the figure; the suffix says the format (``.png``, ``.pdf``, ``.svg``). Without it
        the figure belongs to pyplot, to be shown; where there is no display, matplotlib draws into memory.

    Returns
    -------
    matplotlib.figure.Figure
    """
    return drawn(path, lambda figure: compose(figure, run, panels(run), run.system.case.title or run.system.case.name))


def drawn(path: str | Path | None, compose: Callable[[Figure], None]) -> Figure:
    """A new figure in the style of all, with what `compose` draws on it; written to `path` where there is one."""
    import matplotlib

    with matplotlib.rc_context(_STYLE):
        figure = _new_figure(path)
        compose(figure)
        if path is not None:
            figure.savefig(path, dpi=_DPI)
    return figure


def _new_figure(path: str | Path | None) -> Figure:
    if path is None:
        from matplotlib import pyplot

        return pyplot.figure(dpi=_DPI)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(dpi=_DPI)
    FigureCanvasAgg(figure)
    return figure


def compose(figure: Figure, run: Run, shown: Sequence[Panel], heading: str) -> None:
    """Panels under each other over the time of a run, its events above them and through them."""
    marks = instants(run)
    inner = WIDTH - LEFT - RIGHT
    span = float(run.t[-1] - run.t[0]) or 1.0
    lines = [(mark.t - run.t[0]) / span * inner for mark in marks]
    widths = [_width(figure, mark) for mark in marks]
    starts = [min(x, inner + RIGHT - width) for x, width in zip(lines, widths, strict=True)]
    rows = arrange(marks, starts, widths)
    depth = max((row + len(mark.lines) for row, mark in zip(rows, marks, strict=True) if row is not None), default=0)
    unsaid = sum(row is None for row in rows)
    strip = ROW * (depth + (1 if unsaid else 0)) + 0.06
    title = wrap(heading, 86)
    head = TITLE * (len(title) + 0.8)
    height = head + strip + len(shown) * (PANEL + GAP) + BOTTOM
    figure.set_size_inches(WIDTH, height)
    axes: list[Axes] = []
    labels = []
    numbers = colour_numbers(panel.named for panel in shown)
    for k, panel in enumerate(shown):
        bottom = height - head - strip - (k + 1) * PANEL - k * GAP
        at = figure.add_axes((LEFT / WIDTH, bottom / height, inner / WIDTH, PANEL / height),
                             sharex=axes[0] if axes else None)
        labels.append(draw(at, run.t, panel, numbers[k]))
        at.set_ylabel(panel.heading if "\n" in panel.heading else fill(panel.heading, 28))
        at.tick_params(labelbottom=k == len(shown) - 1, length=3)
        axes.append(at)
    axes[-1].set_xlabel("time (s)")
    axes[0].set_xlim(run.t[0], run.t[0] + span)
    figure.align_ylabels(axes)
    figure.text(LEFT / WIDTH, 1 - 0.5 * TITLE / height, "\n".join(title), fontsize=9, fontweight="bold", va="top")
    for at, texts in zip(axes, labels, strict=True):
        label(at, texts)
    top = height - head
    if unsaid:
        figure.text(LEFT / WIDTH, (top - 0.5 * ROW) / height, f"dotted without words: {unsaid} more instants",
                    fontsize=_SIZE, color=_LINE, va="center")
        top -= ROW
    _mark(figure, axes, marks, rows, list(zip(lines, starts, strict=True)), top)


def _mark(figure: Figure, axes: list[Axes], marks: list[Instant], rows: list[int | None],
          places: list[tuple[float, float]], top: float) -> None:
    """Labels above the panels, and lines from there down through all of them.

    A label begins at its line; where the page would end before the label does, it stands above its line.
    """
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    floor = axes[-1].get_position().y0
    for mark, row, (at, start) in zip(marks, rows, places, strict=True):
        x, begin = (LEFT + at) / width, (LEFT + start + 0.04) / width
        first = None if row is None else row if start == at else row + len(mark.lines)
        above = axes[0].get_position().y1 if first is None else (top - ROW * first) / height
        line = Line2D([x, x], [floor, above], transform=figure.transFigure, color=_LINE, zorder=0.5,
                      linewidth=0.6, dashes=(4, 2) if mark.planned else (1, 2))
        figure.add_artist(line)
        for n, text in enumerate(mark.lines if row is not None else (), start=row or 0):
            figure.text(begin, (top - ROW * (n + 0.5)) / height, text, fontsize=_SIZE,
                        color="#303030", va="center")


def _width(figure: Figure, mark: Instant) -> float:
    """Width (inches) of the words of an instant, with the room they need around them."""
    widest = 0.0
    for line in mark.lines:
        text = figure.text(0, 0, line, fontsize=_SIZE)
        widest = max(widest, text.get_window_extent().width / figure.dpi)
        text.remove()
    return widest + 0.12
