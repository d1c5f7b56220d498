"""LU factors taken out of KLU, and solves with them for many right-hand sides at once.

KLU solves four at a time; the compiled loops take blocks of 32 or 24, so that an entry of a factor serves several
vector registers and loops over short columns end more rarely. Taking factors out costs less than a solve.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from gridcore.equations.native import Library, runtime

SOURCE = Path(__file__).with_name("many_rhs.c")
# Right-hand sides from which on taking factors out pays.
MANY = 16
# Of a block, and of one that is left over; with fewer, compilers unroll the loops over it instead of using vector
# registers.
_WIDE, _REST = 32, 24


class Factors(ctypes.Structure):
    """``P R⁻¹ A Q = L U + F`` as ``many_rhs.c`` takes it."""

    arrays = "Lp Li Lx Up Ui Ux Fp Fi Fx P Q Rs R".split()
    _fields_ = [("n", ctypes.c_long), ("n_blocks", ctypes.c_long),
                *((name, ctypes.c_void_p) for name in (*arrays, "work"))]


def loops() -> dict[str, list[Any]]:
    """The compiled solve and its transpose, in wide blocks and for a rest; empty where there is no compiler.

    KLU's own are faster than Python.
    """
    blocks = [runtime().functions(SOURCE, "many", f"#define WIDE {wide}\n", solve="lpp", tsolve="lpp")
              for wide in (_WIDE, _REST)]
    return {name: [each[name] for each in blocks] for name in ("solve", "tsolve")} if all(blocks) else {}


class Triangular:
    """``P R⁻¹ A Q = L U + F``: L and U block-diagonal, F what is above their blocks.

    T. A. Davis and E. Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010, section 2.

    Parameters
    ----------
    compiled : dict
        Of :func:`loops`.
    n, n_blocks : int
    entries : (int, int, int)
        Numbers of entries of L, U and F.
    """

    def __init__(self, compiled: dict[str, list[Any]], n: int, n_blocks: int, entries: tuple[int, int, int]):
        self.entries = entries
        self._compiled = compiled
        factors = []
        for count in entries:
            factors += [np.zeros(n + 1, np.int32), np.zeros(max(count, 1), np.int32), np.zeros(max(count, 1))]
        self._arrays = [*factors, np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n), np.zeros(n + 1, np.int32)]
        self._work = np.zeros(_WIDE * n)
        self._factors = Factors(n, n_blocks, *(Library.place(array) for array in (*self._arrays, self._work)))
        self._place = ctypes.addressof(self._factors)

    def take(self, klu: Any, numeric: Any, symbolic: Any, common: Any) -> None:
        """Take the factors that KLU has now."""
        klu.extract(numeric, symbolic, *self._arrays, common)

    def solve(self, b: np.ndarray) -> None:
        """``A x = b`` for each row of `b`, (count, n), in place."""
        self._in_blocks("solve", b)

    def tsolve(self, b: np.ndarray) -> None:
        """``Aᵀ x = b`` for each row of `b`, (count, n), in place."""
        self._in_blocks("tsolve", b)

    def _in_blocks(self, name: str, b: np.ndarray) -> None:
        wide, rest = self._compiled[name]
        left = len(b) % _WIDE
        if left > _REST:
            left = 0
        if left < len(b):
            wide(len(b) - left, self._place, Library.place(b))
        if left:
            rest(left, self._place, Library.place(b[-left:]))
