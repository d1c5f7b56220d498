"""Runs on disk, without loss: NetCDF files."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_exporters(register: Register) -> None:
    """``run.save("x.nc")``, and ``gc.load_run("x.nc")``."""
    register(".nc", "gridcore_netcdf.write:save", "gridcore_netcdf.read:load")
