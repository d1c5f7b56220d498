"""Where a system rests: the point to linearise at, and why a point is none."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gridcore.equilibrium import as_system
from gridcore.errors import CaseError, GridcoreError
from gridcore.results import Run

if TYPE_CHECKING:
    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium

# A rate (per second, in the state's unit) or a residual that still counts as zero.
TOLERANCE = 1e-6
_TOLD = 5


class NotAnEquilibrium(GridcoreError):
    """The point to linearise at is not one where the system rests.

    Attributes
    ----------
    variable : str
        ``device.variable`` whose rate, or equation, is farthest from zero.
    rate : float
    """

    def __init__(self, message: str, variable: str, rate: float):
        self.variable, self.rate = variable, rate
        super().__init__(message)


class LimitWarning(UserWarning):
    """A limit is broken where the system is linearised: a run would not stay there."""


def point_of(study: Equilibrium | Case | str | Path | Run, point: int) -> tuple[Equilibrium, np.ndarray]:
    """The system, and the buffer Z to linearise at: what initialisation found, or a point of a run.

    Raises
    ------
    CaseError
        If the run has no such point.
    """
    if not isinstance(study, Run):
        system = as_system(study)
        return system, system.rest.copy()
    run, count = study, len(study.t)
    if not isinstance(point, Integral) or isinstance(point, bool) or not -count <= point < count:
        raise CaseError(f"point {point!r}: the run has {count} points")
    Z = run.system.Z0.copy()
    Z[: run.system.n] = run.X[point]
    Z[run.system.n:-1] = run.tape.settings[run.point_settings[point]]
    Z[-1] = run.t[point]
    return run.system, Z


def check_rest(system: Equilibrium, Z: np.ndarray, tolerance: float = TOLERANCE) -> None:
    """Refuse a point at which something moves; warn of limits that are broken there.

    Raises
    ------
    NotAnEquilibrium
        Naming the state and its rate.
    """
    if not (isinstance(tolerance, Real) and tolerance >= 0):
        raise CaseError(f"tolerance = {tolerance!r} must be a number, at least 0")
    F, differential = system.rhs(Z), system.differential(Z)
    off = np.abs(np.where(np.isfinite(F), F, np.inf))
    worst = int(np.argmax(off)) if len(off) else 0
    if len(off) and not off[worst] <= tolerance:
        name = system.layout.label(worst)
        others = int((off > tolerance).sum()) - 1
        told = f"the rate of {name} is {F[worst]:.4g} per second" if differential[worst] else \
            f"the equation of {name} is off by {F[worst]:.4g}"
        more = f" ({others} more are not at rest)" if others else ""
        raise NotAnEquilibrium(f"this is no equilibrium: {told}{more}", name, float(F[worst]))
    broken = _guards_across(system, Z)
    if broken:
        more = f"; and {len(broken) - _TOLD} more" if len(broken) > _TOLD else ""
        warnings.warn("linearised as if these limits were not there: " + "; ".join(broken[:_TOLD]) + more, LimitWarning,
                      stacklevel=4)


def _guards_across(system: Equilibrium, Z: np.ndarray) -> list[str]:
    """Guards that would act at once, in words."""
    switching = system.switching
    return [f"{switching.guards[k].device}: {switching.guards[k].what}"
            for k in np.flatnonzero(switching.across(Z, TOLERANCE))]


def out_of_service(system: Equilibrium, Z: np.ndarray) -> np.ndarray:
    """(n,) bool: states of devices out of service, which keep their values and are no part of any mode."""
    mask = np.zeros(system.n, dtype=bool)
    for group in system.layout.groups:
        cls = group.shape.cls
        off = group.members[Z[system.layout.index(group.members, cls, "status")] == 0]
        for name in cls.declares.states:
            mask[system.layout.index(off, cls, name)] = True
    return mask
