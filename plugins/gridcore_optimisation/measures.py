"""What may be minimised or held between limits: anything that gives a value and its gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from gridcore.case import Base, convert
from gridcore.errors import CaseError
from gridcore.integrate import simulate
from gridcore.sensitivity import Objective, adjoint
from gridcore.tape import Spacing

if TYPE_CHECKING:
    from gridcore.case import Case
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
    t_end: float | str
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
    low, high : float or str
        In the unit of the objectives, or a text with one that converts: ``"200 mHz"``. To per unit ``"150 MW"`` does so
        where objectives tell its base, as those of a file.

    Raises
    ------
    CaseError
        If no limit is given, or they contradict each other.
    """

    of: Any
    low: float | str = -math.inf
    high: float | str = math.inf

    def __post_init__(self) -> None:
        if not isinstance(self.low, str) and not isinstance(self.high, str):
            _check_limits(self.low, self.high)

    def limits(self, case: Case) -> tuple[float, float]:
        """Both as numbers in the objectives' unit; a CaseError if a text does not convert to it."""
        objectives = [] if isinstance(self.of, Measure) else objectives_of(self.of)
        units, bases = {o.unit for o in objectives}, {o.base for o in objectives}
        unit, base = units.pop() if len(units) == 1 else "", bases.pop() if len(bases) == 1 else None
        low, high = (_in_unit(side, unit, base or Base(math.nan, None, float(case.frequency)))
                     for side in (self.low, self.high))
        _check_limits(low, high)
        return low, high


def _in_unit(side: float | str, unit: str, base: Base) -> float:
    if not isinstance(side, str):
        return side
    if math.isnan(found := convert(side, unit, base)):
        raise CaseError(f"'{side}': these objectives do not tell one base of their per unit: give a number in it")
    return found


def _check_limits(low: float, high: float) -> None:
    if not (math.isfinite(low) or math.isfinite(high)):
        raise CaseError("a constraint has a lower or an upper limit, or both, that are finite")
    if not low <= high:
        raise CaseError(f"the limits of a constraint contradict each other: {low:g} to {high:g}")


def objectives_of(of: Any) -> list[Objective]:
    """An objective or a sequence of them, as a list.

    Raises
    ------
    CaseError
        If it is neither.
    """
    found = [of] if isinstance(of, Objective) else list(of) if isinstance(of, Sequence) else [of]
    for item in found:
        if not isinstance(item, Objective):
            raise CaseError(f"{item!r} is neither an objective (gc.Integral, gc.Terminal, gc.Sampled, their sum) nor a "
                            "measure with a method value_and_gradient(system, parameters)")
    if not found:
        raise CaseError("there is no objective in an empty list")
    return found
