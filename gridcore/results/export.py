"""A run as an xarray dataset; and writing files whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
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
    """A temporary name to write to; what is there takes the place of `path`, on disk for good, when all went well.

    Raises
    ------
    GridcoreError
        If the file cannot be written.
    """
    temporary = path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _folder_beside(path) as folder:
            temporary = Path(folder, path.name)
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
            _sync(path.parent)
    except GridcoreError as error:
        error.args = (str(error).replace(str(temporary), str(path)),)
        raise
    except OSError as error:
        raise GridcoreError(f"{path}: cannot be written: {error.strerror or error}") from None


def _folder_beside(path: Path) -> tempfile.TemporaryDirectory[str]:
    """A hidden folder that names its writer's process; those that killed ones of this machine left are removed."""
    begin = f".{path.name}.{os.uname().nodename}."
    for left in path.parent.glob(f"{glob.escape(begin)}*"):
        with contextlib.suppress(PermissionError, ValueError):  # somebody else's process; no name of ours
            try:
                os.kill(int(left.name.removeprefix(begin).partition(".")[0]), 0)
            except ProcessLookupError:
                shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{begin}{os.getpid()}.", dir=path.parent, ignore_cleanup_errors=True)


def _sync(path: Path) -> None:
    """What is written is on disk, or it is an OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
