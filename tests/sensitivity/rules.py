"""What a step of the oracle is: residual and Jacobian of its end. See :mod:`oracle`, and docs/sensitivities.md."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from equations import Equations

Residual = Callable[[np.ndarray, np.ndarray], np.ndarray]


def matrix(e: Equations, implicit: float) -> np.ndarray:
    """``I - implicit F_X`` in differential rows, ``F_X`` in the others, at the present state."""
    F = e.jacobian(e.F, np.arange(e.n))
    return np.where(e.differential()[:, None], np.eye(e.n) - implicit * F, F)


class ThetaRule:
    """The theta method; `end_weight` of integrals is theta, too."""

    def __init__(self, theta: float):
        self.end_weight = theta

    def residual(self, e: Equations, Z0: np.ndarray, t0: np.ndarray) -> Residual:
        """The step from (Z0, t0) as a function of where it ends."""
        theta, n, f0, m = self.end_weight, e.n, e.F(Z0, t0), e.differential()[:, None]

        def R(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            F = e.F(Z, t)
            return np.where(m, Z[:n] - Z0[:n] - (t - t0) * ((1 - theta) * f0 + theta * F), F)

        return R

    def jacobian(self, e: Equations, t0: np.ndarray) -> np.ndarray:
        """Of this residual at the present state."""
        return matrix(e, (e.t - t0)[0].real * self.end_weight)


class TrBdf2Rule:
    """TR-BDF2: the trapezoidal rule to a stage, and the second backward differentiation formula to the end."""

    end_weight = 0.5
    gamma = 2 - 2**0.5

    def residual(self, e: Equations, Z0: np.ndarray, t0: np.ndarray) -> Residual:
        """The step from (Z0, t0) as a function of where it ends; the stage is solved on complex numbers, too."""
        n, f0, m, alpha, a = e.n, e.F(Z0, t0), e.differential()[:, None], self.gamma / 2, 1 / (
            self.gamma * (2 - self.gamma))
        stages: dict[bytes, np.ndarray] = {}

        def stage(t: np.ndarray) -> np.ndarray:
            """The state at ``t0 + gamma (t - t0)``, where the step ends at `t`."""
            keep, h = (e.Z, e.t), t - t0
            e.Z, e.t = Z0.copy(), t0 + self.gamma * h

            def R(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
                F = e.F(Z, t)
                return np.where(m, Z[:n] - Z0[:n] - alpha * h * (f0 + F), F)

            try:
                e.newton(R, np.arange(n), lambda: matrix(e, alpha * h[0].real))
                return e.Z[:n]
            finally:
                e.Z, e.t = keep

        def R(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            if t.tobytes() not in stages:
                stages.clear()
                stages[t.tobytes()] = stage(t)
            F = e.F(Z, t)
            return np.where(m, Z[:n] - a * stages[t.tobytes()] - (1 - a) * Z0[:n] - (t - t0) * alpha * F, F)

        return R

    def jacobian(self, e: Equations, t0: np.ndarray) -> np.ndarray:
        """Of this residual at the present state."""
        return matrix(e, (e.t - t0)[0].real * self.gamma / 2)
