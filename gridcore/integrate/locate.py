"""Where a step ends on an event: one bordered Newton for the state and the length of the step.

With the residual of the step ``R(X, h) = 0`` and the guard ``gamma(X, t + h) = 0``,

    [ A        -phi    ] [dX]     [ R     ]
    [ gamma_X  gamma_t ] [dh] = - [ gamma ],     phi = -dR/dh

is iterated to round-off. What it finds must be in the bracket between a length at which the guard has not crossed yet
and one at which it has, and the guard must cross there in the direction that was seen: where it has just been left at
zero, or is not monotone, there are zeros of the other kind. Otherwise the bracket is halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import ConvergenceError, EventError
from .round_off import visible

if TYPE_CHECKING:
    from .theta.step import Theta

_ITERATIONS = 20
_HALVINGS = 60
_RETREATS = 10
_ROUND_OFF = 4 * np.finfo(float).eps
_TOLERANCE = 1e-13
_FLOOR = 1e-9
_ZERO = 1e-9


def locate(stepper: Theta, t: float, h: float, guard: int, before: float, after: float) -> float:
    """Length of the step from `t` that ends where `guard` is zero; leaves the state there in the assembly.

    Parameters
    ----------
    stepper : Theta
        In the middle of a step whose full length `h` has been solved.
    before, after : float
        The guard's values at the two ends of the full step.

    Raises
    ------
    EventError
        If the guard jumps over zero: names it.
    ConvergenceError
        If the equations have no solution on the way there.
    """
    system, assembly, full = stepper.system, stepper.system.assembly, h
    low, high, X_low, X_high = 0.0, h, stepper.path.X0, assembly.X.copy()
    side, below, above = np.sign(after), before, after
    # from zero, or what is zero but for round-off, the crossing is looked for from the far end
    fraction = before / (before - after) if abs(before) > _ZERO * abs(after) else 1.0
    guess, X = fraction * h, X_low + fraction * (X_high - X_low)
    for _ in range(_HALVINGS):
        assembly.X[:] = X
        found = _newton(stepper, t, guess, guard, (low, high), full, side)
        if found is not None:
            return found
        if high - low < 1e-15 * full:
            break
        guess = _solve_between(stepper, t, low, high, X_low, X_high)
        X, value = assembly.X.copy(), system.switching.values(assembly.Z)[guard]
        if np.sign(value) == side:
            high, X_high, above = guess, X, value
        else:
            low, X_low, below = guess, X, value
    assembly.X[:] = X_high
    stepper.solve(t, high)
    if np.sign(below) == side or not visible(stepper.newton, np.array([guard]), np.array([above]))[0]:
        return high  # it began there, across by round-off
    raise EventError(f"the crossing of {system.switching.guards[guard]} cannot be located: it jumps from {below:.4g} "
                     f"to {above:.4g}", t=t + high)


def _solve_between(stepper: Theta, t: float, low: float, high: float, X_low: np.ndarray, X_high: np.ndarray) -> float:
    """Solve a step that ends halfway between two lengths, or nearer to the first; returns its length."""
    part = 0.5
    for attempt in range(_RETREATS):
        guess = low + part * (high - low)
        stepper.system.assembly.X[:] = X_low + part * (X_high - X_low)
        try:
            stepper.solve(t, guess)
            break
        except ConvergenceError:
            if attempt == _RETREATS - 1:
                raise
            part /= 4
    return guess


def _newton(stepper: Theta, t: float, h: float, guard: int, bracket: tuple[float, float], full: float,
            side: float) -> float | None:
    """Length of the step at a zero of the guard, from the state in the assembly; None where none is found."""
    system, newton, (low, high) = stepper.system, stepper.newton, bracket
    assembly, row = system.assembly, system.guard_row(guard)
    margin, last, least = 0.1 * (high - low), np.inf, np.inf
    for _ in range(_ITERATIONS):
        both = stepper.prepare(t, h)
        try:
            newton.factor(alike=True)  # the iteration itself tells whether the factors are good
        except ConvergenceError:
            return None
        v, u = newton.lu.solve(both)
        gamma = system.switching.values(assembly.Z)[guard]
        columns, gradient, gamma_t = row(assembly.Z)
        slope = gamma_t + gradient @ v[columns]
        if slope == 0 or not np.isfinite(slope):
            return None
        dh = -(gamma + gradient @ u[columns]) / slope
        small = stepper.path.move(u, v, dh)
        h += dh
        newton.iterations += 1
        if not low - margin <= h <= high + margin:
            return None
        # a guard is known to the round-off of its terms only, and with it the instant: there corrections stop shrinking
        noise = _ROUND_OFF * (np.abs(gradient) @ np.abs(assembly.X[columns])) / abs(slope) if abs(dh) >= last / 2 else 0
        last = abs(dh)
        # likewise the state where gains are high: what no longer shrinks is round-off
        stalled, least = small <= _FLOOR and small > 0.2 * least, min(least, small)
        if (stalled and last <= _FLOOR * full) or (
                small <= _TOLERANCE and last <= max(_TOLERANCE * full, 1e-16 * abs(t), noise)):
            assembly.Z[-1] = t + h
            # another crossing, near the bracket but outside, or another way, is not the one that was seen
            inside = low - _ZERO * full <= h <= high + _ZERO * full
            return h if inside and slope * side > 0 else None
    return None
