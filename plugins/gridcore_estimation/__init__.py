"""Parameters from measurements: the analyses ``estimate``, ``identifiability`` and ``plot_fit``, and ``gridcore fit``.

From Python: ``from gridcore_estimation import Measurements, Recording``. docs/estimation.md is the page on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridcore.registry import Register, hookimpl

if TYPE_CHECKING:
    from .identifiability import Identifiability as Identifiability
    from .identifiability import Unidentifiable as Unidentifiable
    from .measurements import Measurements as Measurements
    from .problem import Recording as Recording

_MODULE = {"Identifiability": "identifiability", "Unidentifiable": "identifiability", "Measurements": "measurements",
           "Recording": "problem"}

__all__ = ["Identifiability", "Measurements", "Recording", "Unidentifiable"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore_estimation' has no attribute '{name}'")
    return getattr(import_module(f".{_MODULE[name]}", __name__), name)


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.estimate(...)``, ``.identifiability(...)`` and ``.plot_fit(fit)``."""
    register("estimate", "gridcore_estimation.estimate:estimate")
    register("identifiability", "gridcore_estimation.estimate:identifiability")
    register("plot_fit", "gridcore_estimation.report:plot_fit")


@hookimpl
def register_plots(register: Register) -> None:
    """What ``gridcore fit --plot`` draws."""
    register("fit", "gridcore_estimation.report:plot_fit")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore fit``."""
    register("fit", "gridcore_estimation.command:fit")
