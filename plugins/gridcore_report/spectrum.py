"""Modes and gradients of a report: the plane of eigenvalues, bars of derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.plotting import figure

from gridcore.sensitivity import products
from gridcore_plot.curves import COLOURS
from gridcore_plot.tornado import chosen

if TYPE_CHECKING:
    import xarray as xr

    from gridcore_smallsignal.modes import Modes

RATIOS = (0.05, 0.1)
_FARTHEST = 0.8  # of the greatest imaginary part: how far the figure goes to the left at first
_TOLD = 4  # participants


def plane(modes: Modes) -> Any:
    """Eigenvalues, pairs once, with lines of equal damping ratio."""
    numbers = [k for k in modes.pairs() if not modes.labels[k]]
    values = modes.eigenvalues[numbers]
    top = max(float(values.imag.max(initial=0.0)), 1.0) / (2 * np.pi)
    left = -_FARTHEST * 2 * np.pi * top
    right = max(float(values.real.max(initial=0.0)), -0.06 * left)
    plot = figure(height=420, width=640, x_axis_label="real part (1/s)", y_axis_label="frequency (Hz)",
                  x_range=(left, 1.1 * right), y_range=(-0.04 * top, 1.1 * top), name="modes",
                  tools="pan,wheel_zoom,box_zoom,reset,save", active_scroll="wheel_zoom")
    plot.segment([0.0], [-top], [0.0], [3 * top], color="#606060")
    for ratio in RATIOS:  # |real| = ratio |lambda|, Kundur (1994), eq. 12.46
        height = 3 * top
        x = -2 * np.pi * height * ratio / np.sqrt(1 - ratio**2)
        plot.line([0.0, x], [0.0, height], color="#909090", line_dash="dashed", legend_label=f"damping ratio {ratio:g}",
                  line_alpha=1.0 if ratio == RATIOS[0] else 0.5)
    source = ColumnDataSource({
        "x": values.real, "y": values.imag / (2 * np.pi), "mode": numbers,
        "colour": [COLOURS[1] if value.real >= 0 else COLOURS[0] for value in values],
        "ratio": 100 * modes.damping_ratio[numbers],
        "who": [", ".join(f"{state} {part:.2f}" for state, part in modes.participants(k, _TOLD).items())
                for k in numbers]})
    points = plot.scatter("x", "y", source=source, size=9, fill_color="colour", line_color="white")
    plot.add_tools(HoverTool(renderers=[points], tooltips=[
        ("mode", "@mode"), ("real part", "@x{0.0000} 1/s"), ("frequency", "@y{0.0000} Hz"),
        ("damping ratio", "@ratio{0.00} %"), ("participation", "@who")]))
    plot.legend.location = "top_left"
    plot.legend.label_text_font_size = "11px"
    return plot


def bars(gradient: xr.DataArray) -> list[Any]:
    """For each objective the parameters that matter most: derivative times parameter, largest on top."""
    values, out = products(gradient), []
    for k, parameters in chosen(gradient):
        names = [str(gradient["parameter"].values[j]) for j in parameters]
        unit, of = str(gradient["objective_unit"].values[k]), float(gradient["value"].values[k])
        source = ColumnDataSource({
            "name": names, "value": values[k, parameters], "slope": gradient.values[k, parameters],
            "colour": [COLOURS[0] if v > 0 else COLOURS[1] for v in values[k, parameters]],
            "at": gradient["at"].values[parameters], "unit": [str(gradient["unit"].values[j]) for j in parameters]})
        plot = figure(height=90 + 22 * len(names), sizing_mode="stretch_width", y_range=names[::-1],
                      x_axis_label=f"derivative * parameter{f' ({unit})' if unit else ''}", tools="save",
                      title=f"{gradient['objective'].values[k]} = {of:.4g} {unit}", name="gradient")
        drawn = plot.hbar("name", right="value", height=0.7, source=source, color="colour")
        plot.add_tools(HoverTool(renderers=[drawn], tooltips=[
            ("", "@name = @at @unit"), ("derivative", "@slope"), ("times parameter", "@value")]))
        out.append(plot)
    return out
