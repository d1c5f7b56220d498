"""Where in a step a guard crosses zero, whatever made the step.

A bracket is kept between a time at which the guard has not crossed yet and one at which it has, so that the zero that
is found is one that is crossed in the direction that was seen. Inside it the end of the step is moved by inverse
quadratic interpolation through the last three points (R. P. Brent, Algorithms for Minimization without Derivatives,
1973, chapter 4), until the correction is round-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..errors import ConvergenceError, EventError

if TYPE_CHECKING:
    from .driver import Driver

_ITERATIONS = 100
_HALVINGS = 60  # attempts to find a point at which a guard that begins at zero has not crossed
_RETREATS = 10  # attempts nearer to the start of the bracket, where a step has no solution
_SLOW = 3  # points in a row that have not halved the bracket, after which it is bisected


@dataclass
class End:
    """The step ended at a time: the guard, and the state."""

    t: float
    gamma: float
    X: np.ndarray


class Crossing:
    """A guard along the end of the present step of a run; `ends`, between which a method is to end it by itself."""

    def __init__(self, driver: Driver, guard: int):
        self.driver, self.guard, self.X, self._begun = driver, guard, driver.ws.X, driver.stepper.iterations

    def count(self) -> None:
        """It is found: count it, and what it took."""
        self.driver.counters["locations"] += 1
        self.driver.counters["location_iterations"] += self.driver.stepper.iterations - self._begun

    def __call__(self) -> tuple[float, np.ndarray, np.ndarray, float]:
        """The guard at what stands in the workspace: value, columns and entries of its gradient, slope in time."""
        Z, system = self.driver.Z, self.driver.system
        return system.switching.value(self.guard)(Z), *system.system.guard_row(self.guard)(Z)

    def locate(self, begun: float, end: float, before: float, after: float, X0: np.ndarray) -> float:
        """The time at which the step from `begun`, with the state `X0`, to `end` has to end, whose state it leaves in
        the workspace; `before` and `after` are the guard at the two ends.

        It is an EventError if the guard jumps over zero, a ConvergenceError if there is no solution on the way.
        """
        side, full = np.sign(after), end - begun
        low, high = End(begun, before, X0), End(end, after, self.X.copy())
        if before * side >= -numerics.GUARD_ZERO * abs(after):  # it begins at zero but for round-off, maybe across
            # a limit is left where its rate is zero: there the sign of the guard's speed is round-off
            least = numerics.TOUCHING * abs(after) / full
            self.X[:], self.driver.Z[-1] = X0, begun
            leaves = self.driver.instant.rates([self.guard])[0] * side <= least
            near = self._near_side(low, high, side) if leaves else None
            if near is None and before * side >= 0:
                return self._end(low)
            low = near or low
        if (found := self.ended_at_zero(low, high)) is not None:
            return found
        last: list[End] = [low, high] if abs(low.gamma) > abs(high.gamma) else [high, low]
        slow, step = 0, np.inf
        for _ in range(_ITERATIONS):
            width = high.t - low.t
            t, best = interpolated(last), last[-1]
            if slow >= _SLOW or not low.t < t < high.t:
                t, slow = 0.5 * (low.t + high.t), 0
            if not low.t < t < high.t:
                break
            point = self._between(t, low, last)
            last = [*last[-2:], point]
            ahead, rise = point.t - best.t, point.gamma - best.gamma
            zero = abs(point.gamma * ahead) <= numerics.TIME_ROUND_OFF * abs(end * rise)
            if point.gamma == 0 or (zero and abs(ahead) > numerics.NEAR_A_ZERO * full):  # of which kind?
                after_it = self._between(t + numerics.BESIDE_A_ZERO * (high.t - t), point, [low, point])
                if after_it.gamma * side > 0:
                    return self._end(point)
                point = after_it
            speed = (point.gamma - best.gamma) / (point.t - best.t)
            low, high = (low, point) if point.gamma * side > 0 else (point, high)
            slow = slow + 1 if high.t - low.t > 0.5 * width else 0
            if speed * side <= 0:  # near a zero that is crossed the other way, if near any
                slow = _SLOW
                continue
            step, before_it = abs(point.gamma / speed), step
            stalls = step > before_it / 4  # round-off: of the time, of the state, or of the guard's own terms
            if abs(point.gamma) < numerics.NEAR_A_ZERO * abs(after) and (
                    step <= numerics.TIME_ROUND_OFF * abs(end) or (stalls and step <= self._known(speed, full))):
                return point.t
        self._end(high)
        if self.driver.visible(np.array([self.guard]), np.array([high.gamma]), anew=True)[0]:
            raise EventError(f"the crossing of {self.driver.system.switching.guards[self.guard]} cannot be located: "
                             f"it jumps from {low.gamma:.4g} to {high.gamma:.4g} (a smaller step may not)", t=high.t)
        return high.t

    def ended_at_zero(self, low: End, high: End) -> float | None:
        """The time, and the state in the workspace, if the method ends the step there by itself: see :meth:`locate`."""
        self.ends, t, rate = (low, high), interpolated([low, high]), (high.X - low.X) / (high.t - low.t)
        self.X[:] = low.X + (t - low.t) * rate
        found = self.driver.stepper.end_at_zero(t, self, low.t, high.t, np.sign(high.gamma))
        if found is not None:
            self.driver.end_at(found, solved=True)
        return found

    def _end(self, point: End) -> float:
        self.X[:] = point.X
        self.driver.end_at(point.t)
        return point.t

    def _known(self, speed: float, full: float) -> float:
        """Seconds by which the zero in a step of length `full` may be uncertain, for the speed of the guard (1/s)."""
        _, columns, gradient, _ = self()
        noise = np.abs(gradient) @ (numerics.GUARD_TERMS * np.abs(self.X[columns]) + self.driver.ws.noise[columns])
        return max(numerics.LOCATION * full, min(numerics.NOISY_LOCATION * full, float(noise) / abs(speed)))

    def _near_side(self, low: End, high: End, side: float) -> End | None:
        """A point between the two at which the guard has not crossed, if there is one."""
        t = high.t
        for _ in range(_HALVINGS):
            t = 0.5 * (low.t + t)
            if not low.t < t:
                break
            point = self._between(t, low, [low, high])
            if point.gamma * side < 0:
                return point
            if point.gamma == high.gamma:  # it does not move
                break
        return None

    def _between(self, t: float, low: End, last: list[End]) -> End:
        """End the step at `t`, or nearer to the start of the bracket where there is no solution."""
        for attempt in range(_RETREATS):
            a, b = last[-2:]
            self.X[:] = b.X + (t - b.t) / (b.t - a.t) * (b.X - a.X)
            try:
                self.driver.end_at(t)
                break
            except ConvergenceError:
                if attempt == _RETREATS - 1:
                    raise
                t = low.t + (t - low.t) / 4
        return End(t, float(self.driver.gamma[self.guard]), self.X.copy())


def interpolated(last: list[End]) -> float:
    """Where the guard is zero by inverse interpolation through the last two or three points."""
    a, b = last[-2], last[-1]
    if len(last) == 3 and len({p.gamma for p in last}) == 3:
        c = last[0]
        return (a.t * (b.gamma / (a.gamma - b.gamma)) * (c.gamma / (a.gamma - c.gamma))
                + b.t * (a.gamma / (b.gamma - a.gamma)) * (c.gamma / (b.gamma - c.gamma))
                + c.t * (a.gamma / (c.gamma - a.gamma)) * (b.gamma / (c.gamma - b.gamma)))
    return b.t - b.gamma * (b.t - a.t) / (b.gamma - a.gamma) if a.gamma != b.gamma else np.nan
