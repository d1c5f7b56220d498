"""The linear solver ``klu``: KLU of SuiteSparse, where ``nbklu`` is there."""

from importlib.util import find_spec

from gridcore.registry import Register, hookimpl


@hookimpl
def register_linear_solvers(register: Register) -> None:
    """``gc.build(..., linear_solver="klu")``, which is the default."""
    if find_spec("nbklu"):
        register("klu", "gridcore_klu.solver:KLU")
