"""Conformance checks of linear solvers, readers and objectives, written against public names alone.

They are found where those of devices, integrators and jump rules are: ``from gridcore.testing import reader_checks``.
"""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``linear_solver_checks``, ``reader_checks``, ``objective_checks``."""
    for kind in ("linear_solver", "reader", "objective"):
        register(f"{kind}_checks", f"gridcore_conformance.{kind}s:{kind}_checks")
