"""Where a guard crosses zero within a step, nearly: the better that is known, the fewer iterations find it."""

from __future__ import annotations

from collections.abc import Callable

from gridcore.equations import Workspace
from gridcore.integrate import Crossing


def on_bent_path(ws: Workspace, t: float, guard: Crossing, bend: Callable[[float], None]) -> float:
    """Guesses of the time and of X, which it moves, from those of :meth:`gridcore.integrate.Stepper.end_at_zero`.

    `bend` moves X, on the straight line at a time, off it as the method knows its path to bend. One step of regula
    falsi along this path, to the end that is beyond the zero, moves the time.
    """
    low, high = guard.ends
    ws.Z[-1] = t
    bend(t)
    gamma, *_ = guard()
    beyond = low if gamma * high.gamma > 0 else high
    t += gamma * (beyond.t - t) / (gamma - beyond.gamma)
    ws.X[:], ws.Z[-1] = low.X + (t - low.t) * ((high.X - low.X) / (high.t - low.t)), t
    bend(t)
    return t
