"""Differences of the whole program: the check of a gradient, or of a jump rule, that shares nothing with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gridcore.errors import CaseError, EventError
from gridcore.integrate import TOLERANCES, simulate
from gridcore.sensitivity import Objective, Request, evaluate, objectives_of, table, warn_of_coincidence

MESHES = "held", "anew"
STEP = 1e-4  # of 1 + abs(parameter): truncation 1e-16 and round-off 1e-12 / 1e-4 of fourth order are in balance near it

if TYPE_CHECKING:
    import xarray as xr

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
        Parameters that the case gives, by address and pattern, as in :func:`gridcore.adjoint`.
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
        If a name is not a parameter that the case gives, or `mesh` is neither.
    EventError
        If the changed runs have other events than the run itself: there is no derivative to difference.
    """
    if mesh not in MESHES:
        raise CaseError(f"mesh = {mesh!r} must be {' or '.join(map(repr, MESHES))}")
    objectives = objectives_of(run, objectives)
    request = Request.of(run.system, wrt, "power flow")
    warn_of_coincidence(run, request, differences=True)
    layout, out = run.system.layout, np.empty((len(objectives), len(request.names)))
    for column, name in enumerate(request.names):
        device, _, parameter = name.rpartition(".")
        given = run.system.instances[layout.find(device)].values if device in layout.number else {}
        if parameter not in given:
            raise CaseError(f"{name} is not a parameter that the case gives: it cannot be changed there")
        value = given[parameter]
        h = relative_step * (1 + abs(value))
        a, b, c, d = (_at(run, objectives, name, value + k * h, mesh) for k in (1.0, -1.0, 0.5, -0.5))
        out[:, column] = (8 * (c - d) - (a - b)) / (6 * h)
    return table(run.system, objectives, evaluate(run, objectives).values, request, out)


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
