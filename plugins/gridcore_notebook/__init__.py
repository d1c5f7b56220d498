"""Cases, systems, runs, and what comes of them as tables in a notebook; and how far something is as a bar.

``_repr_html_`` of their classes is :func:`html`: whatever shows HTML in place of text asks for it.
"""

from __future__ import annotations

from typing import Any

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.progress(total)``, and what a notebook shows in place of text."""
    register("progress", "gridcore_notebook.progress:progress")
    register("html", "gridcore_notebook:html")


# Where the classes are, and the functions that show them: neither is imported before one is shown.
SHOWN = {("gridcore.case.records", "Case"): "case", ("gridcore.equilibrium.equilibrium", "Equilibrium"): "system",
         ("gridcore.results.run", "Run"): "run", ("gridcore_smallsignal.modes", "Modes"): "modes",
         ("gridcore_verbs.tables", "Table"): "table", ("gridcore_tables.summary", "Summary"): "summary",
         ("gridcore_estimation.fit", "Fit"): "fit", ("gridcore_optimisation.result", "Optimum"): "optimum",
         ("gridcore_optimisation.critical", "Critical"): "critical", ("gridcore_sweep.table", "Table"): "sweep",
         ("gridcore_tables.power_flow", "PowerFlow"): "power_flow", ("gridcore_smallsignal.locus", "Locus"): "locus",
         ("gridcore_smallsignal.linearisation", "Linearisation"): "linearisation",
         ("gridcore_rotors.rotors", "Rotors"): "rotors", ("gridcore_dense.instants", "Instants"): "instants",
         ("gridcore_estimation.identifiability", "Identifiability"): "identifiability"}


def html(thing: Any) -> str:
    """What a notebook shows of a case, a system, a run, a power flow, modes, a fit, an optimum: tables, as HTML.

    Parameters
    ----------
    thing : Case, Equilibrium, Run, or what comes of one
        Whatever an analysis returns that is not of pandas or xarray: Modes, Locus, Fit, the table of a sweep, ...

    Returns
    -------
    str
    """
    from . import views

    view = next(SHOWN[place] for cls in type(thing).__mro__ if (place := (cls.__module__, cls.__name__)) in SHOWN)
    shown: str = getattr(views, view)(thing)
    return shown
