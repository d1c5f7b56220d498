"""To the solution behind a switch, where Newton's iteration finds none: by continuation, with what switches on the way.

What the algebraic equations lack at the point before is taken away bit by bit, ``g(x, y) = (1 - s) g(x, y0)``, s from
0 to 1 (E. L. Allgower, K. Georg, Introduction to Numerical Continuation Methods, 2003, section 1.2). A guard that
fires on the way, since a voltage collapses, say, acts with the switch, and what is lacking then is taken away anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConvergenceError

if TYPE_CHECKING:
    from .driver import Driver

Triggers = tuple[tuple[str, int], ...]  # what acts in a switch: kinds, "timer" or "guard", and numbers
_PART, _LONGER, _SHORTER, _MOST = 0.25, 1.5, 0.25, 100  # of the way; the next, by how it went; more that act chatter
_NEAR, _LEAST = _SHORTER**5, _SHORTER**10  # in so short a part guards act; solutions end with one so short


def continued(driver: Driver, triggers: Triggers, before: np.ndarray, y: np.ndarray) -> tuple[float, Triggers]:
    """From Z `before` a switch, with the algebraic variables of `y`, to the solution behind it: how far solutions go, 1
    if it is reached, and what acts in the switch: the triggers, and guards that fired on the way.
    """
    ws, watch, switching, left, part = driver.ws, driver.watch, driver.system.switching, 1.0, _PART
    driver.Z[:] = before
    switching.apply(driver.Z, switching.chosen(triggers))
    driver.refresh()
    ws.X[:] = np.where(ws.differential, ws.X, y)
    watch.refresh(driver.Z, switching.values(driver.Z))
    driver.newton.hold(ws.differential)
    ws.residual()
    whole, lacks = ws.base.copy(), ws.R.copy()
    while left > 0 and part > _LEAST and len(triggers) <= _MOST:
        X = ws.X.copy()
        ws.base[:] = whole - max(left - part, 0.0) * lacks
        try:
            driver.newton.solve_damped()
        except ConvergenceError:
            ws.X[:], part = X, _SHORTER * part
            continue
        gamma = switching.values(driver.Z)
        fired = [guard for guard in watch.fired(gamma).tolist() if switching.targets(guard)]  # that act at once
        if fired and part <= _NEAR:
            watch.accept(gamma, np.array(fired))
            return continued(driver, (*triggers, *(("guard", guard) for guard in fired)), before, ws.X.copy())
        ws.X[:], left, part = (X, left, _SHORTER * part) if fired else (ws.X, left - part, _LONGER * part)
    return min(1 - left, 1.0), triggers
