"""Linear solvers by name."""

from __future__ import annotations

from ..errors import PluginError
from ..registry import linear_solvers
from .base import LinearSolver

DEFAULT = "klu"


def linear_solver(name: str | None = None) -> LinearSolver:
    """The linear solver of a name; by default ``klu``, or where that is not installed another one that is.

    Raises
    ------
    PluginError
        If there is none of that name (the nearest ones are offered), or none at all.
    """
    if name is None:
        name = DEFAULT if DEFAULT in linear_solvers else next(iter(linear_solvers), None)
    if name is None:
        raise PluginError("no linear solver is installed: pip install nbklu")
    return linear_solvers[name].make()
