"""LU factors taken out of KLU, and solves with them for many right-hand sides at once.

KLU solves four at a time; the compiled loops take blocks of 32, so that an entry of a factor serves several vector
registers and loops over short columns end more rarely. Taking factors out costs less than a solve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..equations.native import Runtime


class Triangular:
    """``P R⁻¹ A Q = L U + F``: L and U block-diagonal, F what is above their blocks.

    T. A. Davis and E. Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010, section 2.

    Parameters
    ----------
    runtime : Native or Fallback
    n, n_blocks : int
    entries : (int, int, int)
        Numbers of entries of L, U and F.
    """

    def __init__(self, runtime: Runtime, n: int, n_blocks: int, entries: tuple[int, int, int]):
        self.entries = entries
        factors = []
        for count in entries:
            factors += [np.zeros(n + 1, np.int32), np.zeros(max(count, 1), np.int32), np.zeros(max(count, 1))]
        self._arrays = [*factors, np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n), np.zeros(n + 1, np.int32)]
        names = ("Lp", "Li", "Lx", "Up", "Ui", "Ux", "Fp", "Fi", "Fx", "P", "Q", "Rs", "R")
        self._runtime, self._handle = runtime, runtime.factors(
            n=n, n_blocks=n_blocks, **dict(zip(names, self._arrays, strict=True)), work=np.zeros(runtime.wide * n))

    def take(self, klu: Any, numeric: Any, symbolic: Any, common: Any) -> None:
        """Take the factors that KLU has now."""
        klu.extract(numeric, symbolic, *self._arrays, common)

    def solve(self, b: np.ndarray) -> None:
        """``A x = b`` for each row of `b`, (count, n), in place."""
        self._runtime.solve(len(b), self._handle, self._runtime.place(b))

    def tsolve(self, b: np.ndarray) -> None:
        """``Aᵀ x = b`` for each row of `b`, (count, n), in place."""
        self._runtime.tsolve(len(b), self._handle, self._runtime.place(b))
