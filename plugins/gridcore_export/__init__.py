"""Runs for other programs: a dataset of xarray, a table of text."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``run.to_xarray()``."""
    register("dataset", "gridcore_export.dataset:dataset")


@hookimpl
def register_exporters(register: Register) -> None:
    """``run.save("x.csv")``."""
    register(".csv", "gridcore_export.table:write")
