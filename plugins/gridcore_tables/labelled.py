"""Points of a run as data of xarray."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Address
from gridcore.results import Points, check_run, select

from .signals import signals

if TYPE_CHECKING:
    import xarray as xr


def labelled(run: Points, patterns: str | Iterable[Address]) -> xr.DataArray:
    """What patterns name, over time: ``run["GEN*.omega"]``, ``run[["GEN2.omega", "BUS*.Vm"]]``.

    Parameters
    ----------
    run : Points
    patterns : str or iterable of str or (device, name)
        Addresses and shell-style patterns; what matches no quantity may match parameters.

    Returns
    -------
    xarray.DataArray
        Dimensions time and quantity, the latter by address, with ``quantity_unit``. The coordinate ``switchings`` tells
        apart the points of one time: see :func:`dataset`.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    NotRecorded
        If the run did not keep one of them.
    """
    import xarray as xr

    check_run(run, Points)
    found = select(run.system, patterns, parameters=True)
    instances = run.system.layout.instances
    units = [instances[run.system.layout.find(device)].device.declares.unit(name) for device, name in found]
    values = np.empty((len(run.t), len(found)))
    for name in dict.fromkeys(name for _, name in found):
        places = [place for place, (_, of) in enumerate(found) if of == name]
        values[:, places] = run.of([found[place][0] for place in places], name)
    return xr.DataArray(values, dims=("time", "quantity"), coords={
        **_times(run), "quantity": [".".join(one) for one in found], "quantity_unit": ("quantity", units)})


def dataset(run: Points, names: str | Iterable[str] | None = None) -> xr.Dataset:
    """All of it as a dataset: one variable for each quantity, over time and the devices that have it.

    ``ds["omega"].sel(TwoAxis="GEN2")``, ``ds["Vm"].sel(bus="BUS7")``; units and descriptions are
    attributes. A name that several kinds of device have (``Vm`` of buses and of exciters) belongs to
    the buses, then to the sources, and carries the kind of device otherwise: ``Vm_Exciter``, whose attribute
    ``gridcore_quantity`` is ``Vm``. The coordinate ``switchings`` counts how often something switched before a
    point: an instant of switching stands twice, before and after. Events are listed along the dimension ``event``.

    Parameters
    ----------
    run : Points
    names : str or iterable of str, optional
        Quantities wanted. By default all states and algebraic variables, voltage magnitude and angle
        of buses, and the derived quantities of sources.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    CaseError
        If no device has one of the names; the nearest are offered.
    """
    import xarray as xr

    check_run(run, Points)
    variables: dict[str, Any] = {}
    coordinates = _times(run)
    for signal in signals(run.system, names, run):
        coordinates[signal.dimension] = (signal.dimension, np.array(signal.devices))
        variables[signal.name] = (("time", signal.dimension), run.of(signal.devices, signal.quantity),
                                  signal.attributes)
    variables["event_time"] = ("event", np.array([e.t for e in run.events]),
                               {"units": "s", "long_name": "time of event"})
    variables["event_words"] = ("event", np.array([e.words for e in run.events], dtype=str))
    return xr.Dataset(variables, coordinates, heading(run))


def _times(run: Points) -> dict[str, Any]:
    """The coordinates of the points."""
    return {"time": ("time", run.t.copy(), {"units": "s", "long_name": "time"}),
            "switchings": ("time", run.point_settings.copy(), {"long_name": "switchings before this point"})}


def heading(run: Points) -> dict[str, str]:
    """What stands at the head of a data file."""
    case, settings = run.system.case, run.settings
    return {"title": case.title or case.name, "case": case.name, "method": str(settings.get("method", "")),
            "step": f"{step} s" if (step := settings.get("step", "")) != "auto" else step}
