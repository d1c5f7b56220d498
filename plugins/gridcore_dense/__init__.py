"""States of a run between its points: what ``run.at(t)`` and ``run.resample(step)`` give."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``run.at(t)`` and ``run.resample(step)``."""
    register("interpolated", "gridcore_dense.interpolated:interpolated")
    register("resampled", "gridcore_dense.interpolated:resampled")
