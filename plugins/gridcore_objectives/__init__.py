"""Objective files: what a gradient is taken of, as data in TOML; and the verb ``gridcore grad``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridcore.registry import Register, hookimpl

if TYPE_CHECKING:
    from .files import Quantity as Quantity
    from .files import Table as Table
    from .files import load_objectives as load_objectives
    from .shapes import Density as Density

_MODULE = {"Density": "shapes", "Quantity": "files", "Table": "files", "load_objectives": "files"}

__all__ = ["Density", "Quantity", "Table", "load_objectives"]


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.load_objectives(path, system)``."""
    register("load_objectives", "gridcore_objectives.files:load_objectives")


@hookimpl
def register_objective_kinds(register: Register) -> None:
    """At the end, over time, against data."""
    register("terminal", "gridcore_objectives.kinds:terminal", shaped=True)
    register("integral", "gridcore_objectives.kinds:integral", shaped=True)
    register("sampled", "gridcore_objectives.kinds:sampled", ("data", "column", "time"))


@hookimpl
def register_objective_shapes(register: Register) -> None:
    """The quantity itself, its squared difference to a reference, a power of how far it is outside a band."""
    register("value", "gridcore_objectives.shapes:value")
    register("square", "gridcore_objectives.shapes:square", ("reference",))
    register("band violation", "gridcore_objectives.shapes:band_violation", ("low", "high", "power"))


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore grad``."""
    register("grad", "gridcore_objectives.command:grad")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore_objectives' has no attribute '{name}'")
    return getattr(import_module(f".{_MODULE[name]}", __name__), name)
