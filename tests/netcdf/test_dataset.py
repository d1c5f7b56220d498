"""Tables of results as NetCDF files: whole or not at all, at a full disk too."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

from gridcore.errors import GridcoreError
from gridcore_netcdf.dataset import write_dataset

TABLE = xr.Dataset({"a": ("n", np.arange(3.0), {"units": "pu"}), "b": (("n", "m"), np.zeros((3, 2)))},
                   {"m": ["x", "y"], "when": ("n", np.array(["2020-01-01"] * 3, dtype="M8[ns]"))}, {"title": "mine"})


def test_a_table_comes_back(tmp_path):
    made = {"gridcore": "0.1.0", "machine": "this one"}
    write_dataset(TABLE, tmp_path / "x.nc", made)
    expected = TABLE.assign_attrs(made)
    with xr.open_dataset(tmp_path / "x.nc", engine="h5netcdf") as there:
        assert there.identical(expected)
    expected.to_netcdf(tmp_path / "y.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "y.nc") as one, xr.open_dataset(tmp_path / "x.nc") as other:
        assert one.identical(other)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.nc", "y.nc"]


def test_a_folder_that_is_none_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GridcoreError, match=r"x\.nc: cannot be written"):
        write_dataset(TABLE, tmp_path / "file" / "x.nc", {})


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np, xarray as xr
from gridcore.errors import GridcoreError
from gridcore_netcdf.dataset import write_dataset
table = xr.Dataset({"a": ("n", np.arange(1000.0))})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for limit in (0, 100, 2000, 8000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        write_dataset(table, Path(sys.argv[1], "x.nc"), {})
    except GridcoreError as error:
        print(str(error).endswith("x.nc: cannot be written: File too large"))
"""


def test_a_table_for_which_there_is_no_room_ends_no_process(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True\n" * 4)
    assert not [*tmp_path.iterdir()]
