"""Fit parameters to measurements: checked before, with its uncertainty after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.case import Address, Case
from gridcore.equilibrium import Equilibrium, as_system
from gridcore.errors import CaseError
from gridcore.results import Run
from gridcore.suggest import suggest
from gridcore.tape import Spacing
from gridcore_verbs.units import spread

from .fit import Fit
from .identifiability import Identifiability
from .losses import LOSSES
from .methods import METHODS, Iterate, Settings
from .problem import Problem, Recording, TrialFailed
from .uncertainty import covariance

Study = Equilibrium | Case | Run | str | Path | Sequence[Recording]
Pair = tuple[float | str | None, float | str | None]


def estimate(system: Study, data: Any = None, wrt: Address | Iterable[Address] = (), *,
             start: Mapping[Any, float | str] | None = None, bounds: Mapping[Any, Pair] | None = None,
             method: str | None = None, loss: str = "linear", f_scale: float | str = 1.0, step: Spacing = 0.01,
             t_end: float | str | None = None, scale: Mapping[Any, float] | None = None, absolute: bool = False,
             unidentifiable: str = "error", tolerance: float = 1e-6, limit: int = 50,
             tell: Callable[[int, Iterate], None] | None = None, **options: Any) -> Fit:
    """Find the parameters with which the simulation fits measurements best.

    Minimises ``1/2 sum_i w_i (h(t_i; p) - d_i)^2``, or a robust loss of it. The derivatives are those of the
    very numbers of the simulation: through power flow, initialisation, events and delays.

    Parameters
    ----------
    system : Equilibrium or Case or str, or sequence of Recording
        The system in which the event is simulated, or what :func:`gridcore.build` takes; or several recordings,
        each with its own.
    data : Measurements, path, xarray.Dataset or xarray.DataArray
        What was measured; not given with recordings, which have it.
    wrt : str or iterable of str
        What is estimated, by address and pattern: parameters of devices and of events (thresholds,
        delays, times, values after a step), and states, whose initial value is meant. ``"name:address"``
        is the parameter of the recording of that name alone; all others are common to all recordings that
        have them.
    start : mapping of str to float or str, optional
        Where to start, by address and pattern, by default the values of the system. Text has a unit: ``"183 ms"``.
    bounds : mapping of str to pair of float or str or None, optional
        Beside those that devices declare, by address and pattern; None is no bound.
    method : {"trf", "dogbox", "gauss-newton", "l-bfgs-b"}, optional
        The first two are those of :func:`scipy.optimize.least_squares`, ``"trf"`` is the default; Gauss-Newton
        is the plain one, full steps without bounds; ``"l-bfgs-b"`` takes the gradient of the sum from one
        adjoint sweep, for very many parameters.
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}
    f_scale : float or str
        Weighted residual that separates inliers from outliers; where no channel has a weight, ``"0.5 kV"``, too.
    step, t_end, **options
        Of the simulation, as for :func:`gridcore.simulate`; `t_end` is the last sample by default.
    scale : mapping of str to float, optional
        By address and pattern, size of a parameter: what counts as one in tolerances and in identifiability. By default
        the value where it starts, or one where that is zero.
    absolute : bool
        The weights are ``1 / sigma^2``: do not estimate the size of the noise from the residuals. Of the linear loss.
    unidentifiable : {"error", "hold"}
        What to do where the measurements do not determine the parameters: refuse; or hold at the start those
        that QR with pivoting leaves out, and estimate the others.
    tolerance : float
        Of the step, as a part of each parameter's size.
    limit : int
        Iterations.
    tell : callable, optional
        Called with the number of each iterate, and the iterate.

    Returns
    -------
    Fit

    Raises
    ------
    CaseError
        If a channel or parameter does not exist (the nearest names are offered), data are not finite or
        outside the run, a start is outside its bounds, or an option is none that it can be.
    Unidentifiable
        If the measurements do not determine the parameters: with names and direction.
    TrialFailed
        If there is no simulation with the values at the start.
    """
    problem = Problem(_recordings(system, data, step, t_end, options), wrt)
    chosen = _method(method)
    if loss not in LOSSES:
        raise CaseError(f"no loss '{loss}'{suggest(loss, LOSSES)}")
    if absolute and loss != "linear":
        raise CaseError(f"absolute = True is for loss = 'linear': '{loss}' estimates the noise from the residuals")
    if unidentifiable not in ("error", "hold"):
        raise CaseError(f"unidentifiable = {unidentifiable!r} must be 'error' or 'hold'")
    if not (isinstance(tolerance, Real) and 0 < tolerance < np.inf):
        raise CaseError(f"tolerance = {tolerance!r} must be a number above 0")
    if not (isinstance(limit, Integral) and limit > 0):
        raise CaseError(f"limit = {limit!r} must be a whole number of iterations above 0")
    x, sizes = _start(problem, start, scale)
    begun = _at(problem, x, sizes)
    held: dict[str, float] = {}
    if unidentifiable == "hold" and begun.unidentifiable():
        kept = begun.subset()
        if not kept:  # there is nothing left to estimate
            begun.require()
        held = {name: float(x[j]) for j, name in enumerate(problem.names) if name not in kept}
        problem, x, sizes = _without(problem, x, sizes, kept)
        begun = _at(problem, x, sizes)
    begun.require()
    low, high = _bounds(problem, bounds, held, x)
    if chosen == "gauss-newton" and bounds:
        raise CaseError("Gauss-Newton has no bounds: they are for method = 'trf', 'dogbox' or 'l-bfgs-b'")
    inlier = problem.residual(f_scale)
    settings = Settings(low, high, sizes, loss, inlier, tolerance, limit, tell or (lambda number, iterate: None))
    outcome = METHODS[chosen](problem, x, settings)
    r, J = problem.residuals(outcome.x), problem.jacobian(outcome.x)
    after = _told(problem, outcome.x, J, sizes)
    if not after.unidentifiable():
        counted = problem.weight > 0
        spread = covariance(J[counted], r[counted], loss, inlier, absolute)
    else:
        spread = np.full((len(x), len(x)), np.nan)
    outliers = 0 if loss == "linear" else int((np.abs(r) > inlier).sum())
    return Fit(problem, chosen, x, outcome, r, J, spread, begun, held, absolute, (low, high), outliers)


def identifiability(system: Study, data: Any = None, wrt: Address | Iterable[Address] = (), *,
                    start: Mapping[Any, float | str] | None = None, step: Spacing = 0.01,
                    t_end: float | str | None = None, scale: Mapping[Any, float] | None = None,
                    **options: Any) -> Identifiability:
    """What measurements can tell of parameters, before anything is fitted.

    The values of the data play no part: those of an experiment that is only planned may be zero.

    Parameters
    ----------
    system, data, wrt, start, step, t_end, scale, **options
        As for :func:`estimate`.

    Returns
    -------
    Identifiability
    """
    problem = Problem(_recordings(system, data, step, t_end, options), wrt)
    return _at(problem, *_start(problem, start, scale))


def _recordings(system: Study, data: Any, step: Spacing, t_end: float | str | None,
                options: Mapping[str, Any]) -> list[Recording]:
    if isinstance(system, Equilibrium | Case | Run | str | Path):
        if data is None:
            raise CaseError("there are no data to estimate from")
        return [Recording(as_system(system), data, step, t_end=t_end, options=options)]
    recordings = list(system)
    if data is not None or options or t_end is not None:
        raise CaseError("data and options of the simulation belong to each Recording where several are given")
    return recordings


def _method(method: str | None) -> str:
    name = "trf" if method is None else method.lower()
    if name not in METHODS:
        raise CaseError(f"no method '{method}'{suggest(name, METHODS)}")
    return name


def _at(problem: Problem, x: np.ndarray, sizes: np.ndarray) -> Identifiability:
    try:
        return _told(problem, x, problem.jacobian(x), sizes)
    except TrialFailed as error:
        values = ", ".join(f"{name} = {value:.6g}" for name, value in zip(problem.names, x, strict=True))
        raise TrialFailed(f"no simulation where the estimation starts, {values}: {error}") from None


def _told(problem: Problem, x: np.ndarray, J: np.ndarray, sizes: np.ndarray) -> Identifiability:
    size = float(np.linalg.norm(np.sqrt(problem.weight) * problem.model(x)))
    return Identifiability(problem.names, J * sizes, sizes, size)


def _start(problem: Problem, start: Mapping[Any, float | str] | None, scale: Mapping[Any, float] | None
           ) -> tuple[np.ndarray, np.ndarray]:
    x = _filled(problem, "start", start, [p.start for p in problem.parameters])
    sizes = _filled(problem, "scale", scale, np.where(x != 0, np.abs(x), 1.0))
    if not (sizes > 0).all():
        raise CaseError(f"the scale of {problem.names[int(np.argmin(sizes))]} must be greater than 0")
    return x, sizes


def _filled(problem: Problem, what: str, given: Mapping[Any, float | str] | None, default: Any) -> np.ndarray:
    out = np.array(default, dtype=float)
    for j, value in spread(problem.names, given or {}, what):
        out[j] = problem.number(problem.names[j], value)
        if not np.isfinite(out[j]):
            raise CaseError(f"{what} of {problem.names[j]} must be a finite number, not {value!r}")
    return out


def _bounds(problem: Problem, bounds: Mapping[Any, Pair] | None, held: Mapping[str, float],
            x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # those that devices declare may be integers, which an array of nothing else would make of all others
    low, high = (np.array([getattr(p, side) for p in problem.parameters], dtype=float) for side in ("low", "high"))
    for j, pair in spread([*problem.names, *held], bounds or {}, "bounds"):
        if j >= len(problem.names):
            continue
        name = problem.names[j]
        a, b = _pair(problem, name, pair)
        low[j], high[j] = max(low[j], a), min(high[j], b)
        if not low[j] < high[j]:
            raise CaseError(f"bounds of {name}: {low[j]:g} must be less than {high[j]:g}")
    for j, name in enumerate(problem.names):
        if not low[j] <= x[j] <= high[j]:
            raise CaseError(f"{name} starts at {x[j]:g}, outside its bounds {low[j]:g} to {high[j]:g}")
    return low, high


def _pair(problem: Problem, name: str, pair: Any) -> tuple[float, float]:
    try:
        a, b = (none if end is None else problem.number(name, end)
                for end, none in zip(pair, (-np.inf, np.inf), strict=True))
    except (TypeError, ValueError):
        a = b = np.nan
    if np.isnan(a) or np.isnan(b):
        raise CaseError(f"the bounds of {name} must be two numbers, or None for no bound, not {pair!r}")
    return a, b


def _without(problem: Problem, x: np.ndarray, sizes: np.ndarray, kept: Sequence[str]
             ) -> tuple[Problem, np.ndarray, np.ndarray]:
    """The problem with some of the parameters, the others where they start."""
    places = [problem.names.index(name) for name in kept]
    rest = [j for j in range(len(x)) if j not in places]
    recordings = []
    for k, recording in enumerate(problem.recordings):
        mine = {problem.parameters[j].name: float(x[j]) for j in rest if k in problem.parameters[j].recordings}
        recordings.append(problem.with_held(k, mine) if mine else recording)
    return Problem(recordings, kept), x[places], sizes[places]
