"""Forward trajectory sensitivities: the tangent of every operation on the tape, in order; their jump formula; and what
checks any derivative: differences of the whole program.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.tsa(run, ...)``, ``gc.analyses.forward_gradient(run, ...)`` and ``gc.differences(run, ...)``."""
    register("tsa", "gridcore_tsa.sensitivities:tsa")
    register("forward_gradient", "gridcore_tsa.gradient:forward_gradient")
    register("differences", "gridcore_tsa.finite_differences:differences")


@hookimpl
def register_jump_rules(register: Register) -> None:
    """``jumps="continuous"``: events of the continuous-time system."""
    from .continuous import Continuous

    register("continuous", Continuous())


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore tsa``."""
    register("tsa", "gridcore_tsa.command:tsa_command")
