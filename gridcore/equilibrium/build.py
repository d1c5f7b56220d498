"""From a case to a system at its equilibrium, or with states away from it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..case import as_case, matching, patterns_of, validate
from ..errors import CaseError, ConvergenceError, DataWarning
from ..registry import registries as plugins
from ..system import System
from .equilibrium import Equilibrium, find_equilibrium
from .values import parameters


def build(case: Any, *, deenergise: bool = False, enforce_q_limits: bool = False,
          initialise: bool = True, linear_solver: str | None = None) -> Equilibrium:
    """Assemble a case: graph, equations, power flow, and devices brought to an equilibrium.

    Parameters
    ----------
    case : Case, str, Path, Equilibrium or Run
        A case, or the name or path of one; of a system or a run, its case is built anew.
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
    case = as_case(case).copy()  # later changes to it do not concern the system
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


def as_system(study: Any) -> Equilibrium:
    """A system as it is; of a run that which was simulated; of a case, or its name or path, what is built."""
    found = study if isinstance(study, Equilibrium) else getattr(study, "system", None)
    return found if isinstance(found, Equilibrium) else build(study)


def starting_at(system: Any, values: Mapping[Any, float]) -> Equilibrium:
    """The same system with some states away from where initialisation puts them.

    The algebraic variables are solved again; set-points and all other states stay those of the operating
    point. Derivatives in parameters hold these initial values, and derivatives in them are the states' own.

    Parameters
    ----------
    system : Equilibrium, Run, Case or str
    values : mapping of str to float
        Differential states by address or pattern, ``{"GEN2.omega": 1.001}``, in their units.

    Raises
    ------
    CaseError
        If there is no such state, or no solution of the algebraic equations with these values.
    """
    if not isinstance(values, Mapping):
        raise CaseError(f"{values!r} is not states with values: write starting_at(system, {{'GEN2.omega': 1.001}})")
    system = as_system(system)
    states = {f"{device}.{name}": at for at, (device, name) in enumerate(system.variables)
              if system.base_differential[at]}
    given = {name: value for pattern, value in zip(patterns_of(values), values.values(), strict=True)
             for name in matching(pattern, states, "differential state")}
    for name, value in given.items():
        if not (isinstance(value, Real) and np.isfinite(value)):
            raise CaseError(f"the initial value of {name} must be a finite number, not {value!r}")
    at = np.array([states[name] for name in given], dtype=int)
    try:
        return system.holding(at, np.array(list(given.values()), dtype=float))
    except ConvergenceError as error:
        raise CaseError(f"no solution of the network where {', '.join(given)} start so: {error}") from None


def doubts(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """What the registered checks find hardly meant."""
    for name in plugins.checks:
        yield from plugins.checks[name].examine(system, Z, found)
