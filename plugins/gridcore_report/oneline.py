"""The one-line diagram of a report: a figure with a slider of time and a choice of what its colours say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column, row
from bokeh.models import (
    Button,
    ColorBar,
    ColumnDataSource,
    CustomJS,
    Div,
    HoverTool,
    LinearColorMapper,
    Select,
    Slider,
)
from bokeh.palettes import PuOr11, RdYlBu11, Viridis256
from bokeh.plotting import figure

from .diagram import Attached, Diagram
from .layers import Frames, Layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gridcore.results import Run

LOW, HIGH = 0.8, 1.2  # pu: the ends of the colours of voltages
_HEIGHT = 620
_CODE = Path(__file__).with_name("oneline.js")
_VOLTAGES, _SIGNED, _RISING = list(RdYlBu11[::-1]), list(PuOr11), list(Viridis256[::-8])
_LOAD = "#8a8a8a"
_LABELLED = 250  # nodes whose names have room
_INSIDE, _WIDE = 3, 18  # letters in a circle, and pixels that it then needs
_CENTRED = {"text_align": "center", "text_baseline": "middle"}


def one_line(run: Run, drawn: Diagram, shown: Frames, layers: Sequence[Layer],
             colours: Mapping[str, str]) -> tuple[Any, Any]:
    """The figure with its controls, and what colours it: to be called when the page is there.

    Parameters
    ----------
    run : Run
    drawn : Diagram
    shown : Frames
    layers : sequence of Layer
        To choose in place of the run.
    colours : mapping of str to str
        Of machines, as in the figures over time.
    """
    plot = figure(height=_HEIGHT, sizing_mode="stretch_width", match_aspect=True, toolbar_location="above",
                  tools="pan,wheel_zoom,box_zoom,reset,save", active_scroll="wheel_zoom")
    plot.axis.visible = plot.grid.visible = False
    plot.outline_line_color = None
    nodes, branches, arrows, attached = _sources(drawn, colours)
    crowd = float(np.clip(170 / max(len(drawn.nodes), 1) ** 0.5, 5, 22))  # pixels
    renderers = {"branch": plot.multi_line("xs", "ys", source=branches, line_color="colour", line_width=0.2 * crowd)}
    plot.segment("x0", "y0", "x", "y", source=attached, line_color=_LOAD, line_width=1)
    plot.scatter("x", "y", source=arrows, marker="triangle", angle="angle", size=0.45 * crowd, color="#404040",
                 fill_alpha="alpha", line_alpha=0)
    renderers["attached"] = plot.scatter("x", "y", source=attached, marker="marker", size=0.8 * crowd,
                                         fill_color="colour", line_color="#404040")
    renderers["node"] = plot.scatter("x", "y", source=nodes, size=crowd, fill_color="colour", line_color="#404040")
    if len(drawn.nodes) <= _LABELLED:
        size = "11px" if crowd >= _WIDE else "9px"
        inside = max(map(len, nodes.data["label"]), default=0) <= _INSIDE and crowd >= _WIDE
        plot.text("x", "y", text="label", source=nodes, text_font_size=size, **(
            {**_CENTRED, "text_color": "ink"} if inside else {"x_offset": 0.4 * crowd, "y_offset": -0.2 * crowd}))
        plot.text("x", "y", text="label", source=attached, text_font_size=size, text_baseline="middle",
                  text_align="side", x_offset="aside")
    plot.add_tools(*(HoverTool(renderers=[renderer], tooltips=[("", "@id"), ("", "@text")])
                     for renderer in renderers.values()))
    scales = [(mapper := LinearColorMapper(palette=_RISING, low=0, high=1), ColorBar(color_mapper=mapper, width=12))
              for _ in range(2)]
    for _, bar in scales:
        plot.add_layout(bar, "right")
    slider = Slider(start=0, end=max(len(shown.points) - 1, 1), value=0, step=1, show_value=False, title="time",
                    sizing_mode="stretch_width", name="time")
    play = Button(label="play", width=70, name="play")
    play.js_on_click(CustomJS(args={"slider": slider, "play": play}, code=_PLAY))
    names = ["the run: voltage and flow", *(layer.name for layer in layers)]
    choice = Select(title="colours", options=[(str(k), name) for k, name in enumerate(names)], value="0", width=420,
                    name="colours")
    told = Div(text="", name="told", styles={"font-size": "14px", "margin-top": "24px"})
    paint = CustomJS(args={
        "slider": slider, "play": play, "choice": choice, "frames": _instants(run, shown.points), "told": told,
        "voltage": _flat(shown.voltage), "flow": _flat(shown.flow), "nodes": nodes, "branches": branches,
        "arrows": arrows, "attached": attached, "scales": scales, "layers": json.dumps(_forms(shown, layers)),
    }, code=_CODE.read_text(encoding="utf-8"))
    slider.js_on_change("value", paint)
    choice.js_on_change("value", paint)
    return column(row(choice, told, sizing_mode="stretch_width"), row(play, slider, sizing_mode="stretch_width"), plot,
                  sizing_mode="stretch_width"), paint


_PLAY = """
if (play.label == "stop") {
  clearInterval(play.tags[0])
  play.label = "play"
  return
}
play.label = "stop"
if (slider.value >= slider.end) slider.value = 0
play.tags = [setInterval(() => {
  if (slider.value < slider.end) slider.value += 1
  else { clearInterval(play.tags[0]); play.label = "play" }
}, 80)]
"""


def _sources(drawn: Diagram, colours: Mapping[str, str]) -> tuple[Any, Any, Any, Any]:
    """Columns of nodes, branches, arrows on them, and of what is attached."""
    grey, middle = ["#c4c4c4"], drawn.ends.mean(axis=1) if len(drawn.ends) else np.zeros((0, 2))
    along = drawn.ends[:, 1] - drawn.ends[:, 0] if len(drawn.ends) else np.zeros((0, 2))
    n, m = len(drawn.nodes), len(drawn.branches)
    nodes = ColumnDataSource({"x": drawn.at[:, 0], "y": drawn.at[:, 1], "id": drawn.nodes,
                              "label": [_short(node) for node in drawn.nodes], "colour": grey * n,
                              "ink": ["#000000"] * n, "text": [""] * n}, name="nodes")
    branches = ColumnDataSource({"xs": [list(end[:, 0]) for end in drawn.ends],
                                 "ys": [list(end[:, 1]) for end in drawn.ends],
                                 "id": drawn.branches, "colour": grey * m, "text": [""] * m})
    turned = np.arctan2(along[:, 1], along[:, 0]) - np.pi / 2  # a triangle points up
    arrows = ColumnDataSource({"x": middle[:, 0], "y": middle[:, 1], "along": turned, "angle": turned,
                               "alpha": np.zeros(m)})
    own = [_own(item, colours) for item in drawn.attached]
    right = [item.at[0] >= drawn.at[item.node, 0] for item in drawn.attached]
    spots = np.array([item.at for item in drawn.attached]).reshape(-1, 2)
    start = drawn.at[[item.node for item in drawn.attached]].reshape(-1, 2)
    attached = ColumnDataSource({
        "x0": start[:, 0], "y0": start[:, 1], "x": spots[:, 0], "y": spots[:, 1],
        "id": [", ".join(item.devices) for item in drawn.attached], "own": own, "colour": own,
        "label": [item.devices[0] if item.source else "" for item in drawn.attached],
        "side": ["left" if side else "right" for side in right], "aside": [12 if side else -12 for side in right],
        "marker": ["square" if item.source else "inverted_triangle" for item in drawn.attached],
        "text": [""] * len(own)}, name="attached")
    return nodes, branches, arrows, attached


def _short(node: str) -> str:
    """The number of a bus, where its id is that alone."""
    return node.removeprefix("BUS") if node.removeprefix("BUS").isdigit() else node


def _own(item: Attached, colours: Mapping[str, str]) -> str:
    return colours.get(item.devices[0], "#ffffff") if item.source else _LOAD


def _instants(run: Run, points: np.ndarray) -> Any:
    """Time and the latest events of each frame."""
    said, events = [], run.events
    for t, setting in zip(run.t[points], run.point_settings[points], strict=True):
        past = [event for event in events if event.t < t or (event.t == t and setting > 0)]
        latest = [event.words for event in past if event.t == past[-1].t]
        more = f" and {len(latest) - 3} more" if len(latest) > 3 else ""
        said.append(f"after {past[-1].t:.4f} s: {', '.join(latest[:3])}{more}" if past else "")
    return ColumnDataSource({"t": run.t[points], "said": said}, name="frames")


def _flat(values: np.ndarray) -> Any:
    return ColumnDataSource({"value": values.astype(np.float32).ravel()})


def _forms(shown: Frames, layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """Scales of each choice, and values of those that do not move."""
    largest = float(np.nanmax(np.abs(shown.flow))) if np.isfinite(shown.flow).any() else 1.0
    usual = float(np.nanpercentile(np.abs(shown.flow), 98)) if np.isfinite(shown.flow).any() else largest
    volts = {"low": LOW, "high": HIGH, "palette": _VOLTAGES, "title": "bus voltage (pu)"}
    flows = {"low": 0.0, "high": usual or 1.0, "palette": _RISING, "title": "flow (MW)"}
    out: list[dict[str, Any]] = [{"forms": [volts, flows], "values": None}]
    for layer in layers:
        parts = {"nodes": layer.nodes, "branches": layer.branches, "attached": layer.attached}
        high = float(np.nanmax(np.abs(np.concatenate([*parts.values(), [0.0]])))) or 1.0
        form = {"low": -high if layer.signed else 0.0, "high": high, "title": layer.title,
                "palette": _SIGNED if layer.signed else _RISING}
        out.append({"forms": [form, None], "values": {
            name: [float(f"{v:.4g}") if np.isfinite(v) else None for v in values] for name, values in parts.items()}})
    return out
