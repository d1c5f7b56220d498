"""Parameters from measurements: the analyses ``estimate``, ``identifiability`` and ``plot_fit``, and ``gridcore fit``.

From Python: ``from gridcore_estimation import Measurements, Recording``. docs/estimation.md is the page on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gridcore.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from .estimate import estimate as estimate
    from .identifiability import Identifiability as Identifiability
    from .identifiability import Unidentifiable as Unidentifiable
    from .measurements import Measurements as Measurements
    from .problem import Recording as Recording

_MODULE = {"estimate": "estimate", "Identifiability": "identifiability", "Unidentifiable": "identifiability",
           "Measurements": "measurements", "Recording": "problem"}

__all__ = ["Identifiability", "Measurements", "Recording", "Unidentifiable"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore_estimation' has no attribute '{name}'")
    return getattr(import_module(f".{_MODULE[name]}", __name__), name)


@hookimpl
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    register("estimate", _estimate)
    register("identifiability", _identifiability)
    register("plot_fit", _plot_fit)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    from .command import fit

    register(fit)


def _estimate(*args: Any, **options: Any) -> Any:
    """Fit parameters to measurements: see :func:`gridcore_estimation.estimate.estimate`."""
    from .estimate import estimate

    return estimate(*args, **options)


def _identifiability(*args: Any, **options: Any) -> Any:
    """What measurements can tell: see :func:`gridcore_estimation.estimate.identifiability`."""
    from .estimate import identifiability

    return identifiability(*args, **options)


def _plot_fit(*args: Any, **options: Any) -> Any:
    """The figure of a fit: see :func:`gridcore_estimation.report.plot_fit`."""
    from .report import plot_fit

    return plot_fit(*args, **options)
