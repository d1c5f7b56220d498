"""Tables of results as NetCDF files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gridcore.results import whole_file

if TYPE_CHECKING:
    import xarray as xr


def write_dataset(dataset: xr.Dataset, path: Path, made: Mapping[str, str]) -> None:
    """Write a dataset to a NetCDF file, whole or not at all: made in memory, as HDF5 does not survive a full disk.

    Parameters
    ----------
    dataset : xarray.Dataset
    path : Path
    made : mapping of str to str
        What :func:`gridcore_provenance.record.provenance` says of it: attributes of the file.
    """
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    image = io.BytesIO()
    with h5netcdf.File(image, "w") as file:
        dataset.assign_attrs(made).dump_to_store(H5NetCDFStore(file))
    with whole_file(path) as temporary:
        temporary.write_bytes(image.getbuffer())
