"""Optima and critical values as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridcore_verbs.tables import Table

if TYPE_CHECKING:
    import xarray as xr

    from .critical import Critical
    from .result import Optimum


def parameters(found: Optimum) -> Table:
    """Start and optimum of each parameter, and which bound it is at."""
    x = found.x
    at = ["at its lower bound" if value <= low else "at its upper bound" if value >= high else ""
          for value, low, high in zip(x.values, x["low"].values, x["high"].values)]
    return Table({"parameter": x["parameter"].values.tolist(), "start": [f"{v: .6g}" for v in x["start"].values],
                  "optimum": [f"{v: .6g}" for v in x.values], "unit": x["unit"].values.tolist(), "": at})


def limits(found: Optimum) -> Table:
    """The constraints, and what their limits cost."""
    c = found.constraints
    numbers = {"value": c, "at least": c["low"], "at most": c["high"], "multiplier": c["multiplier"]}
    return Table({"constraint": c["constraint"].values.tolist(),
                  **{heading: [f"{v: .6g}" for v in column.values] for heading, column in numbers.items()}})


def iterations(found: Optimum) -> Table:
    """One row for each iteration, every digit kept."""
    history = found.history
    columns = {name: history[name].values.tolist() for name in ("trial", "objective", "optimality", "violation")}
    return Table({**columns, **{name: history["x"].values[:, k].tolist()
                                for k, name in enumerate(history["parameter"].values.tolist())}})


def attempts(found: Critical) -> Table:
    """The values that were tried on the way to a critical one."""
    return Table({"tried": [f"{a.value:.9g}" for a in found.attempts],
                  "": ["stable" if a.stable else "unstable" for a in found.attempts],
                  "Newton leads to": [f"{a.estimate:.9g}".replace("nan", "") for a in found.attempts]})


def sensitivities(of: xr.DataArray) -> Table:
    """Derivatives, those with the largest effect per part of their parameter first."""
    order = (-abs(of * of["at"])).argsort().values
    return Table({"parameter": of["parameter"].values[order].tolist(), "at": of["at"].values[order].tolist(),
                  "unit": of["unit"].values[order].tolist(), "derivative": of.values[order].tolist()})
