"""What an estimation found: values, how well they are known, and what is left of the measurements."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm, t

from gridcore.errors import CaseError
from gridcore_notebook import html
from gridcore_verbs.tables import Table

from .identifiability import COLLINEAR, Identifiability
from .methods import Outcome
from .problem import Problem
from .uncertainty import Whiteness, ljung_box

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run

WHITE = 0.01  # a smaller p-value is told
# Residuals that are a smaller part of the values are those of the arithmetic: nothing was measured.
_ROUND_OFF = 1e-9


class Fit:
    """Parameters estimated from measurements.

    Attributes
    ----------
    names : list of str
    units : list of str
    start, values : (parameters,) arrays
    covariance : (parameters, parameters) array
        Nan where the samples do not determine the parameters, or there are no more of them than parameters.
    residuals : (samples,) array
        Weighted: root of the weight, times simulation less measurement.
    jacobian : (samples, parameters) array
        Their derivatives at the end.
    iterates : list of Iterate
        The start, then what each iteration accepted.
    converged : bool
    message : str
        Why it ended.
    method : str
    identifiability : Identifiability
        At the start.
    low, high : (parameters,) arrays
        Bounds.
    held : dict
        Parameters that were left at their start because the samples do not determine them.
    outliers : int
        Samples whose residual is beyond `f_scale`, with a robust loss.
    """

    _repr_html_ = html

    def __init__(self, problem: Problem, method: str, start: np.ndarray, outcome: Outcome, residuals: np.ndarray,
                 jacobian: np.ndarray, covariance: np.ndarray, identifiability: Identifiability,
                 held: dict[str, float], absolute: bool, bounds: tuple[np.ndarray, np.ndarray], outliers: int):
        self.problem, self.method, self.start = problem, method, start
        self.values, self.iterates = outcome.x, outcome.iterates
        self.converged, self.message = outcome.converged, outcome.message
        self.residuals, self.jacobian, self.covariance = residuals, jacobian, covariance
        self.identifiability, self.held, self.absolute = identifiability, held, absolute
        self.low, self.high = bounds
        self.outliers = outliers

    @property
    def names(self) -> list[str]:
        """Of the parameters."""
        return self.problem.names

    @property
    def units(self) -> list[str]:
        """Of the parameters."""
        return [p.unit for p in self.problem.parameters]

    def __getitem__(self, name: str) -> float:
        """The value that was found for a parameter."""
        return float(self.values[self.names.index(name)])

    @property
    def iterations(self) -> int:
        """Iterations made: steps that were accepted."""
        return len(self.iterates) - 1

    @property
    def rejected(self) -> int:
        """Trials that could not be simulated."""
        return self.problem.failures

    @property
    def cost(self) -> float:
        """Half the sum of squares, or of losses."""
        return self.iterates[-1].cost

    @property
    def degrees_of_freedom(self) -> int:
        """Samples of some weight, less parameters."""
        return int((self.problem.weight > 0).sum()) - len(self.values)

    @property
    def standard_errors(self) -> np.ndarray:
        """(parameters,) standard deviation of each."""
        out: np.ndarray = np.sqrt(np.diag(self.covariance))
        return out

    @property
    def correlation(self) -> np.ndarray:
        """(parameters, parameters) of the errors."""
        s = self.standard_errors
        with np.errstate(invalid="ignore", divide="ignore"):
            out: np.ndarray = self.covariance / np.outer(s, s)
        return out

    def intervals(self, level: float = 0.95) -> np.ndarray:
        """(parameters, 2) confidence intervals: Student's t, or the normal distribution where the noise is known."""
        if not 0 < level < 1:
            raise CaseError(f"level = {level!r} must be between 0 and 1: 0.95 for intervals of 95 %")
        inside = 0.5 + level / 2
        factor = norm.ppf(inside) if self.absolute else t.ppf(inside, max(self.degrees_of_freedom, 1))
        return self.values[:, None] + factor * self.standard_errors[:, None] * np.array([-1.0, 1.0])

    @cached_property
    def runs(self) -> list[Run]:
        """The simulation of each recording with the values found."""
        return self.problem.trial(self.values).runs

    @property
    def system(self) -> Equilibrium:
        """The system with the values found; of several recordings, that of the first."""
        return self.runs[0].system

    @cached_property
    def whiteness(self) -> dict[str, Whiteness]:
        """The Ljung-Box test of the residuals of each channel; with several recordings, ``"name: channel"``.

        Nan where there is no noise.
        """
        out = {}
        for k, attached in enumerate(self.problem.attached):
            prefix = "" if len(self.problem.attached) == 1 else f"{attached.recording.name or k + 1}: "
            r = self.residuals[self.problem.rows[k]]
            for column, (device, name) in enumerate(attached.channels):
                mine = np.flatnonzero((attached.column == column) & (attached.root > 0))
                mine = mine[np.argsort(attached.time[mine], kind="stable")]
                size = np.abs(attached.root[mine] * attached.value[mine]).max(initial=0.0)
                noise = r[mine] if np.abs(r[mine]).max(initial=0.0) > _ROUND_OFF * size else np.zeros(len(mine))
                out[f"{prefix}{device}.{name}"] = ljung_box(noise)
        return out

    def table(self, level: float = 0.95) -> Table:
        """Parameters: start, value, standard error, interval."""
        low, high = self.intervals(level).T
        return Table({
            "parameter": self.names, "start": [f"{v:.6g}" for v in self.start],
            "value": [f"{v:.8g}" for v in self.values], "unit": self.units,
            "standard error": [f"{v:.3g}" for v in self.standard_errors],
            f"{100 * level:g} % interval": [f"{a:.6g} to {b:.6g}" for a, b in zip(low, high, strict=True)]})

    def progress(self) -> Table:
        """Iterations: cost, values, trials rejected."""
        return Table({"iteration": list(range(len(self.iterates))),
                      "cost": [f"{i.cost:.6e}" for i in self.iterates],
                      **{name: [f"{i.x[j]:.8g}" for i in self.iterates] for j, name in enumerate(self.names)},
                      "rejected": [i.rejected for i in self.iterates]})

    def remarks(self) -> list[str]:
        """What a reader of the table should know, in words."""
        out = [] if self.converged else [f"not converged: {self.message}"]
        out += [f"{name} was held at {value:.6g}: the measurements do not determine it"
                for name, value in self.held.items()]
        near = 1e-6 * np.maximum(np.abs(self.values), 1e-12)
        for side, edge in (("lower", self.low), ("upper", self.high)):
            out += [f"{self.names[j]} is at its {side} bound, {edge[j]:.6g}: its interval means little"
                    for j in np.flatnonzero(np.abs(self.values - edge) <= near).tolist()]
        if self.degrees_of_freedom < 1:
            out.append("no degrees of freedom: as many parameters as samples fit whatever was measured" + (
                "" if self.absolute else ", and nothing is left that tells the noise, of which intervals are made"))
        elif not np.isfinite(self.covariance).all():
            out.append("no covariance: where it ended, the measurements do not determine the parameters")
        counted = int((self.problem.weight > 0).sum())
        if 2 * self.outliers > counted:
            out.append(f"{self.outliers} of {counted} samples are beyond f_scale, outliers by its measure: values and "
                       "intervals are those of the few others")
        if len(self.names) > 1 and self.identifiability.collinearity > COLLINEAR:
            out.append(f"collinearity index {self.identifiability.collinearity:.3g} at the start: parameters make up "
                       "for each other")
        out += [f"residuals of {channel} are not white (Ljung-Box, {w.lags} lags: p = {w.p_value:.2g}): the intervals "
                "are too short" for channel, w in self.whiteness.items() if w.p_value < WHITE]
        return out

    def to_xarray(self) -> xr.Dataset:
        """Values and covariance by parameter; samples with time, channel, measurement, simulation and residual."""
        import xarray as xr

        attached = self.problem.attached
        channel = np.concatenate([np.array([f"{d}.{q}" for d, q in a.channels])[a.column] for a in attached])
        return xr.Dataset(
            {"value": ("parameter", self.values), "start": ("parameter", self.start),
             "standard_error": ("parameter", self.standard_errors),
             "covariance": (("parameter", "other"), self.covariance),
             "measured": ("sample", self.problem.value), "simulated": ("sample", self.problem.model(self.values)),
             "weight": ("sample", self.problem.weight), "residual": ("sample", self.residuals),
             "path": (("iteration", "parameter"), np.array([i.x for i in self.iterates])),
             "cost": ("iteration", np.array([i.cost for i in self.iterates]))},
            {"parameter": self.names, "other": self.names, "unit": ("parameter", self.units),
             "time": ("sample", np.concatenate([a.time for a in attached])), "channel": ("sample", channel),
             "recording": ("sample", np.concatenate([np.full(len(a.time), k) for k, a in enumerate(attached)]))},
            {"method": self.method, "converged": int(self.converged), "message": self.message})

    def __repr__(self) -> str:
        found = ", ".join(f"{name} = {value:.6g} ± {s:.2g}" for name, value, s in
                          zip(self.names, self.values, self.standard_errors, strict=True))
        return f"<Fit: {found}; {self.iterations} iterations of {self.method}>"
