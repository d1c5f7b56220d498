"""The jump rule ``continuous``: the formula of the continuous-time system."""

from __future__ import annotations

import numpy as np

from gridcore.integrate import Linearised, StepOperator
from gridcore.linear import products
from gridcore.sensitivity import Discrete, crossing
from gridcore.tape import Step


class Continuous(Discrete):
    """The jump formula of the continuous-time system: steps do not move, the state jumps instead.

    I. A. Hiskens, M. A. Pai, Trajectory sensitivity analysis of hybrid systems, IEEE Trans. CAS-I 47(2),
    2000; H. Zhang et al., Discrete adjoint sensitivity analysis of hybrid dynamical systems, 2017. At the trigger
    ``dT = -(gamma_X dX + gamma_p dp) / (gamma_t + gamma_X dX/dt)``, and at the switch
    ``dX+ = rho_X (dX + X'- dT) + rho_p dp - X'+ dT``.
    """

    name = "continuous"
    moving = False

    def step(self, operator: StepOperator, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray,
             dT1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        still = np.zeros_like(dT0)
        dX = operator.forward(dX, dP, still, still)
        if operator.record.guard < 0:
            return dX, dT1
        in_x, in_p, across = self.crossing(operator.points, operator.record)
        return dX, -(products(dX, in_x) + products(dP, in_p)) / across

    def step_transpose(self, operator: StepOperator, aX: np.ndarray, aP: np.ndarray, aT1: np.ndarray
                       ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        still = np.zeros_like(aT1)
        if operator.record.guard < 0:
            return operator.transpose(aX, aP)[0], still, aT1
        in_x, in_p, across = self.crossing(operator.points, operator.record)
        s = aT1 / across
        aP -= np.outer(s, in_p)
        return operator.transpose(aX - np.outer(s, in_x), aP)[0], still, still

    def shift(self, points: Linearised, k: int) -> np.ndarray | None:
        return points.slope(k)

    @staticmethod
    def crossing(points: Linearised, record: Step) -> tuple[np.ndarray, np.ndarray, float]:
        """At a step's end, of its guard: gamma_X, gamma_p, and the crossing speed ``gamma_t + gamma_X X'``."""
        return crossing(points, record, points.slope(record.k + 1))
