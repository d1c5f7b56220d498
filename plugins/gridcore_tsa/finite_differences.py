"""Differences of the whole program: the check of a gradient, or of a jump rule, that shares nothing with it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from gridcore.case import patterns_of, split
from gridcore.errors import CaseError, EventError
from gridcore.integrate import TOLERANCES, simulate
from gridcore.sensitivity import Objective, Request, evaluate, objectives_of, table, warn_of_coincidence

MESHES = "held", "anew"
STEP = 1e-4  # of 1 + abs(parameter): truncation 1e-16 and round-off 1e-12 / 1e-4 of fourth order are in balance near it

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run


def differences(run: Run, objectives: Objective | Sequence[Objective], wrt: str | Iterable[str], *,
                relative_step: float = STEP, mesh: str = "held") -> xr.DataArray:
    """Derivatives of objectives by Richardson-extrapolated central differences of the program.

    The case is built and simulated four times for each parameter: power flow, initialisation and
    event location included. Good to seven digits or so; to check a gradient, not to replace it.

    Parameters
    ----------
    run : Run
    objectives : Objective or sequence of Objective
    wrt : str or iterable of str
        Parameters that the case gives, by address and pattern, as in :func:`gridcore.adjoint`; of what a pattern
        matches those that can be changed to both sides: what is infinite, or at a bound of its, is left out.
    relative_step : float
        The larger of the two steps, as a part of 1 + the parameter's size.
    mesh : {"held", "anew"}
        Whether each simulation repeats the mesh of the run, as a gradient has it, or chooses its own where steps are
        chosen by their error. Then the difference has a part that is the tolerance by the change of the parameter; a
        larger `relative_step` makes it smaller.

    Returns
    -------
    xarray.DataArray
        Dimensions objective and parameter, as from :func:`gridcore.adjoint`.

    Raises
    ------
    CaseError
        If a name is not a parameter that the case gives, is infinite or at a bound; or `relative_step` is no number
        above zero, or so small that a parameter stays what it is; or `mesh` is neither.
    EventError
        If the changed runs have other events than the run itself: there is no derivative to difference.
    """
    if mesh not in MESHES:
        raise CaseError(f"mesh = {mesh!r} must be {' or '.join(map(repr, MESHES))}")
    if not (isinstance(relative_step, Real) and 0 < relative_step <= 1):
        raise CaseError(f"relative_step = {relative_step!r} must be a number above 0, and at most 1")
    objectives = objectives_of(run, objectives)
    possible = _possible(run.system, wrt, relative_step)
    request = Request.of(run.system, possible, "power flow")
    warn_of_coincidence(run, request, objectives, differences=True)
    out = np.empty((len(objectives), len(request.names)))
    for column, name in enumerate(request.names):
        value, h = possible[name]
        a, b, c, d = (_at(run, objectives, name, value + k * h, mesh) for k in (1.0, -1.0, 0.5, -0.5))
        out[:, column] = (8 * (c - d) - (a - b)) / (6 * h)
    return table(run.system, objectives, evaluate(run, objectives).values, request, out)


def _possible(system: Equilibrium, wrt: str | Iterable[str], relative_step: float) -> dict[str, tuple[float, float]]:
    """Value and step, by name, of parameters that a changed case may have: of a pattern, the others are left out."""
    chosen: dict[str, tuple[float, float]] = {}
    for pattern in patterns_of(wrt):
        refused = ""
        for name in (names := Request.of(system, pattern, "power flow").names):
            value, h, why = _step(system, name, relative_step)
            refused = refused or why
            if not why:
                chosen[name] = value, h
        if chosen.keys().isdisjoint(names):
            raise CaseError(refused)
    return chosen


def _step(system: Equilibrium, name: str, relative_step: float) -> tuple[float, float, str]:
    """Value and step of a parameter, and why there can be no difference, if there can be none."""
    device, parameter = split(name)
    number = system.layout.number.get(device)
    if number is None or parameter not in (given := system.instances[number].values):
        return 0.0, 0.0, f"{name} is not a parameter that the case gives: it cannot be changed there"
    value, bounds = given[parameter], system.instances[number].device.declares.params[parameter].bounds
    if not math.isfinite(value):
        return value, 0.0, f"{name} is {value:g}: there is nothing to add a difference to"
    h = relative_step * (1 + abs(value))
    if value + 0.5 * h == value:
        return value, h, f"{name} = {value:g}: a step of {h:.3g} is lost in its round-off"
    if not all(getattr(operator, kind)(end, bound) for kind, bound in bounds.items() for end in (value - h, value + h)):
        return value, h, f"{name} = {value:g} is nearer than {h:.3g} to its bound: there is no difference to both sides"
    return value, h, ""


def _at(run: Run, objectives: Sequence[Objective], name: str, value: float, mesh: str) -> np.ndarray:
    """The objectives of the same run with another value of one parameter."""
    (method, *others), settings = run.tape.methods, run.settings
    if others:
        raise CaseError("differences simulate in one go, and the method of this run changed on its way")
    system, options = run.system.with_values({name: value}), dict(method.options)
    if mesh == "held":
        other = simulate(system, settings["t_end"], mesh=run)
    else:
        options |= {key: settings[key] for key in TOLERANCES if key in settings}
        other = simulate(system, settings["t_end"], settings["step"], method.name, t0=settings["t0"], **options)
    before, after = ([(event.device, event.item, event.kind) for event in r.events] for r in (run, other))
    if after != before:
        raise EventError(f"with {name} = {value:.9g} there are other events than in the run: nothing to difference")
    return evaluate(other, objectives).values
