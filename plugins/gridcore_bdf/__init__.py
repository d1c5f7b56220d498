"""Backward differentiation formulas of order one to five with steps of any length: few steps where little happens."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_integrators(register: Register) -> None:
    """``method="bdf"``."""
    register("bdf", "gridcore_bdf.stepper:Bdf")
