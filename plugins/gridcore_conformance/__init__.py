"""Conformance checks of all kinds of plugins, written against public names alone.

They are found in the core: ``from gridcore.testing import reader_checks``.
"""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``device_checks`` and those of integrators, jump rules, linear solvers, readers and objectives."""
    for kind in ("device", "integrator", "jump_rule", "linear_solver", "reader", "objective"):
        register(f"{kind}_checks", f"gridcore_conformance.{kind}s:{kind}_checks")
