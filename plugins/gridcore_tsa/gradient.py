"""The gradient of objectives by the forward sweep: what the adjoint gives, at the price of one tangent a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gridcore.registry import jump_rules
from gridcore.sensitivity import Objective, Request, evaluate, objectives_of, table, warn_of_coincidence

from .sensitivities import begin

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.results import Run


def forward_gradient(run: Run, objectives: Objective | Sequence[Objective], wrt: str | Iterable[str], *,
                     joint: Iterable[Iterable[str]] = (), jumps: str = "discrete", dispatch: str = "power flow"
                     ) -> xr.DataArray:
    """Derivatives of objectives of a run, by the forward sweep.

    Parameters and result are those of :func:`gridcore.adjoint`: the same numbers, to round-off.

    Parameters
    ----------
    run : Run
    objectives : Objective or sequence of Objective
    wrt : str or iterable of str
        Parameters and initial values, by address or pattern.
    joint : iterable of iterable of str
        Groups of parameters that move together.
    jumps : str
        How sensitivities cross events.
    dispatch : str
        ``"power flow"``: P0, Q0 and V0 act through the power flow; ``"direct"``: by themselves.

    Returns
    -------
    xarray.DataArray
        (objective, parameter), with values and units as coordinates.

    Raises
    ------
    CaseError
        If a pattern matches nothing, or what it matches has no derivative.
    """
    objectives = objectives_of(run, objectives)
    wanted = Request.of(run.system, wrt, dispatch, joint)
    warn_of_coincidence(run, wanted, objectives)
    weights = evaluate(run, objectives, jump_rules[jumps].rule.moving)
    sweep = begin(run, wanted, weights.parameters(run.system), jumps, dispatch)
    n, time = run.system.n, run.system.layout.t
    column = sweep.replay.column_of[weights.at]
    states, parameters = np.flatnonzero(weights.at < n), np.flatnonzero(column >= 0)
    explicit = np.flatnonzero((weights.at == time) & sweep.rule.moving)
    terms = np.zeros((len(weights.at), len(wanted.names)))  # point after point, in whatever parts they come

    def visit(k: int, X: np.ndarray) -> None:
        w = np.array([weights.points[each] for each in range(k, k + len(X))])
        for part, tangent, at in ((states, X, weights.at), (parameters, sweep.P[None], column)):
            used = part[(w[:, part] != 0).any(axis=0)]
            if len(used):
                added = w[:, used, None] * tangent[:, :, at[used]].swapaxes(1, 2)
                terms[used] = np.add.reduce(np.concatenate([terms[None, used], added]), axis=0)
        if len(explicit) and (moved := sweep.T[run.tape.point_clock[k]]).any():  # points of the grid stand still
            terms[explicit] += np.outer(w[0, explicit], moved)

    sweep.run(visit)
    gradient = np.zeros((len(objectives), len(wanted.names)))
    np.add.at(gradient, weights.row, terms)
    for clock, amount in weights.clocks:
        gradient += np.outer(amount, sweep.T[clock])
    return table(run.system, objectives, weights.values, wanted, gradient)
