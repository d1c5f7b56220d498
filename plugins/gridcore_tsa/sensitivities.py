"""Forward trajectory sensitivities of a run, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from gridcore.case import Address, is_pattern, patterns_of
from gridcore.equilibrium import InitialSensitivity
from gridcore.errors import CaseError
from gridcore.registry import integrators, jump_rules
from gridcore.results import Run, check_run, select
from gridcore.sensitivity import (
    Replay,
    Request,
    ResolveOperator,
    Traced,
    carried_parameters,
    joint_function,
    replayable,
    trace,
    unit_of,
    warn_of_coincidence,
)
from gridcore.suggest import suggest
from gridcore_theta import Theta

from .strategies import STRATEGIES, Strategy
from .sweep import ForwardSweep

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.equilibrium import Equilibrium


def tsa(run: Run, wrt: str | Iterable[str], quantities: str | Iterable[Address] | None = None, *,
        joint: Iterable[Iterable[str]] = (), jumps: str = "discrete", dispatch: str = "power flow",
        fixed_time: bool = False, strategy: str | None = None, tolerance: float = 1e-13,
        allow_grazing: bool = False) -> xr.DataArray:
    """Derivatives of quantities along a run in parameters, at every point of it.

    Parameters
    ----------
    run : Run
        Of a method whose steps have a derivative: of all but IDA, whose runs :func:`gridcore.retrace` makes again.
    wrt : str or iterable of str
        Parameters and initial values, by address and pattern, as in :func:`gridcore.adjoint`.
    quantities : str or iterable of str or (device, name), optional
        By address and pattern: ``"GEN*.omega"``. All differential states where none are given.
    joint, jumps, dispatch, allow_grazing
        As in :func:`gridcore.adjoint`.
    fixed_time : bool
        A point that an event made moves with the event, and by default a derivative there is that of the numbers of
        the run, the motion included. With this it is the derivative at a time that stands still: what a curve over
        time should show.
    strategy : str, optional
        Make the steps of the run again, and their sensitivities together with them, by ``"simultaneous corrector"``,
        ``"staggered direct"``, ``"staggered corrector"`` or ``"staggered hybrid"``; see :mod:`gridcore_tsa.strategies`.
        Of runs of the theta method. What that took is in the attributes of the result.
    tolerance : float
        Relative, of the sensitivities that a strategy iterates.

    Returns
    -------
    xarray.DataArray
        Dimensions point, quantity and parameter, with the points' times.

    Raises
    ------
    CaseError
        If a name matches nothing, there is no such strategy, or the steps of the run have no derivative.
    """
    import xarray as xr

    check_run(run)
    system = run.system
    wanted = Request.of(system, wrt, dispatch, joint)
    warn_of_coincidence(run, wanted)
    named = _named(system, quantities) if quantities is not None else [
        name for name, kept in zip(system.variables, system.base_differential, strict=True) if kept]
    if not named:
        raise CaseError("no quantity is asked for: give addresses or patterns, such as 'GEN*.omega'")
    traced = trace(run, joint_function(system, [itemgetter(q) for q in named]))
    n, end = system.n, system.n + system.layout.n_p
    sweep = begin(run, wanted, [int(at) for at in traced.at if n <= at < end], jumps, dispatch,
                  replaying(strategy, tolerance))
    sweep.replay.allow_grazing = allow_grazing
    replay, moving = sweep.replay, sweep.rule.moving and not fixed_time
    out = np.zeros((len(run.t), len(named), len(wanted.names)))
    explicit = np.flatnonzero((traced.at == system.layout.t) & moving)
    states = _Read(traced, np.flatnonzero(traced.at < n), traced.at)
    parameters = _Read(traced, np.flatnonzero(replay.column_of[traced.at] >= 0), replay.column_of[traced.at])

    def visit(k: int, X: np.ndarray) -> None:
        moved, some = sweep.T[run.tape.point_clock[k]], slice(k, k + len(X))
        if moved.any():  # of a point by itself: those of the grid stand still
            if fixed_time and sweep.rule.moving:
                X = X - np.outer(moved, replay.slope(k))
            np.add.at(out[k], traced.row[explicit], np.outer(traced.gradients[k, explicit], moved))
        states.add(some, X, out[some])
        parameters.add(some, sweep.P, out[some])

    sweep.run(visit)
    return xr.DataArray(wanted.joined(out), dims=("point", "quantity", "parameter"), name="sensitivity", coords={
        "time": ("point", run.t.copy()), "quantity": [f"{d}.{q}" for d, q in named],
        "quantity_unit": ("quantity", [unit_of(system, *q) for q in named]), **wanted.coordinates(system)},
        attrs={"strategy": strategy, **replay.work.table()} if isinstance(replay, Strategy) else None)


def _named(system: Equilibrium, quantities: str | Iterable[Address]) -> list[tuple[str, str]]:
    """(device, name) of what patterns match, and of every address, which may be of a parameter, too; who asks for one
    twice is answered twice.
    """
    out: list[tuple[str, str]] = []
    for name in patterns_of(quantities):
        device, _, quantity = name.rpartition(".")
        out += select(system, name) if is_pattern(name) or not device else [(device, quantity)]
    return out


class _Read:
    """What quantities read of one kind: entries of their gradients, and the columns of tangents these belong to."""

    def __init__(self, traced: Traced, entries: np.ndarray, columns: np.ndarray):
        entries = entries[np.argsort(traced.row[entries], kind="stable")]
        self._gradients, self._columns = traced.gradients[:, entries], columns[entries]
        self._rows, self._starts = np.unique(traced.row[entries], return_index=True)

    def add(self, points: slice, tangents: np.ndarray, out: np.ndarray) -> None:
        """Add what (points, K, columns) tangents make of the quantities, to (points, quantities, K)."""
        if not len(self._rows):
            return
        part = tangents[..., self._columns] * self._gradients[points, None]
        if len(self._rows) < len(self._columns):
            part = np.add.reduceat(part, self._starts, axis=2)
        out[:, self._rows] += part.swapaxes(1, 2)


def replaying(strategy: str | None, tolerance: float = 1e-13) -> Callable[..., Replay]:
    """What makes the replay of a tape; an unknown strategy is refused."""
    if strategy is None:
        return Replay
    if strategy not in STRATEGIES:
        raise CaseError(f"no strategy '{strategy}'{suggest(strategy, STRATEGIES)}")
    if not (isinstance(tolerance, Real) and 0 < tolerance < 1):
        raise CaseError(f"tolerance = {tolerance!r} must be a number between 0 and 1")
    return partial(STRATEGIES[strategy], tolerance=tolerance)


def check_method(strategy: str | None, method: str) -> None:
    """Refuse a strategy for runs of a method that has none, before there is one."""
    make = integrators[method].make
    if strategy is not None and not (isinstance(make, type) and issubclass(make, Theta)):
        raise CaseError(f"strategies are of the theta method, and this is to be a run of '{method}'")


def begin(run: Run, wanted: Request, read: list[int], jumps: str, dispatch: str,
          make: Callable[..., Replay] = Replay) -> ForwardSweep:
    """A forward sweep at the initial point, one direction for each parameter or initial value that is wanted.

    Parameters
    ----------
    read : list of int
        Positions in Z of the other parameters whose tangents will be read on the way.

    Raises
    ------
    CaseError
        If the steps of the run have no derivative.
    """
    replayable(run.tape)
    system = run.system
    carried = carried_parameters(system, run.tape, wanted.parameters, read,
                                 system.initialisation.setpoints, wanted.operating_point)
    replay = make(system, run.tape, carried)
    dP = np.zeros((len(wanted.names), len(carried)))
    dP[np.flatnonzero(wanted.is_parameter), replay.column_of[wanted.parameters]] = 1.0
    dX, dP = InitialSensitivity.of(system, carried, dispatch == "power flow").forward(dP)
    if len(wanted.states) or len(system.held):  # the algebraic variables follow an initial value
        dX[:, system.held] = 0.0
        dX[np.flatnonzero(~wanted.is_parameter), wanted.states] += 1.0
        rows = np.flatnonzero(~wanted.is_parameter | (len(system.held) > 0))
        dX[rows] = ResolveOperator(replay, replay.point(0)).forward(dX[rows], dP[rows], np.zeros(len(rows)))
    return ForwardSweep(replay, jump_rules[jumps].rule, dX, dP)
