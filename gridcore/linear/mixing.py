"""Anderson mixing: what corrections by factors of another matrix leave is made as small as it can be.

D. G. Anderson, J. ACM 12(4), 1965. For a linear system it is GMRES with these factors as the preconditioner (H. F.
Walker and P. Ni, SIAM J. Numer. Anal. 49(4), 2011): a row that has changed costs an iteration.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import numerics
from ..equations import Workspace


class Mixing:
    """Steps of one iteration, from its corrections; of so many `more` unknowns beside those of a workspace."""

    def __init__(self, ws: Workspace, more: int = 0):
        self._runtime: Any = ws.runtime
        self._depth, self._seen, self._n = ws.runtime.mixed, 0, ws.n + more
        square, rows, row = (self._depth, self._depth), (self._depth, self._n), self._n
        # weight, steps with the changes that they brought, changes weighted, last correction, last step, products
        self._arrays = [np.zeros(shape) for shape in (row, rows, rows, row, row, square)]
        self._places: Any = [ws.runtime.place(array) for array in self._arrays]

    def begin(self, size: np.ndarray, *more: float) -> Self:
        """An iteration begins; entries of corrections are compared as parts of the sizes of X, and of what is more."""
        weight, self._seen = self._arrays[0], 0
        np.divide(1.0, size, out=weight[: len(size)])
        weight[len(size):] = np.divide(1.0, more)
        return self

    def mix(self, correction: np.ndarray) -> None:
        """Turn a correction into the step to make, in place."""
        row, many = (self._seen - 1) % self._depth if self._seen else -1, min(self._seen, self._depth)
        self._runtime.mix(self._n, row, many, numerics.ROUND_OFF, *self._places, self._runtime.place(correction))
        self._seen += 1
