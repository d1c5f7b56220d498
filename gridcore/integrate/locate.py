"""Where a step ends on an event: one bordered Newton for the state and the length of the step.

With the residual of the step ``R(X, h) = 0`` and the guard ``gamma(X, t + h) = 0``,

    [ A        -phi    ] [dX]     [ R     ]
    [ gamma_X  gamma_t ] [dh] = - [ gamma ],     phi = -dR/dh

is iterated from the sign change to round-off; where it leaves the bracket, the bracket is halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import EventError
from .watch import JUMP

if TYPE_CHECKING:
    from .theta import Theta

_ITERATIONS = 20
_HALVINGS = 60
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
        If the crossing cannot be located (a grazing guard): names the guard.
    """
    system, assembly = stepper.system, stepper.system.assembly
    X0, X_end = stepper.path.X0, assembly.X.copy()
    low, high = 0.0, h
    # from zero, or what is zero but for round-off, the crossing is looked for from the far end
    fraction = before / (before - after) if abs(before) > max(_ZERO * abs(after), JUMP) else 1.0
    guess, X = fraction * h, X0 + fraction * (X_end - X0)
    for _ in range(_HALVINGS):
        assembly.X[:] = X
        found = _newton(stepper, t, guess, guard, low, high, h)
        if found is not None:
            return found
        guess = 0.5 * (low + high)
        assembly.X[:] = X0 + guess / h * (X_end - X0)
        stepper.solve(t, guess)
        X = assembly.X.copy()
        value = system.switching.values(assembly.Z)[guard]
        if np.sign(value) == np.sign(after):
            high = guess
        else:
            low = guess
        if high - low < 1e-15 * h:
            break
    if low == 0.0 and abs(before) <= JUMP:  # across ever since it began, at zero but for round-off
        return high
    raise EventError(f"the crossing of {system.switching.guards[guard]} cannot be located", t=t + guess)


def _newton(stepper: Theta, t: float, h: float, guard: int, low: float, high: float, full: float) -> float | None:
    system, newton = stepper.system, stepper.newton
    assembly, row = system.assembly, system.guard_row(guard)
    margin, last, least = 0.1 * (high - low), np.inf, np.inf
    for _ in range(_ITERATIONS):
        both = stepper.prepare(t, h)
        newton.factor(alike=True)  # the iteration itself tells whether the factors are good
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
            # another crossing, near the bracket but outside, is not the one that was seen
            return h if low - _ZERO * full <= h <= high + _ZERO * full else None
    return None
