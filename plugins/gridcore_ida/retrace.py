"""A run of a variable-step method made again on its own mesh, so that there is a tape to replay exactly."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from gridcore.errors import EventError, GridcoreError
from gridcore.integrate import simulate
from gridcore.results import Run, check_run
from gridcore.tape import GRID

_FAR, _STILL = 0.05, 0.01  # a part of what a variable moves by that is told; of its scale: what moves less stands still


class RetraceWarning(UserWarning):
    """A run that was made again went another way."""


def retrace(run: Run, method: str = "theta", **options: Any) -> Run:
    """The same system from the same initial point through the same events, on the mesh of that run.

    Events are located again, on the path of the new steps: what results is an exact tape, and :func:`gridcore.adjoint`
    of it the exact derivative of its numbers. How far these are from those of the run is in its ``settings``:
    ``replay_mismatch``, the largest difference of any variable at any point of the mesh that both pass under the same
    modes, in its unit, ``replay_mismatch_of``, which one it is, and ``replay_mismatch_events``, of event times (s).

    Parameters
    ----------
    run : Run
        Of any method, most likely one of variable step.
    method : str
        Whose steps can be differentiated.
    **options
        Of the method, as of :func:`simulate`.

    Returns
    -------
    Run

    Raises
    ------
    EventError
        If the method meets other events on this mesh, or meets them in another order.
    """
    check_run(run)
    try:
        out = simulate(run.system, float(run.t[-1]), method=method, mesh=run, **options)
    except GridcoreError as error:
        error.args = (f"{error} (replaying a run of method '{run.settings['method']}' on its mesh)",)
        raise
    same_events(run, out)
    out.settings.update(mismatch(run, out))
    off = apart(run, out) / np.maximum(np.ptp(run.X, axis=0), _STILL * run.system.scale)
    if off.max() > _FAR:
        warnings.warn(f"replayed by '{method}', {'.'.join(run.system.variables[int(off.argmax())])} is off by "
                      f"{off.max():.2g} of what it moves by: derivatives are those of the numbers so made, not of this "
                      "run; theta or trbdf2 may suit its mesh, or run it with a smaller max_step", RetraceWarning,
                      stacklevel=2)
    return out


def same_events(run: Run, out: Run) -> None:
    """Refuse a run with other events."""
    there, here = ([f"{e.device}.{e.item} ({e.kind})" for e in r.events] for r in (run, out))
    for k, (a, b) in enumerate(itertools.zip_longest(there, here, fillvalue="none")):
        if a != b:
            raise EventError(f"replayed by {out.settings['method']}, event {k + 1} of this run is {b} in place of {a}: "
                             "its mesh is too coarse; run it with a smaller step or max_step",
                             t=(run if k < len(there) else out).events[k].t)


def apart(run: Run, out: Run) -> np.ndarray:
    """By how much each variable differs at most, (n,), at points of the mesh that both pass under the same modes."""
    point_of = {t: k for k, (t, clock) in enumerate(zip(run.t, run.tape.point_clock, strict=True)) if clock == GRID}
    pairs = np.array([(point_of[t], k) for k, (t, clock) in enumerate(zip(out.t, out.tape.point_clock, strict=True))
                      if clock == GRID and t in point_of])
    same = run.point_settings[pairs[:, 0]] == out.point_settings[pairs[:, 1]]
    return np.abs(run.X[pairs[same, 0]] - out.X[pairs[same, 1]]).max(axis=0, initial=0.0)


def mismatch(run: Run, out: Run) -> dict[str, Any]:
    """How far a run that was made again is from the first, as its settings tell it."""
    difference = apart(run, out)
    worst = int(difference.argmax())
    events = [abs(a.t - b.t) for a, b in zip(run.events, out.events, strict=True)]
    return {"replay_mismatch": float(difference[worst]), "replay_mismatch_of": ".".join(run.system.variables[worst]),
            "replay_mismatch_events": float(max(events, default=0.0))}
