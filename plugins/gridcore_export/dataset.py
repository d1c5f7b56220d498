"""Results as a dataset of xarray."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.results import heading, signals

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.results import Points


def dataset(run: Points, names: Iterable[str] | None = None) -> xr.Dataset:
    """What :meth:`gridcore.Run.to_xarray` gives: see there.

    Parameters
    ----------
    run : Points
        A run, or points of it.
    names : iterable of str, optional
        Quantities wanted.
    """
    import xarray as xr

    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {
        "time": ("time", run.t.copy(), {"units": "s", "long_name": "time"}),
        "switchings": ("time", run.point_settings.copy(), {"long_name": "switchings before this point"})}
    for signal in signals(run.system, names, run):
        coordinates[signal.dimension] = (signal.dimension, np.array(signal.devices))
        variables[signal.name] = (("time", signal.dimension), run.of(signal.devices, signal.quantity),
                                  {"units": signal.unit, "long_name": signal.doc or signal.quantity})
    variables["event_time"] = ("event", np.array([e.t for e in run.events]),
                               {"units": "s", "long_name": "time of event"})
    variables["event_words"] = ("event", np.array([e.words for e in run.events], dtype=str))
    return xr.Dataset(variables, coordinates, heading(run))
