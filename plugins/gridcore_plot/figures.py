"""The figure of a run: panels under each other over one axis of time, events marked through all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any

from gridcore.errors import CaseError
from gridcore.results import Run, check_run, whole_file
from gridcore_provenance.beside import picture_fields

from .curves import RUNS, draw, label
from .events import Instant, arrange, common
from .outstanding import colour_numbers
from .panels import Panel, overlaid, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches.
WIDTH, LEFT, RIGHT, BOTTOM, TITLE = 8.0, 0.85, 1.05, 0.5, 0.22
PANEL, GAP, ROW = 1.75, 0.12, 0.135
_DPI = 160
PLAIN = {"text.parse_math": False}  # a dollar sign in a name or title is one, and begins no formula
_STYLE = {"font.size": 8.5, "axes.labelsize": 8.5, "axes.spines.top": False, "axes.spines.right": False,
          "axes.grid": True, "grid.color": "#E6E6E6", "grid.linewidth": 0.6, "axes.axisbelow": True,
          "axes.formatter.useoffset": False, "axes.edgecolor": "#606060", "xtick.color": "#404040",
          "ytick.color": "#404040", "axes.xmargin": 0.0, "svg.fonttype": "none", "pdf.fonttype": 42, **PLAIN}
_LINE = "#707070"
_SIZE = 7.5


def plot(run: Run | Mapping[str, Run], path: str | Path | None = None, of: str | Iterable[str] = ()) -> Figure:
    """Draw a run: speeds, rotor angles, bus voltages, field voltages; events marked. Or several, over each other.

    Parameters
    ----------
    run : Run or mapping of str to Run
        Several runs by the names that they have in the figure, four at most.
    path : str or Path, optional
        Where to write the figure; the suffix says the format (``.png``, ``.pdf``, ``.svg``). Without it
        the figure belongs to pyplot, to be shown; where there is no display, matplotlib draws into memory.
    of : str or iterable of str
        Quantities to draw in place of those, by address or shell-style pattern: ``["GEN*.omega", "BUS7.Vm"]``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    CaseError
        If a pattern matches nothing (the nearest are offered), or there are more runs than lines to tell them by.
    """
    runs = dict(run) if isinstance(run, Mapping) else {"": run}
    if not 1 <= len(runs) <= len(RUNS):
        raise CaseError(f"{len(runs)} runs: a figure has one to {len(RUNS)}")
    for each in runs.values():
        check_run(each)
    case = next(iter(runs.values())).system.case
    shown = [panels(each, of) for each in runs.values()]
    together = overlaid(shown) if len(runs) > 1 else [{0: panel} for panel in shown[0]]
    return drawn(path, lambda figure: _compose(figure, runs, together, case.title or case.name), run)


def in_lines(heading: str, width: int = 90) -> list[str]:
    """The lines of a heading, of which none begins with a number: "line 5-7" stays together."""
    tied = re.sub(r" (?=\d)", "\N{NO-BREAK SPACE}", heading)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in wrap(tied, width, break_on_hyphens=False)]


def drawn(path: str | Path | None, compose: Callable[[Figure], None], of: Any = None,
          style: Mapping[str, Any] = _STYLE, **saving: Any) -> Figure:
    """A new figure in the style of all, with what `compose` draws on it; written to `path` where there is one, with
    what made it: the run, the runs by name, or the system that it is of, or what these say of themselves.
    """
    import matplotlib

    with matplotlib.rc_context({**style}):
        figure = _new_figure(path)
        compose(figure)
        if path is not None:
            with whole_file(Path(path)) as temporary:
                figure.savefig(temporary, dpi=_DPI, metadata=picture_fields(path, of), **saving)
    return figure


def _new_figure(path: str | Path | None) -> Figure:
    if path is None:
        from matplotlib import pyplot

        return pyplot.figure(dpi=_DPI)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(dpi=_DPI)
    kinds = FigureCanvasAgg(figure).get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in kinds:
        raise CaseError(f"{path}: a figure ends in {', '.join(sorted(f'.{kind}' for kind in kinds))}")
    return figure


def compose(figure: Figure, run: Run, shown: Sequence[Panel], heading: str) -> None:
    """Panels under each other over the time of a run, its events above them and through them."""
    _compose(figure, {"": run}, [{0: panel} for panel in shown], heading)


def _compose(figure: Figure, runs: Mapping[str, Run], shown: Sequence[Mapping[int, Panel]], heading: str) -> None:
    """Of each quantity the panels of the runs that have it, by number of the run."""
    marks, times = common(runs), [run.t for run in runs.values()]
    first, end = min(t[0] for t in times), max(t[-1] for t in times)
    inner, span = WIDTH - LEFT - RIGHT, float(end - first) or 1.0
    lines = [(mark.t - first) / span * inner for mark in marks]
    widths = [_width(figure, mark) for mark in marks]
    starts = [min(x, inner + RIGHT - width) for x, width in zip(lines, widths, strict=True)]
    rows = arrange(marks, starts, widths)
    depth = max((row + len(mark.lines) for row, mark in zip(rows, marks, strict=True) if row is not None), default=0)
    unsaid = sum(row is None for row in rows)
    strip = ROW * (depth + (1 if unsaid else 0)) + 0.06
    title = in_lines(heading)
    head = TITLE * (len(title) + 0.8 + (len(runs) > 1))
    height = head + strip + len(shown) * (PANEL + GAP) + BOTTOM
    figure.set_size_inches(WIDTH, height)
    numbers = colour_numbers([device for panel in of.values() for device in panel.named] for of in shown)
    axes: list[Axes] = []
    labels = []
    for k, of in enumerate(shown):
        bottom = height - head - strip - (k + 1) * PANEL - k * GAP
        at = figure.add_axes((LEFT / WIDTH, bottom / height, inner / WIDTH, PANEL / height),
                             sharex=axes[0] if axes else None)
        found = [draw(at, times[number], panel, numbers[k], number) for number, panel in of.items()]
        labels.append(list({item.text: item for items in reversed(found) for item in items}.values()))  # each once
        name = next(iter(of.values())).heading
        at.set_ylabel(name if "\n" in name else fill(name, 28))
        at.tick_params(labelbottom=k == len(shown) - 1, length=3)
        axes.append(at)
    axes[-1].set_xlabel("time (s)")
    axes[0].set_xlim(first, first + span)
    figure.align_ylabels(axes)
    figure.text(LEFT / WIDTH, 1 - 0.5 * TITLE / height, "\n".join(title), fontsize=9, fontweight="bold", va="top")
    if len(runs) > 1:
        _name_runs(figure, list(runs), 1 - (len(title) + 0.75) * TITLE / height)
    for at, texts in zip(axes, labels, strict=True):
        label(at, texts)
    top = height - head
    if unsaid:
        figure.text(LEFT / WIDTH, (top - 0.5 * ROW) / height, f"dotted without words: {unsaid} more instants",
                    fontsize=_SIZE, color=_LINE, va="center")
        top -= ROW
    _mark(figure, axes, marks, rows, list(zip(lines, starts, strict=True)), top, inner / span)


def _mark(figure: Figure, axes: list[Axes], marks: list[Instant], rows: list[int | None],
          places: list[tuple[float, float]], top: float, per_second: float) -> None:
    """Labels above the panels, and lines from there down through all of them; a second has so many inches.

    A label begins at its line; where the page would end before the label does, it stands above its line.
    """
    from matplotlib.lines import Line2D

    width, height = figure.get_size_inches()
    floor = axes[-1].get_position().y0
    for mark, row, (at, start) in zip(marks, rows, places, strict=True):
        x, begin = (LEFT + at) / width, (LEFT + start + 0.04) / width
        first = None if row is None else row if start == at else row + len(mark.lines)
        above = axes[0].get_position().y1 if first is None else (top - ROW * first) / height
        look = {"transform": figure.transFigure, "color": _LINE, "zorder": 0.5, "linewidth": 0.6,
                "dashes": (4, 2) if mark.planned else (1, 2)}
        figure.add_artist(Line2D([x, x], [floor, above], **look))
        for t in mark.also:
            later = x + per_second * (t - mark.t) / width
            figure.add_artist(Line2D([later, later], [floor, axes[0].get_position().y1], **look))
        for n, text in enumerate(mark.lines if row is not None else (), start=row or 0):
            figure.text(begin, (top - ROW * (n + 0.5)) / height, text, fontsize=_SIZE,
                        color="#303030", va="center")


def _name_runs(figure: Figure, names: Sequence[str], height: float) -> None:
    """A line below the title: each run's line, and its name."""
    from matplotlib.lines import Line2D

    x = LEFT
    for number, name in enumerate(names):
        figure.add_artist(Line2D([x / WIDTH, (x + 0.3) / WIDTH], [height, height], color="#303030", linewidth=1.2,
                                 dashes=RUNS[number] or (None, None), transform=figure.transFigure))
        text = figure.text((x + 0.36) / WIDTH, height, name, fontsize=_SIZE, va="center_baseline")
        x += 0.36 + text.get_window_extent().width / figure.dpi + 0.25


def _width(figure: Figure, mark: Instant) -> float:
    """Width (inches) of the words of an instant, with the room they need around them."""
    widest = 0.0
    for line in mark.lines:
        text = figure.text(0, 0, line, fontsize=_SIZE)
        widest = max(widest, text.get_window_extent().width / figure.dpi)
        text.remove()
    return widest + 0.12
