"""Every allocation of KLU fails in turn: run by ``test_allocations.py`` with ``allocations.c`` loaded first."""

from __future__ import annotations

import ctypes
import gc as garbage
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import gridcore as gc
from gridcore_klu.solver import KLU


class Allocations:
    """Those of nbklu's library, KLU included."""

    def __init__(self, shim: str):
        self._shim = ctypes.CDLL(shim)
        self._shim.allocations_arm.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_long]
        self._shim.allocations_count.restype, self._shim.allocations_held.restype = ctypes.c_long, ctypes.c_size_t
        where = [line.split()[0].split("-") for line in Path("/proc/self/maps").read_text().splitlines()
                 if "nbklu/_ext" in line]
        self._range = int(where[0][0], 16), int(where[-1][1], 16)

    def failing(self, at: int, work: Callable[[], Any]) -> tuple[Any, int]:
        """The result, or what is said, where allocation `at` fails; and how many there were."""
        self._shim.allocations_arm(*self._range, at)
        try:
            return work(), self._shim.allocations_count()
        except MemoryError as error:
            return f"MemoryError: {error}", self._shim.allocations_count()
        finally:
            self._shim.allocations_arm(0, 0, 0)

    def held(self) -> int:
        """Bytes that are allocated."""
        garbage.collect()
        return self._shim.allocations_held()


def solved(n: int, dtype: type) -> Callable[[], bytes]:
    """All that a solver does: analysis, factors, factors again, one and many right-hand sides."""
    rng = np.random.default_rng(1)
    A = sp.csc_array(sp.random_array((n, n), density=0.02, rng=rng) + sp.diags_array(rng.uniform(1, 2, n)))
    A.sort_indices()
    values, b = A.data.astype(dtype), rng.standard_normal((20, n)).astype(dtype)

    def work() -> bytes:
        factors = KLU().analyse(n, A.indptr, A.indices).factors(dtype)
        factors.factor(values)
        factors.refactor(1.1 * values)
        return b"".join(x.tobytes() for x in (factors.solve(b[:1].copy()), factors.solve(b.copy()),
                                              factors.tsolve(b.copy())))
    return work


def simulated() -> Callable[[], bytes]:
    """A run, and its adjoint."""
    system = gc.build("hiskens_pai")

    def work() -> bytes:
        run = gc.simulate(system, 0.2, 0.02)
        gradient = gc.adjoint(run, gc.Terminal(lambda v: v["HP", "x1"]), ["HP.p1"])
        return run.X.tobytes() + gradient.values.tobytes()
    return work


def main(shim: str) -> None:
    """Say what became of each, of each kind of work; that it works again; and what is held after a hundred more."""
    warnings.simplefilter("ignore")
    allocations = Allocations(shim)
    for name, work in (("float", solved(300, float)), ("complex", solved(300, complex)), ("run", simulated())):
        expected, _ = allocations.failing(0, work)
        _, count = allocations.failing(-1, work)
        said: Counter[str] = Counter()
        for at in range(1, count + 1):
            found, _ = allocations.failing(at, work)
            again, _ = allocations.failing(0, work)
            said[found if isinstance(found, str) else "right" if found == expected else "WRONG"] += 1
            said["works again" if again == expected else "BROKEN"] += 1
        before = allocations.held()
        for k in range(100):
            allocations.failing(1 + k % count, work)
        print(name, count, *(f"{number} {text}" for text, number in sorted(said.items())),
              (allocations.held() - before) // 100, sep="; ")


if __name__ == "__main__":
    main(sys.argv[1])
