"""Optimisation of what a simulation shows: objectives and constraints with exact gradients, by scipy or IPOPT."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gridcore.registry.hookspecs import hookimpl

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
def register_analyses(register: Callable[[str, Any], None]) -> None:
    register("optimise", _optimise)
    register("critical_value", _critical_value)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    from .command import critical_command, optimise_command

    register(optimise_command)
    register(critical_command)


def _optimise(*args: Any, **options: Any) -> Any:
    """Parameters that make an objective least: see :func:`gridcore_optimisation.search.optimise`."""
    from .search import optimise

    return optimise(*args, **options)


def _critical_value(*args: Any, **options: Any) -> Any:
    """The critical clearing time, or another parameter's: see :func:`gridcore_optimisation.critical.critical_value`."""
    from .critical import critical_value

    return critical_value(*args, **options)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore_optimisation' has no attribute '{name}'")
    return getattr(import_module(f".{_MODULE[name]}", __name__), name)
