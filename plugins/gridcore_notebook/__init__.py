"""Cases, systems, runs, modes, fits, optima and sweeps as tables in a notebook, and how far something is as a bar.

They are shown so from the first case that is loaded in it; ``%load_ext gridcore_notebook`` does it at once.
"""

from __future__ import annotations

import sys
from typing import Any

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.progress(total)``."""
    register("progress", "gridcore_notebook.progress:progress")


# Where the classes are, and the functions that show them: neither is imported before one is shown.
SHOWN = {("gridcore.case.records", "Case"): "case", ("gridcore.equilibrium.equilibrium", "Equilibrium"): "system",
         ("gridcore.results.run", "Run"): "run", ("gridcore_smallsignal.modes", "Modes"): "modes",
         ("gridcore_verbs.tables", "Table"): "table", ("gridcore_tables.summary", "Summary"): "summary",
         ("gridcore_estimation.fit", "Fit"): "fit", ("gridcore_optimisation.result", "Optimum"): "optimum",
         ("gridcore_optimisation.critical", "Critical"): "critical", ("gridcore_sweep.table", "Table"): "sweep"}


def load_ipython_extension(shell: Any) -> None:
    """Tell a shell of IPython how to show what gridcore has."""
    formatter = shell.display_formatter.formatters["text/html"]
    for (module, name), view in SHOWN.items():
        formatter.for_type_by_name(module, name, _later(view))


def _later(view: str) -> Any:
    def show(thing: Any) -> str:
        from . import views

        shown: str = getattr(views, view)(thing)
        return shown

    return show


if (ipython := sys.modules.get("IPython")) is not None and (running := ipython.get_ipython()) is not None:
    load_ipython_extension(running)
