"""Figures of runs and of their sensitivities: the analyses ``plot``, ``plot_sensitivities`` and ``plot_gradient``, what
``--plot`` of the verbs draws, and the verb ``gridcore plot``.

matplotlib is imported when the first figure is drawn.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.plot(run)``, ``.plot_sensitivities(run, table)`` and ``.plot_gradient(table)``."""
    register("plot", "gridcore_plot.figures:plot")
    register("plot_sensitivities", "gridcore_plot.sensitivities:plot_sensitivities")
    register("plot_gradient", "gridcore_plot.tornado:plot_gradient")


@hookimpl
def register_plots(register: Register) -> None:
    """Of a run, of several by name, of a run and its table of sensitivities, and of a gradient."""
    register("run", "gridcore_plot.figures:plot")
    register("runs", "gridcore_plot.figures:plot")
    register("sensitivities", "gridcore_plot.sensitivities:draw_sensitivities")
    register("gradient", "gridcore_plot.tornado:plot_gradient")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore plot run.nc``."""
    register("plot", "gridcore_plot.command:plot_command")
