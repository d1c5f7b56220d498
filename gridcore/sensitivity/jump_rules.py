"""Jump rules: how a sensitivity crosses an event. ``discrete`` is exact for the program; others come from plugins.

A rule is asked at each step, and on either side of each switch; `moving` says whether a point moves with its
clock under it, or stays at its time. Registered by ``register_jump_rules``.
"""

from __future__ import annotations

import numpy as np

from ..integrate import Linearised, StepOperator
from ..linear import products
from ..tape import GRID
from .operators import crossing


class Discrete:
    """The exact derivative of the located event: moving events stretch the steps beside them.

    docs/sensitivities.md: a located point solves the equations of its step and its guard together; the derivative of
    both carries the sensitivity, and the steps before and after keep their dependence on its time.
    """

    name = "discrete"
    moving = True

    def step(self, operator: StepOperator, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray,
             dT1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dX+ and dT+ of a step; `dT1` is the tangent of its end's clock where that is known already.

        A step that ends where its guard is zero has ``gamma_X dX+ + gamma_t dT+ + gamma_p dP = 0`` besides its
        equations: its end moves by dT+, and along its slope.
        """
        if operator.record.guard < 0:
            return operator.forward(dX, dP, dT0, dT1), dT1
        slope = operator.slope()
        in_x, in_p, across = crossing(operator.points, operator.record, slope)
        u = operator.forward(dX, dP, dT0, np.zeros_like(dT0))
        dT1 = -(products(u, in_x) + products(dP, in_p)) / across
        return u + np.outer(dT1, slope), dT1

    def step_transpose(self, operator: StepOperator, aX: np.ndarray, aP: np.ndarray, aT1: np.ndarray
                       ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Adjoints of dX, dT and dT+ (what its clock has left); that of dP is added to `aP`."""
        if operator.record.guard < 0:
            bX, bT0, bT1 = operator.transpose(aX, aP)
            return bX, bT0, aT1 + bT1 if operator.record.end != GRID else aT1
        slope = operator.slope()
        in_x, in_p, across = crossing(operator.points, operator.record, slope)
        s = (aT1 + products(aX, slope)) / across
        aP -= np.outer(s, in_p)
        bX, bT0, _ = operator.transpose(aX - np.outer(s, in_x), aP)
        return bX, bT0, np.zeros_like(aT1)

    def shift(self, points: Linearised, k: int) -> np.ndarray | None:
        """dX/dT by which the state just before or after a switch is moved along its trajectory."""
        return None
