"""Conformance checks of all kinds of plugins but devices, written against public names alone.

They are found where those of devices are: ``from gridcore.testing import reader_checks``.
"""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``integrator_checks`` and those of jump rules, linear solvers, readers and objectives."""
    for kind in ("integrator", "jump_rule", "linear_solver", "reader", "objective"):
        register(f"{kind}_checks", f"gridcore_conformance.{kind}s:{kind}_checks")
