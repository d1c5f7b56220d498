"""A run as one HTML file that needs no network: ``run.save("x.html")`` and the verb ``gridcore report run.nc``.

Bokeh, of the extra ``gridcore[report]``, is imported when the first report is written.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.positions(system)``."""
    register("positions", "gridcore_report.positions:positions")


@hookimpl
def register_exporters(register: Register) -> None:
    """``run.save("x.html")``."""
    register(".html", "gridcore_report.page:write")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore report run.nc``."""
    register("report", "gridcore_report.command:report")
