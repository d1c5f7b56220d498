"""Runs that go on from their end: ``gc.simulate(run, t_end=5.0)``."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.resume(run, t_end)``, which ``gc.simulate(run, t_end)`` calls."""
    register("resume", "gridcore_resume.resume:resume")
