"""Many runs of one case: contingency screening, parameter sweeps and ensembles, on one machine or many.

The analyses ``sweep`` and ``parallel``, and the verb ``gridcore sweep``.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.sweep(case, ...)`` and ``gc.analyses.parallel(function, shared, tasks)``."""
    register("sweep", "gridcore_sweep.sweep:sweep")
    register("parallel", "gridcore_sweep.executors:parallel")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore sweep CASE``."""
    register("sweep", "gridcore_sweep.command:sweep_command")
