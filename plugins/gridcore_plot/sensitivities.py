"""Sensitivities over time: a panel for each kind of quantity and each parameter, events marked as in a run's figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gridcore_verbs.tables import per

from .figures import compose, drawn
from .outstanding import standing_out, stray
from .panels import Panel

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from gridcore.results import Run

PANELS_SHOWN = 6


def draw_sensitivities(result: tuple[Run, xr.DataArray], path: str | Path) -> Figure:
    """As :func:`plot_sensitivities`, of a run and its table."""
    return plot_sensitivities(*result, path)


def plot_sensitivities(run: Run, table: xr.DataArray, path: str | Path | None = None) -> Figure:
    """Draw the table of ``gc.analyses.tsa(run, ..., fixed_time=True)``.

    Of more than six panels those are drawn whose derivatives, times their parameter, are largest.

    Parameters
    ----------
    run : Run
    table : xarray.DataArray
    path : str or Path, optional
        As for the figure of a run.
    """
    shown = sensitivity_panels(table)
    title = f"{run.system.case.title or run.system.case.name}: sensitivities"
    return drawn(path, lambda figure: compose(figure, run, shown, title), run)


def sensitivity_panels(table: xr.DataArray) -> list[Panel]:
    """One for each name of a quantity and each parameter, the largest where there are too many, in their order."""
    members: dict[str, list[int]] = {}
    for k, address in enumerate(table["quantity"].values):
        members.setdefault(str(address).rpartition(".")[2], []).append(k)
    addresses = table["quantity"].values
    devices_of = {name: [str(addresses[k]).rpartition(".")[0] for k in columns] for name, columns in members.items()}
    named = {name: standing_out(devices_of[name], *(stray(table.values[:, columns, j])
                                                    for j in range(table.sizes["parameter"])))
             for name, columns in members.items()}
    found = []
    for j, parameter in enumerate(table["parameter"].values):
        for name, columns in members.items():
            values = table.values[:, columns, j]
            unit = per(table["quantity_unit"].values[columns[0]], table["unit"].values[j])
            largest = float(np.abs(np.nan_to_num(values)).max(initial=0.0))
            exponent = math.floor(math.log10(largest)) if largest > 0 else 0
            scaled = not -2 < exponent < 4  # numbers that would not fit beside the axis
            told = " ".join(filter(None, [f"1e{exponent}" if scaled else "", unit]))
            heading = f"d {name} / d {parameter}" + (f"\n({told})" if told else "")
            panel = Panel(heading, devices_of[name], values / 10.0**exponent if scaled else values, named[name])
            found.append((largest * (abs(table["at"].values[j]) or 1.0), panel))
    shown = sorted(range(len(found)), key=lambda k: -found[k][0])[:PANELS_SHOWN]
    return [found[k][1] for k in sorted(shown)]
