"""LU factors taken out of KLU, and solves with them for many right-hand sides at once.

KLU solves four at a time; ``runtime.c`` takes blocks of 32, so that an entry of a factor serves several vector
registers and loops over short columns end more rarely. Taking factors out costs less than a solve.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..equations.kernel import address

WIDE = 32  # of runtime.c


class _CFactors(ctypes.Structure):
    _fields_ = [("n", ctypes.c_long), ("n_blocks", ctypes.c_long),
                *((name, ctypes.c_void_p) for name in ("Lp", "Li", "Lx", "Up", "Ui", "Ux", "Fp", "Fi", "Fx", "P", "Q",
                                                       "Rs", "R", "work"))]


class Triangular:
    """``P R⁻¹ A Q = L U + F``: L and U block-diagonal, F what is above their blocks.

    T. A. Davis and E. Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010, section 2.

    Parameters
    ----------
    runtime : ctypes library
        With the compiled loops.
    n : int
    entries : (int, int, int)
        Numbers of entries of L, U and F.
    """

    def __init__(self, runtime: ctypes.CDLL, n: int, entries: tuple[int, int, int]):
        self.entries = entries
        parts: list[np.ndarray] = []
        for count in entries:
            parts += [np.zeros(n + 1, np.int32), np.zeros(max(count, 1), np.int32), np.zeros(max(count, 1))]
        self.arrays = [*parts, np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n), np.zeros(n + 1, np.int32)]
        self._work = np.zeros(WIDE * n)
        self._struct = _CFactors(n, 0, *(address(array) for array in self.arrays), address(self._work))
        self._pointer = ctypes.addressof(self._struct)
        for name in ("gc_solve", "gc_tsolve"):
            function = getattr(runtime, name)
            function.restype, function.argtypes = None, [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self._solve, self._tsolve = runtime.gc_solve, runtime.gc_tsolve

    def take(self, klu: Any, numeric: Any, symbolic: Any, common: Any) -> None:
        """Take the factors that KLU has now."""
        klu.extract(numeric, symbolic, *self.arrays, common)
        self._struct.n_blocks = symbolic.nblocks

    def solve(self, b: np.ndarray) -> None:
        """``A x = b`` for each row of `b`, (count, n), in place."""
        self._solve(len(b), self._pointer, address(b))

    def tsolve(self, b: np.ndarray) -> None:
        """``Aᵀ x = b`` for each row of `b`, (count, n), in place."""
        self._tsolve(len(b), self._pointer, address(b))
