"""Anderson mixing: what corrections by factors of another matrix leave is made as small as it can be.

D. G. Anderson, J. ACM 12(4), 1965. For a linear system it is GMRES with these factors as the preconditioner (H. F.
Walker and P. Ni, SIAM J. Numer. Anal. 49(4), 2011): a row that has changed costs an iteration.
"""

from __future__ import annotations

import numpy as np

from ..equations import Workspace


class Mixing:
    """Steps of one iteration, from its corrections.

    Parameters
    ----------
    ws : Workspace
    more : int
        Unknowns beside those of the workspace.
    """

    def __init__(self, ws: Workspace, more: int = 0):
        self._runtime = runtime = ws.runtime
        depth, self._n = runtime.mixed, ws.n + more
        n = self._n
        self._weight, self._last, self._made = np.empty(n), np.empty(n), np.empty(n)
        self._arrays = [np.empty((depth, n)), np.empty((depth, n)), self._last, self._made, np.zeros((depth, depth))]
        self._places = [runtime.place(self._weight), *(runtime.place(array) for array in self._arrays)]
        self._depth, self._seen = depth, 0

    def begin(self, weight: np.ndarray) -> None:
        """An iteration begins; by `weight` the entries of corrections are compared."""
        self._weight[:], self._seen = weight, 0

    def mix(self, correction: np.ndarray) -> None:
        """Turn a correction into the step to make, in place."""
        row, many = (self._seen - 1) % self._depth if self._seen else -1, min(self._seen, self._depth)
        self._runtime.mix(self._n, row, many, *self._places, self._runtime.place(correction))
        self._seen += 1
