"""A system that does not start at rest: states given initial values of their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import CaseError, ConvergenceError
from ..suggest import suggest
from .equilibrium import Equilibrium


def starting_at(system: Equilibrium, values: Mapping[str, float]) -> Equilibrium:
    """The same system with some states away from where initialisation puts them.

    The algebraic variables are solved again; set-points and all other states stay those of the operating
    point. Derivatives in parameters hold these initial values, and derivatives in them are the states' own.

    Parameters
    ----------
    system : Equilibrium
    values : mapping of str to float
        Differential states by address, ``{"GEN2.omega": 1.001}``, in their units.

    Raises
    ------
    CaseError
        If there is no such state, or no solution of the algebraic equations with these values.
    """
    states = {f"{device}.{name}": at for at, (device, name) in enumerate(system.variables)
              if system.base_differential[at]}
    for name, value in values.items():
        if name not in states:
            raise CaseError(f"'{name}' is not a differential state{suggest(name, states)}")
        if not np.isfinite(value):
            raise CaseError(f"the initial value of {name} must be a finite number, not {value!r}")
    at = np.array([states[name] for name in values], dtype=int)
    try:
        return system.holding(at, np.array(list(values.values()), dtype=float))
    except ConvergenceError as error:
        raise CaseError(f"no solution of the network where {', '.join(values)} start so: {error}") from None
