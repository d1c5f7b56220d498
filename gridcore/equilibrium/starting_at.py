"""A system that does not start at rest: states given initial values of their own."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CaseError, ConvergenceError
from ..linear.newton import Newton
from ..suggest import suggest

if TYPE_CHECKING:
    from ..system.system import System


def starting_at(system: System, values: Mapping[str, float]) -> System:
    """The same system with some states away from where initialisation puts them.

    The algebraic variables are solved again; set-points and all other states stay those of the operating
    point. Derivatives in parameters hold these initial values, and derivatives in them are the states' own.

    Parameters
    ----------
    system : System
    values : mapping of str to float
        Differential states by address, ``{"GEN2.omega": 1.001}``, in their units.

    Returns
    -------
    System
        It shares kernels and buffers with `system`: simulate one at a time.

    Raises
    ------
    CaseError
        If there is no such state, or no solution of the algebraic equations with these values.
    """
    known = {f"{device}.{name}": at for at, (device, name) in enumerate(system.variables)
             if system.base_differential[at]}
    for name, value in values.items():
        if name not in known:
            raise CaseError(f"'{name}' is not a differential state{suggest(name, known)}")
        if not np.isfinite(value):
            raise CaseError(f"the initial value of {name} must be a finite number, not {value!r}")
    other = copy.copy(system)
    other.Z0 = system.Z0.copy()
    at = np.array([known[name] for name in values], dtype=int)
    other.held = np.union1d(system.held, at)
    other.Z0[at] = list(values.values())
    other.load(other.Z0)
    try:
        Newton(other).resolve(other.differential(other.Z0))
    except ConvergenceError as error:
        raise CaseError(f"no solution of the network where {', '.join(values)} start so: {error}") from None
    other.Z0[: other.n] = other.assembly.X
    return other
