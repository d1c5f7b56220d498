"""The linear solver ``superlu``: written against the public contract alone, and an example of it."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_linear_solvers(register: Register) -> None:
    """``gc.build(..., linear_solver="superlu")``."""
    register("superlu", "gridcore_superlu.solver:SuperLU")
