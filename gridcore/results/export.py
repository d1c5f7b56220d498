"""A run as an xarray dataset; and writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import GridcoreError
from .signals import signals

if TYPE_CHECKING:
    import xarray as xr

    from .run import Run


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name to write to, which takes the place of `path` when all went well.

    Raises
    ------
    GridcoreError
        If the file cannot be written.
    """
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except GridcoreError as error:
        error.args = (str(error).replace(str(temporary), str(path)),)
        raise
    except OSError as error:
        raise GridcoreError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_dataset(dataset: xr.Dataset, path: Path) -> None:
    """Write a dataset to a NetCDF file."""
    with whole_file(path) as temporary:
        dataset.to_netcdf(temporary, engine="h5netcdf")


def heading(run: Run) -> dict[str, str]:
    """What stands at the head of a data file."""
    case, settings = run.system.case, run.settings
    return {"title": case.title or case.name, "case": case.name, "method": str(settings.get("method", "")),
            "step": f"{settings.get('step', '')} s"}


def to_xarray(run: Run, names: Iterable[str] | None = None) -> xr.Dataset:
    """See :meth:`gridcore.results.run.Run.to_xarray`."""
    import xarray as xr

    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {
        "time": ("time", run.t.copy(), {"units": "s", "long_name": "time"}),
        "switchings": ("time", run.tape.point_settings(), {"long_name": "switchings before this point"})}
    for signal in signals(run.system, names, run):
        coordinates[signal.dimension] = (signal.dimension, np.array(signal.devices))
        variables[signal.name] = (("time", signal.dimension), run.of(signal.devices, signal.quantity),
                                  {"units": signal.unit, "long_name": signal.doc or signal.quantity})
    events = run.events
    variables["event_time"] = ("event", np.array([e.t for e in events]),
                               {"units": "s", "long_name": "time of event"})
    variables["event_words"] = ("event", np.array([e.words for e in events], dtype=str))
    return xr.Dataset(variables, coordinates, heading(run))
