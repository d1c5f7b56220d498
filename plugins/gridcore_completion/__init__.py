"""Completion of cases, devices, parameters and whatever else has a name: on the command line, and in notebooks."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """What ``gridcore.commands.completing`` asks, and what ``run["<TAB>`` does."""
    register("completions", "gridcore_completion.completions:completions")
    register("addresses", "gridcore_completion.addresses:addresses")
