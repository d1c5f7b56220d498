"""Time series of a report: panels over one axis of time to zoom into, events marked through all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, CrosshairTool, CustomJSTickFormatter, HoverTool, Legend, LegendItem, Span
from bokeh.plotting import figure

from gridcore_plot.curves import GREY, look
from gridcore_plot.events import Instant
from gridcore_plot.outstanding import stray
from gridcore_plot.panels import Panel

from .layers import thinned

if TYPE_CHECKING:
    from gridcore.results import Run

POINTS = 4000  # of a curve; more are not seen
OTHERS = 200  # curves in grey
_OTHERS_POINTS = 500
_HEIGHT, _STRIP, _LEFT, _RIGHT = 230, 78, 85, 140
_TOOLS = "xpan,xwheel_zoom,box_zoom,reset,save"


def figures(run: Run, shown: Sequence[Panel], numbers: Sequence[Mapping[str, int]],
            marks: Sequence[Instant]) -> list[Any]:
    """A strip of events, and a figure for each panel below it; all move together."""
    strip = _strip(run, marks)
    out = [strip, *(_panel(run, panel, number, marks, strip.x_range)
                    for panel, number in zip(shown, numbers, strict=True))]
    out[-1].xaxis.axis_label = "time (s)"
    out[-1].height += 25
    for plot in out[:-1]:
        plot.xaxis.major_label_text_font_size = "0px"
    crosshair = Span(dimension="height", line_color="#909090", line_width=0.7)
    for plot in out:
        plot.add_tools(CrosshairTool(overlay=crosshair, dimensions="height"))
        plot.min_border_left, plot.min_border_right = _LEFT, _RIGHT
        plot.toolbar.autohide = True
    return out


def _strip(run: Run, marks: Sequence[Instant]) -> Any:
    """Events above the panels: those of the study in words, the others when the mouse is on them."""
    end = float(run.t[-1]) if run.t[-1] > run.t[0] else float(run.t[0]) + 1.0
    plot = figure(height=_STRIP, sizing_mode="stretch_width", tools="xpan,xwheel_zoom", y_range=(-0.6, 3.4),
                  x_range=(float(run.t[0]), end), toolbar_location=None, active_scroll="xwheel_zoom", name="events")
    plot.yaxis.visible = plot.grid.visible = False
    plot.outline_line_color = None
    plot.x_range.bounds = "auto"
    planned = [mark for mark in marks if mark.planned]
    others = [mark for mark in marks if not mark.planned]
    for found, marker, colour, size in ((others, "circle", "#909090", 6), (planned, "inverted_triangle", "#303030", 9)):
        if found:
            source = ColumnDataSource({"t": [mark.t for mark in found], "y": [0.0] * len(found),
                                       "said": ["; ".join(mark.lines) for mark in found]})
            drawn = plot.scatter("t", "y", source=source, marker=marker, size=size, color=colour)
            plot.add_tools(HoverTool(renderers=[drawn], tooltips=[("time", "@t{0.0000000} s"), ("", "@said")]))
    texts = [(mark.t, ", ".join(mark.lines)) for mark in planned]
    source = ColumnDataSource({"t": [t for t, _ in texts], "said": [said for _, said in texts],
                               "row": [0.9 * (1 + (len(texts) - 1 - k) % 3) - 0.2 for k in range(len(texts))]})
    plot.text("t", "row", text="said", source=source, text_font_size="11px", text_color="#303030", x_offset=4,
              text_baseline="middle")
    return plot


def _panel(run: Run, panel: Panel, numbers: Mapping[str, int], marks: Sequence[Instant], x_range: Any) -> Any:
    plot = figure(height=_HEIGHT, sizing_mode="stretch_width", tools=_TOOLS, active_scroll="xwheel_zoom",
                  x_range=x_range, y_axis_label=fill(" ".join(panel.heading.split()), 30), name=panel.heading)
    plot.ygrid.grid_line_color = plot.xgrid.grid_line_color = "#ececec"
    plot.yaxis.formatter = CustomJSTickFormatter(code="return String(Number(tick.toPrecision(6)))")
    for mark in marks:
        plot.add_layout(Span(location=mark.t, dimension="height", level="underlay", line_color="#707070",
                             line_width=0.8, line_dash="dashed" if mark.planned else "dotted",
                             line_alpha=1.0 if mark.planned else 0.5))
    items = []
    rest = [k for k, device in enumerate(panel.devices) if device not in panel.named]
    if rest:
        items.append(_others(plot, run, panel, rest))
    points = thinned(run, POINTS)
    curves = ColumnDataSource({"t": run.t[points], **{
        device: panel.values[points, panel.devices.index(device)].astype(np.float32) for device in panel.named}})
    for device in reversed(panel.named):
        colour, dashes = look(numbers[device])
        line = plot.line("t", device, source=curves, color=colour, line_width=1.8,
                         line_dash=[round(3 * d) for d in dashes] if dashes else [])
        plot.add_tools(HoverTool(renderers=[line], tooltips=[
            ("", device), ("time", "@t{0.0000} s"), ("value", f"@{{{device}}}{{0.00000}}")]))
        items.insert(0, LegendItem(label=device, renderers=[line]))
    plot.add_layout(Legend(items=items, label_text_font_size="11px", spacing=0, padding=2, margin=4, glyph_height=13,
                           label_height=13, border_line_color=None, click_policy="hide"), "right")
    return plot


def _others(plot: Any, run: Run, panel: Panel, rest: list[int]) -> Any:
    """Curves in grey, each told by the mouse; of very many those that stray farthest."""
    kept = [rest[k] for k in np.argsort(-stray(panel.values[:, rest]), kind="stable")[:OTHERS]]
    points = thinned(run, _OTHERS_POINTS)
    t = run.t[points].astype(np.float32)
    source = ColumnDataSource({"xs": [t] * len(kept), "id": [panel.devices[k] for k in kept],
                               "ys": [panel.values[points, k].astype(np.float32) for k in kept]})
    lines = plot.multi_line("xs", "ys", source=source, line_color=GREY, line_width=0.7)
    plot.add_tools(HoverTool(renderers=[lines], tooltips=[("", "@id")], line_policy="interp"))
    told = f"{len(rest)} others" if len(kept) == len(rest) else f"{len(kept)} of {len(rest)} others"
    return LegendItem(label=told, renderers=[lines])
