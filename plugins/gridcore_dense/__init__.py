"""States of a run between its points: what ``run.at(t)`` and ``run.resample(step)`` give."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.interpolated(run, t)``."""
    register("interpolated", "gridcore_dense.interpolated:interpolated")
