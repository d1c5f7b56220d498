"""Forward trajectory sensitivities: the tangent of every operation on the tape, in order."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.tsa(run, ...)`` and ``gc.analyses.forward_gradient(run, ...)``."""
    register("tsa", "gridcore_tsa.sensitivities:tsa")
    register("forward_gradient", "gridcore_tsa.gradient:forward_gradient")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore tsa``."""
    register("tsa", "gridcore_tsa.command:tsa_command")
