"""A step of TR-BDF2, linearised: the two stages in sequence, and backwards.

    A1 dX1 = B1 dX0 + C1 dP + end1 dT+ - start1 dT,          A1 = m - c J1,  B1 = m + alpha h m J0
    A2 dX2 = m (a dX1 + (1 - a) dX0) + C2 dP + end2 dT+ - start2 dT,         A2 = m - c J2

with ``c = alpha h`` in differential rows and -1 elsewhere. The time of the stage is ``t + gamma h``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gridcore.integrate import Linearised, Point, StepOperator
from gridcore.linear import Newton, products
from gridcore.tape import Step

from .coefficients import ALPHA, GAMMA, A


class TrBdf2Operator(StepOperator):
    """Tangent and transpose of a step of TR-BDF2; `newton` iterates in the workspace of the points."""

    def __init__(self, record: Step, points: Linearised, newton: Newton):
        super().__init__(record, points)
        implicit = ALPHA * record.h
        self.p0, self.p2 = points.point(record.k), points.point(record.k + 1)
        self.p1 = self._stage(implicit, newton)
        self.of1 = points.coefficients(self.p2, implicit, implicit)
        self.of2 = points.coefficients(self.p2, implicit)
        self.lu1, self.lu2 = self.factors(self.p1, self.of1), self.factors(self.p2, self.of2)

    def _stage(self, implicit: float, newton: Newton) -> Point:
        """The stage, which is not on the tape, solved again: from where the second formula says that it was."""
        points, record, m = self.points, self.record, self.p2.differential
        X0, X2 = points.state(record.k), points.state(record.k + 1)
        known, t1 = X0 + implicit * self.p0.F, self.p0.t + GAMMA * record.h
        guess = np.where(m, (X2 - (1 - A) * X0 - implicit * self.p2.F) / A, X0 + GAMMA * (X2 - X0))
        ws = points.load(guess, t1, self.p2.settings)
        ws.mass[:] = m
        ws.c[:] = np.where(m, implicit, -1.0)
        ws.base[:] = m * known
        newton.at(implicit)
        newton.solve()
        return points.inner(ws.X, t1, record.k)

    @cached_property
    def _slopes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """``start1, end1, start2, end2``, (n,) each."""
        m, c, p0, p1, p2 = self.of1.m, self.of1.c, self.p0, self.p1, self.p2
        phi1, phi2 = ALPHA * m * (p0.F + p1.F), ALPHA * m * p2.F
        return (phi1 - self.of1.early * p0.Ft - (1 - GAMMA) * c * p1.Ft, phi1 + GAMMA * c * p1.Ft,
                phi2, phi2 + c * p2.Ft)

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        """The tangent at the end of the step."""
        points, moves = self.points, dT0.any() or dT1.any()
        right = points.forward(self.of1, self.p0, self.p1, dX, dP)
        if moves:
            start1, end1, start2, end2 = self._slopes
            right += np.outer(dT1, end1) - np.outer(dT0, start1)
        dX1 = self.lu1.solve(right)
        right = points.forward(self.of2, self.p2, self.p2, A * dX1 + (1 - A) * dX, dP)
        if moves:
            right += np.outer(dT1, end2) - np.outer(dT0, start2)
        return self.lu2.solve(right)

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Adjoints of dX, dT0 and dT1 from that of the end; that of dP is added to `aP`."""
        points = self.points
        w2 = self.lu2.tsolve(np.array(adjoint, order="C"))
        a1 = points.transpose(self.of2, self.p2, self.p2, w2, aP)
        w1 = self.lu1.tsolve(A * a1)
        aX = (1 - A) * a1 + points.transpose(self.of1, self.p0, self.p1, w1, aP)
        if not (self.record.start or self.record.end):
            return aX, np.zeros(len(w1)), np.zeros(len(w1))
        start1, end1, start2, end2 = self._slopes
        return aX, -(products(w1, start1) + products(w2, start2)), products(w1, end1) + products(w2, end2)
