"""Figures of modes: the plane of eigenvalues, a mode's shape and participants, root locus and damping map."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from gridcore.errors import CaseError
from gridcore_plot.curves import COLOURS, GREY
from gridcore_plot.figures import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .locus import Locus
    from .modes import Modes

RATIOS = (0.05, 0.1, 0.2)
_WIDTH, _HEIGHT, _SMALL = 8.0, 3.6, 7.5
_BARS = 8
_SEEN = 0.02  # of the largest arrow: shorter ones are below their dots
_FARTHEST = 0.8  # of the height of the plane of eigenvalues: how far it goes to the left


def plot_modes(modes: Modes, path: str | Path | None = None, mode: int | None = None) -> Figure:
    """Draw eigenvalues, and of one mode its participants and its shape in the speeds.

    Parameters
    ----------
    modes : Modes
    path : str or Path, optional
        As for the figure of a run.
    mode : int, optional
        By default the least damped one that oscillates, or the first.
    """
    case = modes.linear.system.case
    oscillating = np.flatnonzero(modes.eigenvalues.imag > 0)
    number = modes._number(mode) if mode is not None else int(oscillating[0]) if len(oscillating) else 0
    return drawn(path, lambda figure: _compose_modes(figure, modes, number, case.title or case.name),
                 modes.linear.system)


def _compose_modes(figure: Figure, modes: Modes, number: int, title: str) -> None:
    figure.set_size_inches(_WIDTH, _HEIGHT)
    figure.text(0.09, 0.965, shorten(title, 100), fontsize=9, fontweight="bold", va="top")
    plane = figure.add_axes((0.09, 0.14, 0.35, 0.7))
    _plane(plane, modes.eigenvalues)
    here = modes.eigenvalues[number]
    plane.plot(here.real, abs(here.imag), "o", markersize=10, markerfacecolor="none", color=COLOURS[1])
    bars = figure.add_axes((0.62, 0.14, 0.13, 0.7))
    parts = modes.participants(number, _BARS)
    bars.barh(np.arange(len(parts)), list(parts.values()), height=0.65, color=COLOURS[0])
    bars.set_yticks(np.arange(len(parts)), list(parts), fontsize=_SMALL)
    bars.invert_yaxis()
    bars.grid(axis="y", visible=False)
    bars.set_xlabel("participation")
    sign = f" ± {abs(here.imag):.3f}j" if here.imag else ""
    figure.text(0.55, 0.87, f"mode {number}: {here.real:.3f}{sign} 1/s, {modes.frequency[number]:.3f} Hz",
                fontsize=_SMALL + 1)
    try:
        shape = modes.shape(number, "omega")
    except CaseError:
        return
    _compass(figure.add_axes((0.79, 0.36, 0.19, 0.45), projection="polar"), shape)


def _compass(axes: Axes, shape: dict[str, complex]) -> None:
    """Arrows of the largest components, named below; the largest points to the right."""
    largest = [d for d in sorted(shape, key=lambda d: -abs(shape[d]))[: len(COLOURS)] if abs(shape[d]) > _SEEN]
    for colour, device in zip(COLOURS, largest):
        at = np.angle(shape[device]), abs(shape[device])
        axes.plot([0, at[0]], [0, at[1]], color=colour, linewidth=1.3, label=device, zorder=3)
        axes.plot(*at, "o", color=colour, markersize=3.5, zorder=3)
    axes.set_ylim(0, 1.08)
    axes.set_xticks(np.arange(4) * np.pi / 2, [""] * 4)
    axes.set_yticks([0.5, 1.0], ["", ""])
    axes.set_title("speeds", fontsize=_SMALL)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2, frameon=False, fontsize=_SMALL - 1,
                handlelength=1.2, columnspacing=1.0)


def plot_locus(locus: Locus, path: str | Path | None = None) -> Figure:
    """Draw a root locus: each mode a line from a dot at the first value to a cross at the last.

    Parameters
    ----------
    locus : Locus
        Over one parameter.
    path : str or Path, optional
        As for the figure of a run.
    """
    if len(locus.parameters) != 1:
        raise CaseError("a root locus has one parameter; draw a damping map with plot_damping_map")
    return drawn(path, lambda figure: _compose_locus(figure, locus), locus.made)


def _compose_locus(figure: Figure, locus: Locus) -> None:
    figure.set_size_inches(_WIDTH, 1.25 * _HEIGHT)
    name, values = locus.parameters[0], locus.values[0]
    figure.text(0.09, 0.975, f"{locus.case}: {name} from {values[0]:g} to {values[-1]:g} {locus.units[0]}", fontsize=9,
                fontweight="bold", va="top")
    axes = figure.add_axes((0.09, 0.12, 0.68, 0.8))
    up = locus.eigenvalues.real + 1j * np.abs(locus.eigenvalues.imag)
    _plane(axes, up.ravel(), marks=False)
    length = np.abs(np.diff(up, axis=0)).sum(axis=0)
    moving = np.argsort(-length)
    for rank, k in enumerate(moving):
        named = rank < len(COLOURS) and length[k] > 0
        axes.plot(up[:, k].real, up[:, k].imag, "-", color=COLOURS[rank] if named else GREY, linewidth=1.4, zorder=3,
                  label=locus.dominant[k] if named else None)
        axes.plot(up[0, k].real, up[0, k].imag, "o", color=COLOURS[rank] if named else GREY, markersize=3.5, zorder=4)
        axes.plot(up[-1, k].real, up[-1, k].imag, "x", color=COLOURS[rank] if named else GREY, markersize=5, zorder=4)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=_SMALL,
                title="largest part\n(dot: first, x: last value)", title_fontsize=_SMALL, alignment="left")


def plot_damping_map(locus: Locus, path: str | Path | None = None, band: tuple[float, float] | None = None) -> Figure:
    """Draw the smallest damping ratio over two parameters; lines at 0, 5 and 10 percent.

    Parameters
    ----------
    locus : Locus
    path : str or Path, optional
    band : (float, float), optional
        Frequencies (Hz) of the modes that count; all by default.
    """
    if len(locus.parameters) != 2:
        raise CaseError("a damping map has two parameters; draw a root locus with plot_locus")
    return drawn(path, lambda figure: _compose_map(figure, locus, band), locus.made)


def _compose_map(figure: Figure, locus: Locus, band: tuple[float, float] | None) -> None:
    figure.set_size_inches(0.75 * _WIDTH, 1.2 * _HEIGHT)
    modes = f" of modes between {band[0]:g} and {band[1]:g} Hz" if band else ""
    figure.text(0.11, 0.975, f"{locus.case}: smallest damping ratio{modes} (%)", fontsize=9,
                fontweight="bold", va="top")
    axes = figure.add_axes((0.11, 0.12, 0.68, 0.8))
    percent = 100 * locus.least(band).T
    x, y = locus.values
    x_name, y_name = (f"{name} ({unit})" if unit else name
                      for name, unit in zip(locus.parameters, locus.units, strict=True))
    if np.isfinite(percent).any():
        filled = axes.contourf(x, y, np.ma.masked_invalid(percent), 12, cmap="viridis")
        figure.colorbar(filled, cax=figure.add_axes((0.82, 0.12, 0.025, 0.8))).set_label("smallest damping ratio (%)")
        inside = [v for v in (0.0, 5.0, 10.0) if np.nanmin(percent) < v < np.nanmax(percent)]
        if inside:
            axes.clabel(axes.contour(x, y, np.ma.masked_invalid(percent), inside, colors="white", linewidths=1.2),
                        fmt="%g %%", fontsize=_SMALL)
    axes.grid(visible=False)
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)


def _plane(axes: Axes, values: np.ndarray, marks: bool = True) -> None:
    """The upper half plane with lines of constant damping, and the eigenvalues of the part that matters."""
    values = values[np.isfinite(values)]
    height = 1.15 * max(np.abs(values.imag).max(initial=0.0), 1.0)
    left = max(1.1 * min(values.real.min(initial=0.0), -0.5), -_FARTHEST * height)
    beyond = int((values.real < left).sum())
    right = max(1.2 * values.real.max(initial=0.0), -0.06 * left)
    if marks:
        up = values[values.imag >= 0]
        axes.plot(up.real, up.imag, "x", color=COLOURS[0], markersize=5, zorder=3)
    axes.axvline(0.0, color="#606060", linewidth=0.9)
    told, level = np.inf, 0
    for ratio in RATIOS:
        slope = np.sqrt(1 - ratio**2) / ratio
        end = min(height, -left * slope)
        axes.plot([0, -end / slope], [0, end], "--", color="#9A9A9A", linewidth=0.7)
        level = level + 1 if told + end / slope < 0.09 * (right - left) else 0  # one above the other where it is narrow
        told = -end / slope
        axes.annotate(f"{100 * ratio:g} %", (told, end), fontsize=_SMALL - 1, color="#707070",
                      xytext=(0, 2 + 7 * level), textcoords="offset points", ha="center")
    if beyond and marks:
        axes.annotate(f"{beyond} farther left", (0.02, 0.02), xycoords="axes fraction", fontsize=_SMALL - 1,
                      color="#707070")
    axes.set_xlim(left, right)
    axes.set_ylim(-0.02 * height, height)
    axes.set_xlabel("real part (1/s)")
    axes.set_ylabel("imaginary part (rad/s)")
