"""Runs for other programs: a table of text."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_exporters(register: Register) -> None:
    """``run.save("x.csv")``."""
    register(".csv", "gridcore_export.table:write")
