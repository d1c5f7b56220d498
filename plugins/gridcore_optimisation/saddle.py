"""How far a trajectory passes from the boundary of stability, and how that moves with a parameter.

Close to the boundary a trajectory lingers at a saddle, where one real eigenvalue is positive; its left eigenvector w
measures on which side of the boundary the trajectory passes. Near the saddle ``x' = A (x - x_u)``, so ``w x' = lambda
w (x - x_u)`` needs no saddle to be known, and with S the sensitivity of the state in a parameter,

    M = w x',   dM/dp = lambda w S,   p_critical = p - w x' / (lambda w S)

Both grow by e^(lambda t) where the linearisation holds, and Newton's step is the same at all points there: the first
point at which it is stationary in time is taken. As p comes closer, the trajectory stays longer at the saddle, and what
disturbs the estimate has longer to die out: each step gains more digits than the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gridcore.linear import SingularMatrix

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.linear import Factors
    from gridcore.results import Run

_ROUNDS = 12  # of Rayleigh's iteration, which needs three or four from a good guess
_POINTS = 160  # of a run, at most, at which the eigenvalue is looked for
_SETTLED = 1e-6  # change of an eigenvalue, relative, after which its error, the cube of that, is round-off
_SLOWEST = 0.05  # 1/s: what grows more slowly is no loss of synchronism


@dataclass(frozen=True)
class Passage:
    """A point of a run near a saddle.

    Attributes
    ----------
    k : int
        Of the point.
    eigenvalue : float
        The positive one (1/s).
    left : (n,) array
        Its left eigenvector, of the differential and the algebraic equations.
    measure, slope : float
        ``w x'``, and its derivative in the parameter.
    """

    k: int
    eigenvalue: float
    left: np.ndarray
    measure: float
    slope: float

    @property
    def step(self) -> float:
        """Newton's step to where the measure is zero."""
        return -self.measure / self.slope


def passages(run: Run, tangents: np.ndarray, first: int, last: int) -> list[Passage]:
    """The passages of a run by saddles, between two of its points: of each swing at most one, the last first.

    Parameters
    ----------
    run : Run
    tangents : (points, n) array
        Derivatives of all variables in the parameter, at fixed times.
    first, last : int
        The points among which it is looked for.
    """
    system = run.system
    factors = system.system.factors()
    every = max(1, (last - first) // _POINTS)
    stretches: list[list[Passage]] = [[]]  # where there is such an eigenvalue, the last first
    for k in range(last, first, -every):  # backwards: later the sensitivity points along the eigenvector already
        if run.t[k - 1] == run.t[k]:
            continue  # just after a switch
        if not stretches[-1]:
            right = left = tangents[k]
            eigenvalue = _growth(run.t, tangents, k, every)
        Z = buffer(run, k)
        pair = _eigenpair(system, factors, Z, eigenvalue, right, left)
        if pair is None or pair[0] < _SLOWEST:
            if stretches[-1]:
                stretches.append([])
            continue
        eigenvalue, right, left = pair
        mass = system.differential(Z)
        slope = eigenvalue * float(left[mass] @ tangents[k, mass])
        stretches[-1].append(Passage(k, eigenvalue, left, float(left @ system.rhs(Z)), slope))
    return [p for stretch in stretches if (p := _stationary(stretch[::-1])) is not None]


def buffer(run: Run, k: int) -> np.ndarray:
    """(size,) Z at a point of a run: of few points less than all that the run has."""
    tape, n = run.tape, run.system.n
    Z = np.empty(run.system.layout.size)
    Z[:n], Z[n:-1], Z[-1] = tape.states.row(k), tape.settings[run.point_settings[k]], run.t[k]
    return Z


def _stationary(stretch: list[Passage]) -> Passage | None:
    """The first, in order of time, where Newton's step stands still."""
    slopes = np.diff([p.step for p in stretch])
    turns = np.flatnonzero(slopes[:-1] * slopes[1:] <= 0)
    return stretch[int(turns[0]) + 1] if len(turns) else None


def _growth(t: np.ndarray, tangents: np.ndarray, k: int, every: int) -> float:
    """Rate at which the sensitivity grows (1/s)."""
    before, after = np.linalg.norm(tangents[k - every]), np.linalg.norm(tangents[k])
    return float(np.log(after / before) / (t[k] - t[k - every])) if before > 0 and t[k] > t[k - every] else 1.0


def _eigenpair(system: Equilibrium, lu: Factors, Z: np.ndarray, eigenvalue: float, right: np.ndarray,
               left: np.ndarray) -> tuple[float, np.ndarray, np.ndarray] | None:
    """A real eigenvalue of the pencil ``F_X - lambda M`` near a guess, and its vectors, by Rayleigh's iteration."""
    J, mass = system.jacobian(Z), system.differential(Z).astype(float)
    diagonal = np.flatnonzero(J.indices == np.repeat(np.arange(system.n), np.diff(J.indptr)))
    for _ in range(_ROUNDS):
        if not np.isfinite(eigenvalue):
            return None
        shifted = J.data.copy()
        shifted[diagonal] -= eigenvalue * mass
        try:
            lu.refactor(shifted)
        except SingularMatrix:  # it is the eigenvalue
            eigenvalue *= 1 + 1e-12
            continue
        right, left = lu.solve(mass * right), lu.tsolve(mass * left)
        right, left = right / np.linalg.norm(right), left / np.linalg.norm(left)
        before, weight = eigenvalue, float(left @ (mass * right))
        if weight == 0:
            return None
        eigenvalue = float(left @ (J @ right)) / weight
        if abs(eigenvalue - before) < _SETTLED * max(1.0, abs(eigenvalue)):
            return eigenvalue, right, left
    return None
