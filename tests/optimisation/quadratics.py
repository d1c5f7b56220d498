"""Measures with closed forms: what a solver finds can be checked without a simulation."""

from __future__ import annotations

import numpy as np

import gridcore as gc

SYSTEM = gc.build("swing")
NAMES = ["SWING.Pm", "SWING.H", "SWING.D"]
START = np.array([SYSTEM.Z0[SYSTEM.layout.address(name)] for name in NAMES])


def read(system, parameters):
    """The parameters of a trial system."""
    return np.array([system.Z0[system.layout.address(name)] for name in parameters])


class Quadratic:
    """``(x - centre)' Q (x - centre) / 2``."""

    def __init__(self, centre, Q=None):
        self.centre, self.Q = np.asarray(centre, dtype=float), np.eye(len(centre)) if Q is None else np.asarray(Q)
        self.calls = 0

    def value_and_gradient(self, system, parameters):
        self.calls += 1
        apart = read(system, parameters) - self.centre
        return 0.5 * apart @ self.Q @ apart, self.Q @ apart


class Linear:
    """``A x``."""

    def __init__(self, A, names=()):
        self.A, self.names = np.atleast_2d(A), list(names)

    def value_and_gradient(self, system, parameters):
        return self.A @ read(system, parameters), self.A


class Wall(Quadratic):
    """A quadratic that has no value beyond a wall: ``normal' x > height``."""

    def __init__(self, centre, normal, height):
        super().__init__(centre)
        self.normal, self.height = np.asarray(normal, dtype=float), height
        self.hits = 0

    def value_and_gradient(self, system, parameters):
        if self.normal @ read(system, parameters) > self.height:
            self.hits += 1
            raise gc.errors.ConvergenceError("nothing behind the wall", place="SWING", t=0.3)
        return super().value_and_gradient(system, parameters)
