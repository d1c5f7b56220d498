"""Figures of runs: the analysis ``plot`` and the verb ``gridcore plot``.

matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.hookspecs import hookimpl

from .command import plot_command
from .figures import plot


@hookimpl
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """``gc.analyses.plot(run)``."""
    register("plot", plot)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """``gridcore plot run.nc``."""
    register(plot_command)
