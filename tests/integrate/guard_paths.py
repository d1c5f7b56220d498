"""Guards along paths that are given by formulas, in place of a driver: a run of a system costs far more."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np

from gridcore.errors import ConvergenceError
from gridcore.integrate.first import first, first_by_itself
from gridcore.integrate.locate import Crossing

BEGUN, END = 0.5, 0.625


class Path:
    """What :class:`Crossing` and :func:`first` ask of a driver, whose guards are functions of time and whose state is
    the time. `terms` is the size of the terms of guards; `rate` their speed at the start, which costs a solution and is
    asked of those that begin at zero. At the times that are `unsolved` a step has no solution; values up to the
    `resolution` are round-off; `by_itself` is what the method says that is asked to end its step at a zero; `late` is
    how late guards come after an event of the same instant.
    """

    def __init__(self, *functions, terms=0.0, rate=None, unsolved=lambda t: False, resolution=0.0, targets=None,
                 by_itself=lambda *step: None, late=None):
        self.functions, self.unsolved, self.times, self.resolution = functions, unsolved, [], resolution
        self.ws, self.Z, self.gamma, self.t = SimpleNamespace(X=np.ones(1), noise=np.zeros(1)), np.ones(3), None, None
        self.counters = Counter()
        self.stepper = SimpleNamespace(end_at_zero=by_itself, iterations=0)
        self.instant = SimpleNamespace(rates=lambda guards: self.at(self.begun, np.array([rate])), apart=late,
                                       lateness=lambda guards: self.at(self.begun, np.array(late)[guards]))
        self.watch = SimpleNamespace(fired=self.fired)
        switching = SimpleNamespace(
            values=lambda Z: self.values(Z[-1]), value=lambda guard: lambda Z: functions[guard](Z[-1]), guards="GHIJ",
            targets=lambda guard: targets[guard] if targets else frozenset())
        self.system = SimpleNamespace(switching=switching, system=SimpleNamespace(
            guard_row=lambda guard: lambda Z: (np.array([0]), terms / self.ws.X, 0.0)))

    def bisect(self, t, guard, low, high, side):
        """What a method does that ends its step at a zero by itself."""
        for _ in range(100):
            self.ws.X[:] = self.Z[-1] = middle = (low + high) / 2
            low, high = (low, middle) if guard()[0] * side > 0 else (middle, high)
        return high

    def values(self, t):
        return np.array([float(function(t)) for function in self.functions])

    def at(self, t, found):
        """What is found at a time, where the path is."""
        assert self.ws.X[0] == self.Z[-1] == t
        return found

    def fired(self, gamma):
        """Guards that are on another side than at the start."""
        return np.flatnonzero(self.before * gamma <= 0)

    def visible(self, guards, values, relative=False, anew=False):
        return np.abs(values) > self.resolution

    def end_at(self, t, solved=False):
        assert self.begun <= t <= self.end
        if not solved:
            np.testing.assert_allclose(self.ws.X, t, rtol=1e-15)  # a guess, on the straight line through two points
            self.times.append(t)
        if self.unsolved(t):
            raise ConvergenceError("no solution")
        self.ws.X[:], self.Z[-1], self.gamma = t, t, self.values(t)

    def locate(self, begun=BEGUN, end=END):
        """The time at which the first guard crosses zero; the path is left there."""
        self.ws.X[:], self.Z[-1], self.begun, self.end = end, end, begun, end
        before, after = self.values(begun)[0], self.values(end)[0]
        found = Crossing(self, 0).locate(begun, end, before, after, np.array([begun]))
        assert self.Z[-1] == self.ws.X[0] == found
        return found

    def first(self, begun=BEGUN, end=END, by_itself=False):
        """The guard that crosses first, and when; the path is left there. By itself: -1 where that is not so simple."""
        self.t, self.begun, self.end, self.before, self.ws.X[:] = end, begun, end, self.values(begun), end
        self.end_at(end)
        if by_itself:
            guard = first_by_itself(self, begun, end, self.before, np.array([begun]))
        else:
            guard = first(self, begun, self.before, np.array([begun]), self.fired(self.gamma))
        assert self.Z[-1] == self.ws.X[0] == self.t
        np.testing.assert_array_equal(self.gamma, self.values(self.t))
        return guard, self.t
