"""Where a step begins, and where the last ones lead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridcore.equations import Workspace

_SLOPES = 3
_NONE = (0.0,) * _SLOPES


class Predictor:
    """The start of the present step, and divided differences of those before.

    Attributes
    ----------
    X0, f0 : (n,) arrays
        Variables and right-hand side at the start of the step.
    """

    def __init__(self, ws: Workspace):
        self.ws = ws
        self.X0, self.f0 = np.zeros(ws.n), np.zeros(ws.n)
        self._slopes, self._first = np.zeros((_SLOPES, ws.n)), np.zeros(ws.n)
        self._rows = list(range(_SLOPES))  # of the slopes, the latest first
        self._lengths: list[float] = []
        self._runtime, place = ws.runtime, ws.runtime.place
        self._start = (place(self.X0), place(self.f0))
        self._places = [place(slope) for slope in self._slopes]  # the latest first

    def forget(self) -> None:
        """What was before says nothing of what follows."""
        self._lengths.clear()

    def begin(self, t: float, h: float, theta: float) -> None:
        """Begin a step of length `h` to time `t`: its start is here, X moves to where the last four points lead in `h`,
        and its equations are set there, as :meth:`equations` does.
        """
        if theta == 1 and len(self._lengths) < _SLOPES - 1:  # whose steps do without it
            self.f0[:] = self.ws.rhs()
        known = weights(h, self._lengths)
        a1, a2, a3 = *known, *_NONE[len(known):]
        s1, s2, s3 = self._places
        self._runtime.begin(self.ws.plan, *self._start, s1, s2, s3, a1, a2, a3, t, h * theta, h * (1 - theta))

    @property
    def knows(self) -> bool:
        """Whether there are as many steps behind as an estimate of the error needs."""
        return len(self._lengths) >= _SLOPES - 1

    def local_error(self, h: float, theta: float) -> np.ndarray:
        """That of the present step of the theta method, of length `h`, in differential rows of (n,).

        By its slope and those of the two steps before it: :func:`error_weights`. After a start, where there are
        none, the step is compared with Euler's rule, which has more than its error. In the second step the trapezoidal
        rule knows more: the right-hand side at the start is the slope of a step of no length.
        """
        slope = (self.ws.X - self.X0) / h
        if len(self._lengths) < (1 if theta == 0.5 else _SLOPES - 1):
            return h * (slope - self.f0)
        before = [self._slopes[row] for row in self._rows[: len(self._lengths)]]
        a1, a2, a3 = error_weights(theta, (h, *self._lengths, 0.0)[:_SLOPES])
        return a1 * slope + a2 * before[0] + a3 * (before[1] if len(before) > 1 else self._first)

    def equations(self, h: float, theta: float) -> None:
        """Set the equations of a step of length `h`, where the workspace's mass says which are differential; leaves
        their residual in the workspace.
        """
        self._runtime.equations(self.ws.plan, *self._start, h * theta, h * (1 - theta))

    def end(self, h: float) -> None:
        """Remember a step of length `h` that has been made."""
        if not self._lengths:
            self._first[:] = self.f0
        self._rows.insert(0, self._rows.pop())
        self._places.insert(0, self._places.pop())
        self._lengths = [h, *self._lengths[: _SLOPES - 1]]
        self._runtime.end(self.ws.plan, self._start[0], self._places[0], h)


def weights(h: float, lengths: Sequence[float]) -> tuple[float, ...]:
    """Of the slopes of the last steps, the latest first: ``sum(weight slope)`` is how far `h` leads on the polynomial
    through their ends; `lengths` (three at most) are theirs.
    """
    if not lengths:
        return ()
    if len(lengths) == 1:
        return (h,)
    h1, h2 = lengths[0], lengths[1]
    second = h * (h + h1) / (h1 + h2)
    if len(lengths) == 2:
        return h + second, -second
    h3 = lengths[2]
    third = h * (h + h1) * (h + h1 + h2) / (h1 + h2 + h3)
    a, b = third / (h1 + h2), third / (h2 + h3)
    return h + second + a, -second - a - b, b


def error_weights(theta: float, lengths: Sequence[float]) -> tuple[float, float, float]:
    """Of the slopes of the last three steps, the latest first: ``sum(weight slope)`` is the local error of the latest.

    It is ``(1/2 - theta) h^2 x^(2) + (1/6 - theta/2) h^3 x^(3)``, divided differences taken for the derivatives. With
    theta = 1/2 that is a twelfth of the error of a predictor of the same order, which is Milne's device (Hairer,
    Norsett & Wanner 1993, section III.8).
    """
    h1, h2, h3 = lengths
    second, third = (1 - 2 * theta) * h1 * h1, (1 - 3 * theta) * h1**3 / (h1 + h2 + h3)
    first, last = (second + third) / (h1 + h2), third / (h2 + h3)
    return first, -first - last, last
