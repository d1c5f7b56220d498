"""The figure of a fit: measured and simulated, what is left, and how it was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gridcore_plot.curves import COLOURS, GREY
from gridcore_plot.figures import drawn, in_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .fit import Fit
    from .sampling import Samples

CHANNELS_SHOWN = 6
_PARAMETERS_SHOWN = 8
_WIDTH, _ROW = 8.0, 1.75  # inches


def plot_fit(fit: Fit, path: str | Path | None = None) -> Figure:
    """Draw a fit: its channels with their residuals, its iterations, its parameters with their intervals.

    Of more than six channels those are drawn whose residuals are largest.

    Parameters
    ----------
    fit : Fit
    path : str or Path, optional
        As for the figure of a run.
    """
    return drawn(path, lambda figure: _compose(figure, fit), fit.system)


def _compose(figure: Figure, fit: Fit) -> None:
    shown = _channels(fit)
    rows = len(shown) + 1
    figure.set_size_inches(_WIDTH, _ROW * rows + 0.5)
    figure.set_layout_engine("constrained")
    axes = figure.subplots(rows, 2, squeeze=False, gridspec_kw={"width_ratios": [1.6, 1]})
    case = fit.system.case
    title = [*in_lines(case.title or case.name), f"fit by {fit.method}, {len(fit.residuals)} samples"]
    figure.suptitle("\n".join(title), fontsize=9, fontweight="bold", x=0.01, ha="left")
    for (k, column), (left, right) in zip(shown, axes[:-1], strict=True):
        _channel(fit, k, column, left, right)
    axes[-2, 0].set_xlabel("time (s)")
    axes[-2, 1].set_xlabel("time (s)")
    _iterations(fit, axes[-1, 0])
    _parameters(fit, axes[-1, 1])


def _channels(fit: Fit) -> list[tuple[int, int]]:
    """(recording, channel) of what is drawn, in their order."""
    size = {}
    for k, attached in enumerate(fit.problem.attached):
        r = fit.residuals[fit.problem.rows[k]]
        for column in range(len(attached.channels)):
            size[k, column] = float(np.abs(r[attached.column == column]).max(initial=0.0))
    return sorted(sorted(size, key=lambda key: -size[key])[:CHANNELS_SHOWN])


def _name(fit: Fit, k: int, attached: Samples, column: int) -> str:
    device, quantity = attached.channels[column]
    prefix = "" if len(fit.problem.attached) == 1 else f"{attached.recording.name or f'recording {k + 1}'}\n"
    unit = _unit(attached, column)
    return f"{prefix}{device}.{quantity}" + (f" ({unit})" if unit else "")


def _unit(attached: Samples, column: int) -> str:
    device, quantity = attached.channels[column]
    system = attached.recording.system
    return system.layout.instances[system.layout.find(device)].device.declares.unit(quantity)


def _channel(fit: Fit, k: int, column: int, left: Axes, right: Axes) -> None:
    attached, run, trial = fit.problem.attached[k], fit.runs[k], fit.problem.trial(fit.values)
    mine = np.flatnonzero(attached.column == column)
    mine = mine[np.argsort(attached.time[mine], kind="stable")]
    time, value = attached.time[mine], attached.value[mine]
    margin = 0.05 * (time[-1] - time[0])
    inside = (run.t >= time[0] - margin) & (run.t <= time[-1] + margin)
    curve, apart = run[attached.channels[column]], trial.values[k][mine] - value
    if attached.angle[column]:  # on the turns of the curve
        curve = np.unwrap(curve)
        value = trial.samplings[k].values(curve)[mine] - apart
    left.plot(run.t[inside], curve[inside], color=COLOURS[0], linewidth=1.2, label="simulated")
    left.plot(time, value, ".", color=COLOURS[1], markersize=3.5, label="measured")
    left.set_ylabel(_name(fit, k, attached, column))
    left.legend(frameon=False, fontsize=7)
    right.axhline(0.0, color=GREY, linewidth=0.6)
    right.plot(time, apart, ".-", color=COLOURS[1], markersize=3, linewidth=0.6)
    p = list(fit.whiteness.values())[sum(len(a.channels) for a in fit.problem.attached[:k]) + column].p_value
    unit = _unit(attached, column)
    right.set_ylabel("residual" + (f" ({unit})" if unit else "") + ("" if np.isnan(p) else f"\nLjung-Box p = {p:.2g}"))


def _iterations(fit: Fit, axes: Axes) -> None:
    cost = [max(iterate.cost, 1e-300) for iterate in fit.iterates]
    axes.semilogy(range(len(cost)), cost, "o-", color=COLOURS[0], markersize=3.5)
    for ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        ticks("{x:g}")  # those of a logarithmic axis would be formulas
    axes.set_xlabel("iteration")
    axes.set_ylabel("cost")
    axes.xaxis.get_major_locator().set_params(integer=True)


def _parameters(fit: Fit, axes: Axes) -> None:
    """Values with their 95 % intervals, as parts of the value: those that are known worst."""
    relative = fit.standard_errors / np.where(fit.values != 0, np.abs(fit.values), 1.0)
    shown = np.sort(np.argsort(-np.nan_to_num(relative), kind="stable")[:_PARAMETERS_SHOWN])[::-1]
    half = np.diff(fit.intervals(), axis=1)[:, 0] / 2 / np.where(fit.values != 0, np.abs(fit.values), 1.0)
    axes.errorbar(np.zeros(len(shown)), range(len(shown)), xerr=100 * np.nan_to_num(half[shown]), fmt="o",
                  color=COLOURS[0], markersize=3.5, capsize=3, linewidth=1)
    axes.set_yticks(range(len(shown)), [f"{fit.names[j]} = {fit.values[j]:.5g}" for j in shown], fontsize=7)
    axes.margins(x=0.1)
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xlabel("95 % interval (% of the value)")
