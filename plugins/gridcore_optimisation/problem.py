"""An optimisation as its solver sees it: scaled functions of scaled parameters, one simulation for each trial.

Objective and constraints are divided by the largest entry of their gradient at the start, so that a solver's
tolerances mean the same whatever the units are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import CaseError, GridcoreError
from gridcore.sensitivity import Objective, Sum

from .measures import Constraint, Measure, Simulation, objectives_of
from .parameters import Parameters

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium

_ROUND_OFF = 1e-13  # a gradient whose entries are below this part of the value (or of one) is zero
_STEEP = 10.0  # the parabola that stands in for a trial that failed has its minimum at one over this of the step


@dataclass(frozen=True)
class Trial:
    """Parameters that were tried, and what came of it.

    Attributes
    ----------
    number : int
        From 0, the start.
    x : (n,) array
        The parameters.
    value : float
        The objective; nan where the trial failed.
    gradient : (n,) array
    constraints : (m,) array
    jacobian : (m, n) array
    failed : str
        Why there is no value; empty where there is one.
    seconds : float
    """

    number: int
    x: np.ndarray
    value: float
    gradient: np.ndarray
    constraints: np.ndarray
    jacobian: np.ndarray
    failed: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class _Source:
    """Where values come from: a measure, by number, and which of its rows."""

    measure: int
    rows: slice


class Problem:
    """Objective, constraints and parameters.

    Attributes
    ----------
    names : list of str
        Of the constraints' rows.
    low, high : (m,) arrays
        Their limits, scaled.
    z0, z_low, z_high : (n,) arrays
        Start and bounds as the solver sees them.
    trials : list of Trial
        All that was tried, in order.
    """

    def __init__(self, system: Equilibrium, parameters: Parameters, objective: Any, constraints: Sequence[Constraint],
                 simulation: Callable[[Sequence[Objective]], Simulation],
                 tell: Callable[[Trial], None] | None = None):
        self.system, self.parameters, self.tell = system, parameters, tell
        self._gather(objective, constraints, simulation)
        limits = [constraint.limits(system.case) for constraint in constraints]
        self.trials: list[Trial] = []
        self._known: dict[bytes, Trial] = {}
        self._counts: list[int] = []
        self.z0 = np.zeros(len(parameters.start))
        self.z_low, self.z_high = parameters.scaled(parameters.low), parameters.scaled(parameters.high)
        self._last_good = first = self._evaluate(parameters.start)
        self.value_scale = _inverse(first.gradient * parameters.scale, first.value)
        self.row_scale = np.array([_inverse(row * parameters.scale, value)
                                   for row, value in zip(first.jacobian, first.constraints, strict=True)])
        counts = self._counts
        self.raw_low, self.raw_high = (np.repeat([pair[side] for pair in limits], counts) for side in (0, 1))
        self.low, self.high = self.raw_low * self.row_scale, self.raw_high * self.row_scale
        self.names = [name for c, count in zip(constraints, counts, strict=True) for name in _labels(c.of, count)]

    def _gather(self, objective: Any, constraints: Sequence[Constraint],
                simulation: Callable[[Sequence[Objective]], Simulation]) -> None:
        """The measures; all plain objectives are of one simulation, the last of them."""
        self._measures: list[Measure] = []
        shared: list[Objective] = []

        def source(of: Any) -> _Source:
            if isinstance(of, Measure):
                if not any(of is known for known in self._measures):
                    self._measures.append(of)
                return _Source(next(k for k, known in enumerate(self._measures) if known is of), slice(None))
            shared.extend(objectives_of(of))
            return _Source(-1, slice(len(shared) - len(objectives_of(of)), len(shared)))

        if not isinstance(objective, Measure):
            objective = Sum([term for o in objectives_of(objective) for term in o.terms()])
        self._objective = source(objective)
        self._sources = [source(c.of) for c in constraints]
        if shared:
            self._measures.append(simulation(shared))

    @property
    def failures(self) -> int:
        """Number of trials that failed."""
        return sum(1 for trial in self.trials if trial.failed)

    def at(self, z: np.ndarray) -> Trial:
        """The trial of scaled parameters, simulated unless it was before."""
        x = self.parameters.values(np.asarray(z, dtype=float))
        return self._known.get(x.tobytes()) or self._evaluate(x)

    def value(self, z: np.ndarray) -> float:
        """The objective, scaled."""
        trial = self.at(z)
        return self.stand_in(trial)[0] if trial.failed else trial.value * self.value_scale

    def gradient(self, z: np.ndarray) -> np.ndarray:
        """Its gradient, scaled."""
        trial = self.at(z)
        return self.stand_in(trial)[1] if trial.failed else trial.gradient * self.parameters.scale * self.value_scale

    def constraints(self, z: np.ndarray) -> np.ndarray:
        """(m,) scaled; of a trial that failed, those of the last one that did not."""
        return self._good(z).constraints * self.row_scale

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """(m, n) scaled."""
        return self._good(z).jacobian * self.parameters.scale * self.row_scale[:, None]

    def projected(self, z: np.ndarray) -> float:
        """Largest entry of the projected gradient, scaled: of the step down the gradient, cut off at the bounds."""
        z = np.asarray(z, dtype=float)
        return float(np.abs(np.clip(z - self.gradient(z), self.z_low, self.z_high) - z).max(initial=0.0))

    def _good(self, z: np.ndarray) -> Trial:
        trial = self.at(z)
        return self._last_good if trial.failed else trial

    def stand_in(self, trial: Trial) -> tuple[float, np.ndarray]:
        """Value and gradient that make a line search step back from a trial that failed.

        A parabola along the way from the last trial that did not fail, with its value and slope there and its
        minimum after a tenth of the way.
        """
        good, scale = self._last_good, self.parameters.scale
        step = (trial.x - good.x) / scale
        g = good.gradient * scale * self.value_scale
        slope, value = float(g @ step), good.value * self.value_scale
        rise = max(abs(slope), float(np.linalg.norm(g) * np.linalg.norm(step)) * 1e-3, 1e-12)
        bend = 0.5 * _STEEP * rise
        length = float(step @ step)
        along = (slope + 2 * bend) * step / length if length else step
        return value + slope + bend, along

    def _evaluate(self, x: np.ndarray) -> Trial:
        """Simulate; a trial that fails is remembered as such, but the first is an error."""
        began = time.perf_counter()
        try:
            system = self.system.with_values(dict(zip(self.parameters.names, x.tolist(), strict=True)))
            found = [self._measure(measure, system) for measure in self._measures]
            if not all(np.isfinite(part).all() for pair in found for part in pair):
                raise GridcoreError("a value or a derivative is not finite")
        except GridcoreError as error:
            if not self.trials:
                raise
            none = np.full(self.trials[0].jacobian.shape, np.nan)
            trial = Trial(len(self.trials), x, np.nan, np.full(len(x), np.nan), none[:, 0], none, str(error),
                          time.perf_counter() - began)
        else:
            values, gradients = found[self._objective.measure]
            values, gradients = values[self._objective.rows], gradients[self._objective.rows]
            if len(values) != 1:
                raise CaseError(f"the objective has {len(values)} values: one can be minimised")
            parts = [tuple(part[source.rows] for part in found[source.measure]) for source in self._sources]
            counts = [len(part[0]) for part in parts]
            if self.trials and counts != self._counts:
                raise CaseError(f"constraints have {counts} values now, and had {self._counts} at the start")
            self._counts = counts
            trial = Trial(len(self.trials), x, float(values[0]), gradients[0],
                          np.concatenate([v for v, _ in parts]) if parts else np.zeros(0),
                          np.concatenate([j for _, j in parts]) if parts else np.zeros((0, len(x))),
                          "", time.perf_counter() - began)
            self._last_good = trial
        self.trials.append(trial)
        self._known[x.tobytes()] = trial
        if self.tell:
            self.tell(trial)
        return trial

    def _measure(self, measure: Measure, system: Equilibrium) -> tuple[np.ndarray, np.ndarray]:
        values, gradient = measure.value_and_gradient(system, self.parameters.names)
        values = np.atleast_1d(np.asarray(values, dtype=float))
        gradient = np.asarray(gradient, dtype=float)
        wanted = (len(values), len(self.parameters.names))
        if gradient.shape != wanted and gradient.shape != wanted[1:]:
            raise CaseError(f"{type(measure).__name__}.value_and_gradient gives {len(values)} values and derivatives "
                            f"of shape {gradient.shape}: they must be {wanted}")
        return values, gradient.reshape(wanted)


def _labels(of: Any, count: int) -> list[str]:
    """Names of the values of a constraint."""
    given = (list(getattr(of, "names", [])) or [type(of).__name__] if isinstance(of, Measure)
             else [o.name or "constraint" for o in objectives_of(of)])
    return given if len(given) == count else [f"{given[0]} {k}" for k in range(1, count + 1)]


def _inverse(gradient: np.ndarray, value: float) -> float:
    """One over the largest entry, where that is more than round-off."""
    largest = float(np.abs(gradient).max(initial=0.0))
    return 1.0 / largest if largest > _ROUND_OFF * max(1.0, abs(value)) else 1.0
