"""Measurements from NetCDF files of others, read by a copy of the process: HDF5 crashes over some that are damaged, and
finds no end in others.
"""

from __future__ import annotations

import math
import multiprocessing
import resource
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridcore.errors import CaseError
from gridcore_readers import sources

if TYPE_CHECKING:
    import xarray as xr

# s of the processor: to open a file, and for so many bytes more. They are read in a tenth of that.
_SECONDS, _BYTES = 1, 10_000_000


def read_netcdf(path: Path) -> xr.Dataset:
    """The dataset of a file.

    Raises
    ------
    CaseError
        If the file cannot be read, or has too much in it.
    """
    import h5netcdf  # noqa: F401 loaded here, and not by each copy
    import h5py  # noqa: F401
    import xarray  # noqa: F401

    sources.check(path)
    alone = threading.active_count() == 1  # other threads may hold a lock that a copy would wait for
    may = sys.platform == "linux" and alone and not multiprocessing.current_process().daemon
    found = _apart(path) if may else dataset_or_error(path)
    if isinstance(found, CaseError):
        raise found
    if isinstance(found, str):
        raise CaseError(f"is not a NetCDF file that can be read: {found}", file=str(path))
    return found


def _apart(path: Path) -> xr.Dataset | CaseError | str:
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=_send, args=(path, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return "HDF5 crashes, or finds no end in it"
    finally:
        ours.close()
        process.kill()
        process.join()


def _send(path: Path, pipe: Connection) -> None:
    seconds = _SECONDS + path.stat().st_size // _BYTES
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send(dataset_or_error(path))


def dataset_or_error(path: Path) -> Any:
    """The dataset, or what is wrong with it."""
    import h5netcdf
    import h5py
    import xarray as xr

    try:
        with h5py.File(path) as file:  # what cannot be opened makes h5netcdf print a traceback
            file.visititems(lambda name, item: None)
        with h5netcdf.File(path) as file:  # xarray reads the coordinates as soon as it opens one
            numbers = sum(math.prod(variable.shape) for variable in file.variables.values())
        sources.within(numbers, sources.VALUES, "numbers", str(path))  # it may be small: none need be written
        with xr.open_dataset(path, engine="h5netcdf") as data:
            return data.load()
    except CaseError as error:
        return error
    except Exception as error:  # HDF5 has many for what it does not know
        return " ".join(str(error).split())
