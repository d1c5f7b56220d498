"""Figures of runs and of their sensitivities: the analyses ``plot``, ``plot_sensitivities`` and ``plot_gradient``, and
the verb ``gridcore plot``.

matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.registry.hookspecs import hookimpl

from .command import plot_command


@hookimpl
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """``gc.analyses.plot(run)``, ``.plot_sensitivities(run, table)`` and ``.plot_gradient(table)``."""
    register("plot", _plot)
    register("plot_sensitivities", _plot_sensitivities)
    register("plot_gradient", _plot_gradient)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """``gridcore plot run.nc``."""
    register(plot_command)


def _plot(*args: Any, **options: Any) -> Any:
    """Draw a run: see :func:`gridcore_plot.figures.plot`."""
    from .figures import plot

    return plot(*args, **options)


def _plot_sensitivities(*args: Any, **options: Any) -> Any:
    """Draw sensitivities over time: see :func:`gridcore_plot.sensitivities.plot_sensitivities`."""
    from .sensitivities import plot_sensitivities

    return plot_sensitivities(*args, **options)


def _plot_gradient(*args: Any, **options: Any) -> Any:
    """Draw a gradient: see :func:`gridcore_plot.tornado.plot_gradient`."""
    from .tornado import plot_gradient

    return plot_gradient(*args, **options)
