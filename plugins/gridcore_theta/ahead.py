"""Whether a guard fires within a step, before the step is solved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gridcore.equations import Workspace


def fires_for_certain(ws: Workspace) -> Callable[[], bool] | None:
    """A question for after each correction of an iteration that begins now; None if no guard fires where it begins.

    It is whether one fires at its end for certain: the last correction has changed it by less than half of what it is
    across. By factors for a step twice or half as long corrections leave as much as they are.
    """
    before = ws.guards(ws.Z)
    if not (before < 0).any():
        return None

    def fires() -> bool:
        nonlocal before
        margins, last = ws.guards(ws.Z), before
        before = margins
        return bool((margins < -2 * np.abs(margins - last)).any())

    return fires
