"""Where two runs to either side of the boundary of stability part, and what that says of the boundary.

Close to the boundary whatever moves a run across it is amplified by the same factor A, that of the one unstable
direction, however many swings, limits and saddles that takes. So with J any quantity that the runs part in, at a time
by which the factor is large, and M the distance from the boundary,

    dJ/dq = A dM/dq + what is not amplified,   dp_critical / dq = -(dM/dq) / (dM/dp) = -(dJ/dq) / (dJ/dp)

for any other parameter q, to a relative error of the order of 1 / A. M need not be known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.registry import analyses
from gridcore.sensitivity import Terminal

if TYPE_CHECKING:
    from gridcore.results import Run

PARTED = 1e-3  # pu of speed: the runs are still alike, and what they differ by is far above the error of interpolation


def between_runs(stable: Run, unstable: Run) -> tuple[float, Terminal] | None:
    """The time at which the runs begin to part, and the difference of two speeds in which they do.

    None where they do not, before the first of them ends.
    """
    one, other = analyses.rotors(stable), analyses.rotors(unstable)
    t = stable.t[stable.t <= unstable.t[-1]]
    beside = np.column_stack([np.interp(t, unstable.t, speed) for speed in other.omega.T])
    difference = np.where(one.in_service[:len(t)], beside - one.omega[:len(t)], 0.0)
    if one.infinite_buses:
        difference = np.column_stack([difference, np.zeros(len(t))])
    apart = np.flatnonzero(np.ptp(difference, axis=1) >= PARTED)
    if not len(apart):
        return None
    k = int(apart[0])
    names = [one.devices[j] if j < len(one.devices) else None
             for j in (np.argmax(difference[k]), np.argmin(difference[k]))]

    def parted(v: Any) -> Any:
        first, second = (1.0 if name is None else v[name, "omega"] for name in names)
        return first - second

    return float(t[k]), Terminal(parted, name="parting")
