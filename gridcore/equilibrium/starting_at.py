"""A system that does not start at rest: states given initial values of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..case import Case, matching, patterns_of
from ..errors import CaseError, ConvergenceError
from .build import as_system
from .equilibrium import Equilibrium


def starting_at(system: Equilibrium | Case | str, values: Mapping[Any, float]) -> Equilibrium:
    """The same system with some states away from where initialisation puts them.

    The algebraic variables are solved again; set-points and all other states stay those of the operating
    point. Derivatives in parameters hold these initial values, and derivatives in them are the states' own.

    Parameters
    ----------
    system : Equilibrium or Case or str
    values : mapping of str to float
        Differential states by address or pattern, ``{"GEN2.omega": 1.001}``, in their units.

    Raises
    ------
    CaseError
        If there is no such state, or no solution of the algebraic equations with these values.
    """
    system = as_system(system)
    states = {f"{device}.{name}": at for at, (device, name) in enumerate(system.variables)
              if system.base_differential[at]}
    given = {name: value for pattern, value in zip(patterns_of(values), values.values(), strict=True)
             for name in matching(pattern, states, "differential state")}
    for name, value in given.items():
        if not np.isfinite(value):
            raise CaseError(f"the initial value of {name} must be a finite number, not {value!r}")
    at = np.array([states[name] for name in given], dtype=int)
    try:
        return system.holding(at, np.array(list(given.values()), dtype=float))
    except ConvergenceError as error:
        raise CaseError(f"no solution of the network where {', '.join(given)} start so: {error}") from None
