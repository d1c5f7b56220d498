"""Figures of runs: the analysis ``plot`` and the verb ``gridcore plot``.

matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.hookspecs import hookimpl

from .command import plot_command


@hookimpl
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """``gc.analyses.plot(run)``."""
    register("plot", _plot)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """``gridcore plot run.nc``."""
    register(plot_command)


def _plot(*args: Any, **options: Any) -> Any:
    """Draw a run: see :func:`gridcore_plot.figures.plot`."""
    from .figures import plot

    return plot(*args, **options)
