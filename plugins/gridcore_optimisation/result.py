"""What an optimisation found: labelled tables, the history, and how good the optimum is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import lsq_linear

from gridcore_notebook import html

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.equilibrium import Equilibrium

    from .problem import Problem, Trial
    from .solvers import Ended

_ACTIVE = 1e-6  # a limit that is met to this part of its scale holds


@dataclass(frozen=True)
class Optimum:
    """Result of :func:`gridcore_optimisation.optimise`.

    Attributes
    ----------
    x : xarray.DataArray
        The parameters, by name; with their unit, start, bounds, and the objective's ``gradient`` in them.
    value, start : float
        The objective, and what it was at the start.
    constraints : xarray.DataArray
        Their values, by name; with limits and ``multiplier``, which is what the objective falls by for each unit by
        which the limit is moved outwards, at first order.
    optimality : float
        What is left of the gradient once the constraints and bounds that hold have taken their part (largest entry,
        scaled: the largest entry of the objective's gradient was 1 at the start).
    violation : float
        Largest violation of a constraint, scaled in the same way by its own gradient at the start.
    success : bool
    message, method : str
        What the solver says, and which it was.
    history : xarray.Dataset
        By iteration: parameters, objective, optimality, violation, and the number of the trial.
    trials : list of Trial
        All that was simulated, the failed ones among them.
    system : Equilibrium
        With these parameters, ready to be simulated; its ``case`` can be saved.
    """

    x: xr.DataArray
    value: float
    start: float
    constraints: xr.DataArray
    optimality: float
    violation: float
    success: bool
    message: str
    method: str
    history: xr.Dataset
    trials: list[Trial]
    system: Equilibrium

    _repr_html_ = html

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self.history.sizes["iteration"] - 1

    @property
    def failures(self) -> int:
        """Number of trials that failed, and were stepped back from."""
        return sum(1 for trial in self.trials if trial.failed)

    def to_xarray(self) -> xr.Dataset:
        """Everything as one dataset; what is one number or text as attributes."""
        return self.history.rename(x="x_history", objective="objective_history").assign(
            x=self.x, constraints=self.constraints.rename(low="at_least", high="at_most")).assign_attrs(
            value=self.value, start=self.start, optimality=self.optimality, violation=self.violation,
            success=int(self.success), message=self.message, method=self.method, simulations=len(self.trials),
            failures=self.failures)

    def __repr__(self) -> str:
        state = "" if self.success else f", not converged: {self.message}"
        return (f"<Optimum by {self.method}: {self.start:.6g} -> {self.value:.9g}, {self.iterations} iterations, "
                f"{len(self.trials)} simulations{f', {self.failures} failed' if self.failures else ''}{state}>")


def optimum(problem: Problem, ended: Ended, method: str, unit: str) -> Optimum:
    """The result of a solver."""
    import xarray as xr

    accepted = [trial for z in ended.iterates if not (trial := problem.at(z)).failed]
    final = problem.at(ended.z)
    if final.failed:
        final = accepted[-1]
    if final is not accepted[-1]:
        accepted.append(final)
    p, conditions = problem.parameters, [conditions_of(problem, trial) for trial in accepted]
    multipliers, optimality, violation = conditions[-1]
    table = {"unit": ("parameter", p.units)}
    x = xr.DataArray(final.x, dims="parameter", name="x", coords={
        "parameter": p.names, **table, "start": ("parameter", p.start), "low": ("parameter", p.low),
        "high": ("parameter", p.high), "gradient": ("parameter", final.gradient)})
    constraints = xr.DataArray(final.constraints, dims="constraint", name="constraints", coords={
        "constraint": problem.names, "low": ("constraint", problem.raw_low), "high": ("constraint", problem.raw_high),
        "multiplier": ("constraint", multipliers)})
    history = xr.Dataset(
        {"x": (("iteration", "parameter"), [t.x for t in accepted]),
         "objective": ("iteration", [t.value for t in accepted], {"units": unit}),
         "constraint_value": (("iteration", "constraint"), [t.constraints for t in accepted]),
         "optimality": ("iteration", [c[1] for c in conditions]),
         "violation": ("iteration", [c[2] for c in conditions]),
         "trial": ("iteration", [t.number for t in accepted])},
        coords={"parameter": p.names, **table, "constraint": problem.names})
    system = problem.system.with_values(dict(zip(p.names, final.x.tolist(), strict=True)))
    return Optimum(x, final.value, problem.trials[0].value, constraints, optimality, violation, ended.success,
                   ended.message, method, history, problem.trials, system)


def conditions_of(problem: Problem, trial: Trial) -> tuple[np.ndarray, float, float]:
    """Multipliers of the constraints, what they leave of the gradient, and the largest violation.

    Of the conditions of Karush, Kuhn and Tucker; the multipliers are those of least squares, with the signs that the
    sides of the limits ask for.
    """
    p = problem.parameters
    values, jacobian = trial.constraints * problem.row_scale, trial.jacobian * p.scale * problem.row_scale[:, None]
    gradient = trial.gradient * p.scale * problem.value_scale
    z = p.scaled(trial.x)
    sides: list[tuple[int | None, np.ndarray]] = []  # constraint, and the direction in which its side is left
    for k, (value, normal) in enumerate(zip(values, jacobian, strict=True)):
        for limit, sign in ((problem.low[k], -1.0), (problem.high[k], 1.0)):
            if np.isfinite(limit) and sign * (value - limit) >= -_ACTIVE * max(1.0, abs(limit)):
                sides.append((k, sign * normal))
    for i, unit in enumerate(np.eye(len(z))):
        for limit, sign in ((problem.z_low[i], -1.0), (problem.z_high[i], 1.0)):
            if np.isfinite(limit) and sign * (z[i] - limit) >= -_ACTIVE * max(1.0, abs(limit)):
                sides.append((None, sign * unit))
    left = gradient
    multipliers = np.zeros(len(values))
    if sides:
        normals = np.array([normal for _, normal in sides]).T
        found = lsq_linear(normals, -gradient, bounds=(0.0, np.inf), method="bvls").x
        left = gradient + normals @ found
        for (row, _), amount in zip(sides, found, strict=True):
            if row is not None:
                multipliers[row] += amount * problem.row_scale[row] / problem.value_scale
    outside = np.maximum(np.maximum(values - problem.high, problem.low - values), 0.0)
    return multipliers, float(np.abs(left).max(initial=0.0)), float(outside.max(initial=0.0))
