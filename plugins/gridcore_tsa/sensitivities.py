"""Forward trajectory sensitivities of a run, by name."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from gridcore import plugins
from gridcore.initial_sensitivity import InitialSensitivity
from gridcore.objective import Terminal, trace
from gridcore.replay import Replay, ResolveOperator, carried_parameters
from gridcore.wanted import Wanted, replayable, unit_of

from .sweep import ForwardSweep

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.run import Run


def tsa(run: Run, wrt: str | Iterable[str], quantities: Iterable[tuple[str, str]] | None = None, *,
        jumps: str = "discrete", dispatch: str = "power flow", fixed_time: bool = False) -> xr.DataArray:
    """Derivatives of quantities along a run in parameters, at every point of it.

    Parameters
    ----------
    run : Run
        Of a theta method.
    wrt : str or iterable of str
        Parameters and initial values, by address and pattern, as in :func:`gridcore.adjoint`.
    quantities : iterable of (device, name), optional
        All differential states where none are given.
    jumps, dispatch
        As in :func:`gridcore.adjoint`.
    fixed_time : bool
        A point that an event made moves with the event, and by default a derivative there is that of the numbers of
        the run, the motion included. With this it is the derivative at a time that stands still: what a curve over
        time should show.

    Returns
    -------
    xarray.DataArray
        Dimensions point, quantity and parameter, with the points' times.
    """
    import xarray as xr

    replayable(run.tape)
    system = run.system
    wanted = Wanted.of(system, wrt, dispatch)
    named = list(quantities) if quantities is not None else [
        name for name, kept in zip(system.variables, system.base_differential, strict=True) if kept]
    traced = trace(run, [Terminal(itemgetter(q)) for q in named])
    setpoints = system.initialisation.setpoints
    n, end = system.n, system.n + system.layout.n_p
    read = [int(at) for at in traced.at if n <= at < end]
    carried = carried_parameters(system, run.tape, [*wanted.parameters, *read], [*setpoints, *wanted.operating_point])
    replay = Replay(system, run.tape, carried)
    dP = np.zeros((len(wanted.names), len(carried)))
    dP[np.flatnonzero(wanted.is_parameter), replay.column_of[wanted.parameters]] = 1.0
    dX, dP = InitialSensitivity.of(system, carried, dispatch == "power flow").forward(dP)
    if len(wanted.states):  # the algebraic variables follow an initial value
        rows = np.flatnonzero(~wanted.is_parameter)
        dX[rows, wanted.states] += 1.0
        dX[rows] = ResolveOperator(replay, replay.point(0)).forward(dX[rows], dP[rows], np.zeros(len(rows)))
    out = np.zeros((len(run.t), len(named), len(wanted.names)))
    states, parameters = np.flatnonzero(traced.at < n), np.flatnonzero(replay.column_of[traced.at] >= 0)
    rule = plugins.jump_rules[jumps]
    explicit = np.flatnonzero((traced.at == system.layout.t) & (rule.moving and not fixed_time))
    sweep = ForwardSweep(replay, rule, dX, dP)

    def visit(k: int, X: np.ndarray) -> None:
        gradients = traced.gradients[k]
        moved = sweep.T[run.tape.point_clock[k]]
        if fixed_time and rule.moving and moved.any():
            X = X - np.outer(moved, replay.slope(k))
        for part, tangent, at in ((states, X, traced.at), (parameters, sweep.P, replay.column_of[traced.at])):
            if len(part):
                np.add.at(out[k], traced.row[part], gradients[part, None] * tangent[:, at[part]].T)
        if len(explicit):
            np.add.at(out[k], traced.row[explicit], np.outer(gradients[explicit], moved))

    sweep.run(visit)
    return xr.DataArray(out, dims=("point", "quantity", "parameter"), name="sensitivity", coords={
        "time": ("point", run.t.copy()), "quantity": [f"{d}.{q}" for d, q in named],
        "quantity_unit": ("quantity", [unit_of(system, *q) for q in named]), **wanted.coordinates()})
