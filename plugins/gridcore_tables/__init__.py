"""Cases, operating points and runs as tables of pandas and data of xarray, with names and units."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``case.table``, ``system.power_flow``, and what a run gives by pattern."""
    register("table", "gridcore_tables.records:table")
    register("power_flow", "gridcore_tables.power_flow:power_flow")
    register("labelled", "gridcore_tables.labelled:labelled")
    register("dataset", "gridcore_tables.labelled:dataset")
    register("data_frame", "gridcore_tables.frames:data_frame")
    register("peaks", "gridcore_tables.frames:peaks")
    register("summary", "gridcore_tables.summary:summary")
