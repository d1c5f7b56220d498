"""A theta step, linearised.

    A dX+ = B dX + C dP + end dT+ - start dT

With ``m`` the differential rows and ``c = h theta`` there, -1 elsewhere:
``A = m - c J+``, ``B = m + h (1 - theta) m J``, ``C = h (1 - theta) m Fp + c Fp+``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gridcore.integrate import Linearised, StepOperator
from gridcore.linear import products
from gridcore.tape import Step


class ThetaOperator(StepOperator):
    """Tangent and transpose of a theta step."""

    def __init__(self, record: Step, points: Linearised, theta: float):
        super().__init__(record, points)
        self.theta = theta
        self.p0, self.p1 = points.point(record.k), points.point(record.k + 1)
        self.of = points.coefficients(self.p1, record.h * theta, record.h * (1 - theta))
        self.lu = self.factors(self.p1, self.of)

    @cached_property
    def phi(self) -> np.ndarray:
        """Slope of the step's differential equations in its length, (n,)."""
        return self.of.m * ((1 - self.theta) * self.p0.F + self.theta * self.p1.F)

    @cached_property
    def start(self) -> np.ndarray:
        """Less the slope of the step's equations in the time of its start, (n,)."""
        return self.phi - self.of.early * self.p0.Ft

    @cached_property
    def end(self) -> np.ndarray:
        """Their slope in the time of its end, (n,)."""
        return self.phi + self.of.c * self.p1.Ft

    def forward(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        return self.lu.solve(self.right(dX, dP, dT0, dT1))

    def right(self, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> np.ndarray:
        """What ``A dX+`` is equal to."""
        right = self.points.forward(self.of, self.p0, self.p1, dX, dP)
        if dT0.any():
            right -= np.outer(dT0, self.start)
        if dT1.any():
            right += np.outer(dT1, self.end)
        return right

    def transpose(self, adjoint: np.ndarray, aP: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        record, w = self.record, self.lu.tsolve(adjoint.copy())
        aX = self.points.transpose(self.of, self.p0, self.p1, w, aP)
        still = np.zeros(len(w))
        return aX, -products(w, self.start) if record.start else still, products(w, self.end) if record.end else still

    def slope(self) -> np.ndarray:
        return self.lu.solve(self.end.copy())
