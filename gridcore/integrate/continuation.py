"""To the solution behind a switch, where Newton's iteration finds none: by continuation, with what switches on the way.

What the algebraic equations lack at the point before is taken away bit by bit, ``g(x, y) = (1 - s) g(x, y0)``, s from
0 to 1 (E. L. Allgower, K. Georg, Introduction to Numerical Continuation Methods, 2003, section 1.2). A guard that
fires on the way, since a voltage collapses, say, acts with the switch, and what is lacking then is taken away anew.
Where solutions end on the way, a ConvergenceError says how far they go.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConvergenceError
from ..system import in_words

if TYPE_CHECKING:
    from .driver import Driver

Triggers = tuple[tuple[str, int], ...]  # what acts in a switch: kinds, "timer" or "guard", and numbers
_PART, _LONGER, _SHORTER, _MOST = 0.25, 1.5, 0.25, 10  # of the way; the next, by how it went; who acts more chatters
_ADVICE = "; there may be one with a larger impedance of the fault, or with loads at constant impedance (--loads Z)"
_NEAR, _LEAST = _SHORTER**5, _SHORTER**10  # in so short a part guards act; solutions end with one so short


def continued(driver: Driver, triggers: Triggers, before: np.ndarray, y: np.ndarray, rest: float = 1.0) -> Triggers:
    """From Z `before` a switch, algebraic variables from `y`, the `rest` of the way; returns what acts in it."""
    ws, watch, switching, left, part, place = driver.ws, driver.watch, driver.system.switching, 1.0, _PART, ""
    driver.Z[:] = before
    switching.apply(driver.Z, switching.chosen(triggers))
    driver.refresh()
    ws.X[:] = np.where(ws.differential, ws.X, y)
    watch.refresh(driver.Z, switching.values(driver.Z))
    driver.newton.hold(ws.differential)
    ws.residual()
    whole, lacks = ws.base.copy(), ws.R.copy()
    while left > 0 and part > _LEAST and max(Counter(triggers).values(), default=0) <= _MOST:
        X = ws.X.copy()
        ws.base[:] = whole - max(left - part, 0.0) * lacks
        try:
            driver.newton.solve_damped()
        except ConvergenceError as error:
            ws.X[:], part, place = X, _SHORTER * part, error.place
            continue
        gamma = switching.values(driver.Z)
        fired = [guard for guard in watch.fired(gamma).tolist() if switching.targets(guard)]  # that act at once
        if fired and part <= _NEAR:
            watch.accept(gamma, np.array(fired), driver.visible)
            triggers += tuple(("guard", guard) for guard in fired)
            return continued(driver, triggers, before, ws.X.copy(), rest * max(left - part, 0.0))
        ws.X[:], left, part = (X, left, _SHORTER * part) if fired else (ws.X, left - part, _LONGER * part)
    if left > 0:
        raise ConvergenceError(f"no solution of the network after {in_words(switching.chosen(triggers))}, from before "
                               f"it or the operating point; on the way from before, at {1 - rest * left:.1%}, they end",
                               place=place, t=driver.t, advice=_ADVICE)
    return triggers
