"""The first of the guards that fire within a step, at which it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from .locate import Crossing, End

if TYPE_CHECKING:
    from .driver import Driver


def first(driver: Driver, begun: float, before: np.ndarray, X0: np.ndarray, fired: np.ndarray) -> int:
    """End the present step at the first of the guards that fired within it; returns that guard.

    The one that is first on straight lines is located; then those that are across there, also one that is not at the
    end of the whole step. Those of one instant have the order that they have where its events part, or else that of
    vanishing offsets, the larger the lower the number: of those that rise the lowest is first, of those that fall
    last, and derivatives at units alike are those of one side.
    """
    first, every, across = -1, fired, driver.gamma.copy()
    while len(fired):
        end, X, gamma = driver.t, driver.ws.X.copy(), driver.gamma
        ahead = before[fired] - gamma[fired]
        parts = np.divide(before[fired], ahead, out=np.ones(len(fired)), where=ahead != 0)
        guard = _earliest(driver, fired[parts == parts.min()], across, begun, X0)
        crossing = Crossing(driver, guard)
        driver.t = crossing.locate(begun, end, float(before[guard]), float(gamma[guard]), X0)
        crossing.count()
        if driver.t < end or first < 0:
            first, fired = guard, driver.watch.fired(driver.gamma)
            fired = fired[fired != guard]
            if len(fired):
                fired = fired[driver.visible(fired, driver.gamma[fired])]
                new = np.setdiff1d(fired, every)  # at the end of the whole step it is across no more
                every, across[new] = np.append(every, new), driver.gamma[new]
        else:  # what round-off took for earlier
            driver.t, driver.ws.X[:], fired = end, X, fired[fired != guard]
            driver.end_at(end)
    # of several that come to zero here, it is a matter of round-off which was located
    near = every if len(every) == 1 else every[
        (every == first) | (np.abs(driver.gamma[every]) <= numerics.TOUCHING * np.abs(across[every]))]
    if len(near) > 1:
        near = near[(near == first) | ~driver.visible(near, driver.gamma[near]) & driver.visible(near, before[near])]
    return _earliest(driver, near, across, begun, X0)


def _earliest(driver: Driver, alike: np.ndarray, across: np.ndarray, begun: float, X0: np.ndarray) -> int:
    """Of guards that cross at one instant, with values beyond it, the one whose event is taken first: none whose
    changes are among those of another, after which they are made.
    """
    if len(alike) == 1:
        return int(alike[0])
    changes = [driver.system.switching.targets(guard) for guard in alike]
    alike = alike[[not (mine and any(mine < others for others in changes)) for mine in changes]]
    if driver.instant.apart is not None and len(alike) > 1:
        here = driver.ws.X.copy(), driver.Z[-1]
        driver.ws.X[:], driver.Z[-1] = X0, begun
        late = driver.instant.lateness(alike)
        alike = alike[late == late.min()]
        driver.ws.X[:], driver.Z[-1] = here
    return int(next((g for g in alike if across[g] > 0), alike[-1]))


def first_by_itself(driver: Driver, begun: float, end: float, before: np.ndarray, X0: np.ndarray) -> int:
    """End a step whose end is rough at the guard that fires first; -1, the end solved, where that is not so simple."""
    X, across = driver.ws.X.copy(), driver.system.switching.values(driver.Z)
    fired = driver.watch.fired(across)
    parts = np.divide(before[fired], before[fired] - across[fired], out=np.ones(len(fired)),
                      where=np.abs(across[fired]) > numerics.GUARD_LARGE)
    if numerics.GUARD_ZERO < parts.min(initial=1.0) < 1:
        guard = int(fired[parts.argmin()])
        crossing = Crossing(driver, guard)
        found = crossing.ended_at_zero(End(begun, before[guard], X0), End(end, across[guard], X))
        if found is not None and not len(_beside(driver, guard, fired, before, across)):
            driver.t = found
            crossing.count()
            return guard
    driver.ws.X[:] = X
    driver.end_at(end)
    return -1


def _beside(driver: Driver, guard: int, fired: np.ndarray, before: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Other guards that are across where the step is ended at one, or come to zero there."""
    near = fired[np.abs(driver.gamma[fired]) <= numerics.TOUCHING * np.abs(across[fired])]
    others = np.array(sorted({*near, *driver.watch.fired(driver.gamma)} - {guard}), dtype=int)
    size = np.maximum(np.abs(driver.gamma[others]), np.abs(before[others]))
    return others[driver.visible(others, size, relative=True)]
