"""What a step of the oracle is: residual and Jacobian of its end. See :mod:`oracle`, and docs/sensitivities.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from equations import Equations

Residual = Callable[[np.ndarray, np.ndarray], np.ndarray]


def matrix(e: Equations, implicit: float) -> np.ndarray:
    """``I - implicit F_X`` in differential rows, ``F_X`` in the others, at the present state."""
    F = e.jacobian(e.F, np.arange(e.n))
    return np.where(e.differential()[:, None], np.eye(e.n) - implicit * F, F)


class OnLines:
    """Values are on straight lines within steps, and integrals weigh their ends."""

    end_weight = 0.5

    def integral(self, t: list[np.ndarray], steps: set[int], k: int, r: np.ndarray) -> np.ndarray:
        """Of values `r` at points over the step that begins at point `k`, one of `steps`."""
        return (t[k + 1] - t[k]) * ((1 - self.end_weight) * r[k] + self.end_weight * r[k + 1])

    def sample(self, t: list[np.ndarray], steps: set[int], k: int, r: np.ndarray, time: float) -> np.ndarray:
        """The value at a time in that step."""
        s = (time - t[k]) / (t[k + 1] - t[k])
        return (1 - s) * r[k] + s * r[k + 1]


class ThetaRule(OnLines):
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


class TrBdf2Rule(OnLines):
    """TR-BDF2: the trapezoidal rule to a stage, and the second backward differentiation formula to the end."""

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


class BdfRule:
    """A backward differentiation formula: the polynomial through the points has at the end the slope of the equations.

    Its coefficients are those of Lagrange's polynomials, on complex times. `history` are the points (Z, t) before the
    start, latest first, since the last event; the oracle keeps it. With `start` = 2 the trapezoidal rule leads from the
    first of them, where there is no other that counts. The order is another from times of `changes` on, until an event.

    Values within a step are on the polynomial through its ends and the points beside it, by turns.
    """

    near, beside = 0.01, 0.1

    def __init__(self, order: int = 5, start: int = 1, changes: Sequence[tuple[float, int]] = ()):
        self.order, self.start, self.changes = order, start, changes
        self.history: list[tuple[np.ndarray, np.ndarray]] = []

    def points(self, t: list[np.ndarray], steps: set[int], k: int) -> list[int]:
        """Of the polynomial in the step from point `k`: none near to the one before, none behind what switched."""
        times, sides = [each[0].real for each in t], []
        for here, way in ((k, -1), (k + 1, 1)):
            side, last, h = list[int](), times[here], times[k + 1] - times[k]
            while h and len(side) < self.order - 1 and min(here, here + way) in steps:
                here += way
                if abs(times[here] - last) >= self.beside * h:
                    side.append(here)
                    last = times[here]
            sides.append([*side, *[-1] * self.order][: self.order])
        return [k, k + 1, *[each for pair in zip(*sides, strict=True) for each in pair if each >= 0][: self.order - 1]]

    def sample(self, t: list[np.ndarray], steps: set[int], k: int, r: np.ndarray,
               time: float | np.ndarray) -> np.ndarray:
        """The value at a time in the step from point `k`."""
        points, out = self.points(t, steps, k), 0.0
        for one in points:
            others = [each for each in points if each != one]
            out = out + np.prod([(time - t[each]) / (t[one] - t[each]) for each in others], axis=0) * r[one]
        return np.asarray(out)

    def integral(self, t: list[np.ndarray], steps: set[int], k: int, r: np.ndarray) -> np.ndarray:
        """Over the step from point `k`: by Gauss's rule, of one point more than it needs."""
        h = t[k + 1] - t[k]
        if not h[0].real:
            return h * (r[k] + r[k + 1]) / 2
        nodes, parts = np.polynomial.legendre.leggauss(4)
        return h / 2 * sum(part * self.sample(t, steps, k, r, t[k] + h * (1 + x) / 2)
                           for x, part in zip(nodes, parts, strict=True))

    def nodes(self, Z0: np.ndarray, t0: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """From which a step from (Z0, t0) is made, in as many columns as these have: none near to the one before."""
        out, gap = [(Z0, t0)], 0.0
        for Z, at in self.history[: self.order]:
            if len(out) > self.now(t0):
                break
            before = (out[-1][1] - at)[0].real
            if before > self.near * gap:
                gap = before
                out.append((Z, at) if Z.shape == Z0.shape else (Z[:, :1].real + 0j, at[:1].real + 0j))
        return out

    def now(self, t0: np.ndarray) -> int:
        """The order of a step that begins at `t0`."""
        began = self.history[-1][1] if self.history else t0
        return next((order for t, order in reversed(self.changes) if began[0].real < t <= t0[0].real), self.order)

    def parts(self, t: np.ndarray, nodes: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, list, bool]]:
        """Formulas, how much they count, and whether the slope does: that of all, and that without the second, where it
        is near.
        """
        t0, begins = nodes[0][1], self.start == 2 and len(self.history) == len(nodes) - 1 <= 1
        without = nodes[-1:] if begins else [nodes[0], *nodes[2:]][: self.now(t0)]
        if (t - t0)[0].real == 0:
            return [(np.ones_like(t), nodes[:1], False)]
        if len(nodes) == 1:
            return [(np.ones_like(t), without, begins)]
        u = (t0 - nodes[1][1]) / (t - t0) / self.near - 1
        if not 0 < u[0].real < 1:
            all_count = u[0].real > 0
            return [(np.ones_like(t), nodes[: self.now(t0)] if all_count else without, begins and not all_count)]
        part = u * u * (3 - 2 * u)
        return [(part, nodes[: self.now(t0)], False), (1 - part, without, begins)]

    @staticmethod
    def slopes(t: np.ndarray, times: list[np.ndarray]) -> list[np.ndarray]:
        """At t, of Lagrange's polynomials of t and `times`; the one of t comes first."""
        out = [sum(1 / (t - at) for at in times)]
        for at in times:
            others = [each for each in times if each is not at]
            out.append(np.prod([(t - each) / (at - each) for each in others], axis=0) / (at - t))
        return out

    def residual(self, e: Equations, Z0: np.ndarray, t0: np.ndarray) -> Residual:
        """The step from (Z0, t0) as a function of where it ends."""
        n, m, nodes = e.n, e.differential()[:, None], self.nodes(Z0, t0)

        def R(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            F, out = e.F(Z, t), 0.0
            for part, of, by_slope in self.parts(t, nodes):
                if len(of) == 1:
                    X, at = of[0]
                    out = out + part * (Z[:n] - X[:n] - (t - at) * ((F + e.F(X, at)) / 2 if by_slope else F))
                    continue
                own, *slopes = self.slopes(t, [at for _, at in of])
                slope = sum(w * at[:n] for w, (at, _) in zip(slopes, of, strict=True))
                out = out + part * (Z[:n] + (slope - F) / own)
            return np.where(m, out, F)

        return R

    def jacobian(self, e: Equations, t0: np.ndarray) -> np.ndarray:
        """Of this residual at the present state."""
        return matrix(e, sum(
            (part * ((e.t - of[0][1]) / (1 + by_slope) if len(of) == 1 else
                     1 / self.slopes(e.t, [at for _, at in of])[0]))[0].real
            for part, of, by_slope in self.parts(e.t, self.nodes(e.Z, t0))))


Rule = ThetaRule | TrBdf2Rule | BdfRule
