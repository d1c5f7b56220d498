"""What may be minimised or held between limits: anything that gives a value and its gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from gridcore.errors import CaseError
from gridcore.integrate import simulate
from gridcore.sensitivity import Objective, adjoint
from gridcore.tape import Spacing

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium


@runtime_checkable
class Measure(Protocol):
    """Numbers of a system, with their derivatives: the fault response, eigenvalues, or what another analysis finds.

    An attribute ``names``, a list of str, labels the values where there is one.
    """

    def value_and_gradient(self, system: Equilibrium, parameters: Sequence[str]) -> tuple[Any, Any]:
        """Values and derivatives in the parameters of a system at its operating point.

        Parameters
        ----------
        system : Equilibrium
        parameters : sequence of str
            Addresses ``device.param``; their values are those of the system.

        Returns
        -------
        values : float or (m,) array
        gradient : (parameters,) or (m, parameters) array

        Raises
        ------
        GridcoreError
            If it has no value there: the trial is rejected, and a smaller step taken.
        """


@dataclass
class Simulation:
    """Objectives of one run, and their gradients by one adjoint.

    Parameters
    ----------
    objectives : sequence of Objective
    t_end, step
        As in :func:`gridcore.simulate` (s).
    simulate, adjoint : mapping
        Further arguments of :func:`gridcore.simulate` and :func:`gridcore.adjoint`: ``{"method": "ida"}`` with
        ``{"method": "continuous"}``.
    """

    objectives: Sequence[Objective]
    t_end: float
    step: Spacing = 0.01
    simulate: Mapping[str, Any] = field(default_factory=dict)
    adjoint: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the objectives."""
        return [o.name or f"objective {k}" for k, o in enumerate(self.objectives, 1)]

    def value_and_gradient(self, system: Equilibrium, parameters: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """One simulation, one reverse sweep."""
        run = simulate(system, self.t_end, self.step, **self.simulate)
        table = adjoint(run, self.objectives, parameters, **self.adjoint)
        return table["value"].values, table.values


@dataclass(frozen=True)
class Constraint:
    """``low <= of <= high``, for each value where there are several.

    Parameters
    ----------
    of : Objective, sequence of Objective, or Measure
    low, high : float

    Raises
    ------
    CaseError
        If no limit is given, or they contradict each other.
    """

    of: Any
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) or math.isfinite(self.high)):
            raise CaseError("a constraint has a lower or an upper limit, or both, that are finite")
        if not self.low <= self.high:
            raise CaseError(f"the limits of a constraint contradict each other: {self.low:g} to {self.high:g}")
