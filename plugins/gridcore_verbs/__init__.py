"""The verbs ``run``, ``pf``, ``convert``, ``export``, ``doctor``, those that say what there is; tables for all."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore run CASE`` and its relations."""
    for verb in ("run", "convert", "export", "doctor"):
        register(verb, f"gridcore_verbs.command:{verb}")
    register("plugins", "gridcore_verbs.command:list_plugins")
    register("cases", "gridcore_verbs.about:list_cases")
    for verb in ("info", "describe"):
        register(verb, f"gridcore_verbs.about:{verb}")
    register("new-device", "gridcore_verbs.new_device:new_device")
    register("pf", "gridcore_verbs.power_flow:pf")
