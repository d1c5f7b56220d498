"""What errors of differential variables bring about in algebraic ones."""

from __future__ import annotations

import numpy as np

from gridcore.linear import Newton


def following(newton: Newton, error: np.ndarray) -> np.ndarray:
    """An error, (n,), of a step whose equations stand in the workspace: of algebraic variables it is what follows from
    those of the others, by the factors of the step, where `error` has no more of them. As the loops in C have it.
    """
    mass = newton.ws.mass
    followed = newton.lu.solve(mass * error)
    return np.where((mass > 0) | (np.abs(followed) < np.abs(error)), error, followed)
