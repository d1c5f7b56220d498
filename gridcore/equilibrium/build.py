"""From a case to a system at its equilibrium."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..case import Case, load_case, validate
from ..errors import CaseError, DataWarning
from ..registry import registries as plugins
from ..system import System
from .equilibrium import Equilibrium, find_equilibrium
from .values import parameters


def build(case: Case | str | Path, *, deenergise: bool = False, enforce_q_limits: bool = False,
          initialise: bool = True, linear_solver: str | None = None) -> Equilibrium:
    """Assemble a case: graph, equations, power flow, and devices brought to an equilibrium.

    Parameters
    ----------
    case : Case, str or Path
        A case, or the name or path of one.
    deenergise : bool
        Take islands without a voltage source out of service; otherwise they are an error.
    enforce_q_limits : bool
        Let the power flow turn PV buses into PQ buses at their reactive limits.
    initialise : bool
        Find the operating point; without it the system is only assembled.
    linear_solver : str, optional
        Name of a linear solver that a plugin has registered: ``klu`` (the default), ``superlu``.

    Returns
    -------
    Equilibrium
        The system, at rest.

    Raises
    ------
    CaseError, NetworkError, PowerFlowError, InitialisationError
    PluginError
        If there is no such linear solver.
    """
    case = case.copy() if isinstance(case, Case) else load_case(case)  # later changes to it do not concern the system
    if not case.records:
        raise CaseError(f"case '{case.name}' has no devices")
    valid = validate(case)
    system = System(valid.records, deenergise, linear_solver)
    if initialise and not system.n:
        raise CaseError(f"case '{case.name}' has no variables: none of its devices is a node or has a state")
    Z = parameters(system, case, valid.records)
    found = None
    try:
        found = find_equilibrium(system, case, valid.records, Z, enforce_q_limits if initialise else None)
        return found
    finally:
        for text in doubts(system, Z, found if initialise else None):
            warnings.warn(text, DataWarning, stacklevel=2)


def as_system(study: Equilibrium | Case | str | Path) -> Equilibrium:
    """A system as it is; of a case, or of the name or path of one, what :func:`build` makes of it."""
    return study if isinstance(study, Equilibrium) else build(study)


def doubts(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """What the registered checks find hardly meant."""
    for name in plugins.checks:
        yield from plugins.checks[name].examine(system, Z, found)
