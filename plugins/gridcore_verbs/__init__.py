"""The verbs ``run``, ``pf``, ``convert``, ``export``, ``doctor``, ``plugins``; and tables, for all verbs."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore run CASE`` and its relations."""
    for verb in ("run", "convert", "export", "doctor"):
        register(verb, f"gridcore_verbs.command:{verb}")
    register("plugins", "gridcore_verbs.command:list_plugins")
    register("pf", "gridcore_verbs.power_flow:pf")
