"""Many runs of one case: contingency screening, parameter sweeps and ensembles, on one machine or many.

The analyses ``sweep`` and ``parallel``, and the verb ``gridcore sweep``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.registry.hookspecs import hookimpl

from .command import sweep_command


@hookimpl
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """``gc.analyses.sweep(case, ...)`` and ``gc.analyses.parallel(function, shared, tasks)``."""
    register("sweep", _sweep)
    register("parallel", _parallel)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """``gridcore sweep CASE``."""
    register(sweep_command)


def _sweep(*args: Any, **options: Any) -> Any:
    """Run a case in many scenarios: see :func:`gridcore_sweep.sweep.sweep`."""
    from .sweep import sweep

    return sweep(*args, **options)


def _parallel(*args: Any, **options: Any) -> Any:
    """Call a function on many tasks, on processes or a cluster: see :func:`gridcore_sweep.executors.parallel`."""
    from .executors import parallel

    return parallel(*args, **options)
