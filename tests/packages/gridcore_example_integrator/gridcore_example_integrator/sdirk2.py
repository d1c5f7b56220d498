"""SDIRK2, the two-stage method of R. Alexander, SIAM J. Numer. Anal. 14(6), 1977: order two, L-stable.

    x1 = x0 + c f(x1),                       0 = g(x1)     at t + gamma h,     c = gamma h
    x2 = x0 + (1/gamma - 1)(x1 - x0) + c f(x2),   0 = g(x2)     at t + h

for (1 - gamma) h f(x1) = (1/gamma - 1)(x1 - x0). gamma = 1 is backward Euler.
"""

import math

import numpy as np

from gridcore.errors import CaseError
from gridcore.integrate import Advance, StepOperator, Stepper
from gridcore.linear import Newton


def solve(newton, known, c, t):
    """X with ``x = known + c f`` in differential rows and ``0 = g`` in the others, at time `t`; a guess is in ws.X."""
    ws = newton.ws
    ws.mass[:] = ws.differential
    ws.c[:] = np.where(ws.differential, c, -1.0)
    ws.base[:] = ws.mass * known
    ws.Z[-1] = t
    newton.solve()


class Sdirk2(Stepper):
    """Stepper of SDIRK2; the option `gamma` is of order two at 1 - 1/sqrt(2) only."""

    name = "sdirk2"
    order = 2

    def __init__(self, step: float, gamma: float = 1 - math.sqrt(0.5)):
        if not 0.25 <= gamma <= 1:
            raise CaseError(f"gamma = {gamma!r} must be from 0.25 to 1")
        self.gamma, self.newton = gamma, None

    def restart(self, ws, t):
        if self.newton is None or self.newton.ws is not ws:
            self.newton = Newton(ws)
        self.newton.renew()

    def advance(self, t, target):
        self.t0, self.X0 = t, self.newton.ws.X.copy()
        self.newton.forget()  # a step of another length: another matrix
        self.state_at(target)
        return Advance(target)

    def state_at(self, t):
        ws, c, end = self.newton.ws, self.gamma * (t - self.t0), self.newton.ws.X.copy()
        ws.X[:] = self.X0 + self.gamma * (end - self.X0)
        solve(self.newton, self.X0, c, self.t0 + c)
        known = self.X0 + (1 / self.gamma - 1) * (ws.X - self.X0)
        ws.X[:] = end
        solve(self.newton, known, c, t)

    def operator(self, record, points):
        return Sdirk2Operator(record, points, self.gamma)

    @property
    def counters(self):
        return self.newton.counters()


class Sdirk2Operator(StepOperator):
    """The two stages, linearised: in sequence, and backwards.

    A1 dX1 = m dX0 + C1 dP + end1 dT+ - start1 dT                       A = m - c J, C = c Fp
    A2 dX2 = m (dX0 + b (dX1 - dX0)) + C2 dP + end2 dT+ - start2 dT     b = 1/gamma - 1
    """

    def __init__(self, record, points, gamma):
        super().__init__(record, points)
        self.b, c = 1 / gamma - 1, gamma * record.h
        first, self.p2 = points.point(record.k), points.point(record.k + 1)
        X0, t1 = points.state(record.k), first.t + c
        ws = points.load(X0, t1, self.p2.settings)  # the stage is not on the tape: it is solved again
        solve(Newton(ws), X0, c, t1)
        self.p1 = points.inner(ws.X, t1, record.k)
        self.of = points.coefficients(self.p2, c)
        self.lu1, self.lu2 = self.factors(self.p1, self.of), self.factors(self.p2, self.of)
        m, c1 = self.of.m, self.of.c  # c, and -1 in algebraic rows
        f1, f2 = gamma * m * self.p1.F, gamma * m * self.p2.F
        self.start1, self.end1 = f1 - (1 - gamma) * c1 * self.p1.Ft, f1 + gamma * c1 * self.p1.Ft
        self.start2, self.end2 = f2, f2 + c1 * self.p2.Ft

    def forward(self, dX, dP, dT0, dT1):
        points, of, b = self.points, self.of, self.b
        moved = np.outer(dT1, self.end1) - np.outer(dT0, self.start1)
        dX1 = self.lu1.solve(points.forward(of, self.p1, self.p1, dX, dP) + moved)
        moved = np.outer(dT1, self.end2) - np.outer(dT0, self.start2)
        return self.lu2.solve(points.forward(of, self.p2, self.p2, b * dX1 + (1 - b) * dX, dP) + moved)

    def transpose(self, adjoint, aP):
        points, of, b = self.points, self.of, self.b
        w2 = self.lu2.tsolve(np.array(adjoint, order="C"))
        a1 = points.transpose(of, self.p2, self.p2, w2, aP)
        w1 = self.lu1.tsolve(b * a1)
        aX = (1 - b) * a1 + points.transpose(of, self.p1, self.p1, w1, aP)
        return aX, -(w1 @ self.start1 + w2 @ self.start2), w1 @ self.end1 + w2 @ self.end2
