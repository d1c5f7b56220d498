"""Optimisation of what a simulation shows: objectives and constraints with exact gradients, by scipy or IPOPT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridcore.registry import Register, hookimpl

if TYPE_CHECKING:
    from .critical import Critical as Critical
    from .critical import critical_value as critical_value
    from .measures import Constraint as Constraint
    from .measures import Measure as Measure
    from .measures import Simulation as Simulation
    from .result import Optimum as Optimum
    from .search import optimise as optimise

_MODULE = {"Constraint": "measures", "Measure": "measures", "Simulation": "measures", "optimise": "search",
           "Optimum": "result", "critical_value": "critical", "Critical": "critical"}

__all__ = ["Constraint", "Critical", "Measure", "Optimum", "Simulation", "critical_value", "optimise"]


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.optimise(...)`` and ``gc.analyses.critical_value(...)``."""
    register("optimise", "gridcore_optimisation.search:optimise")
    register("critical_value", "gridcore_optimisation.critical:critical_value")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore optimise`` and ``gridcore critical``."""
    for name in ("optimise", "critical"):
        register(name, f"gridcore_optimisation.command:{name}_command")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore_optimisation' has no attribute '{name}'")
    return getattr(import_module(f".{_MODULE[name]}", __name__), name)
