"""Completion of cases, devices, parameters and whatever else has a name, on the command line."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """What ``gridcore.commands.completing`` asks."""
    register("completions", "gridcore_completion.completions:completions")
