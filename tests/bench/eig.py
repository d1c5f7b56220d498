"""Modes of 118 buses against one dense eigenvalue call, LAPACK's geev; and the least damped modes of a large system.

What `gridcore eig` computes once the system is built: linearisation, exact zeros, eigenvalues, both sets of
eigenvectors, participation, and its table. The call: with both sets of vectors, and of eigenvalues alone.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import scipy.linalg

import gridcore as gc

from .ratios import Ratio, best

TARGET = 2.0


def measure(rounds: int = 7) -> list[Ratio]:
    """All of it."""
    return [*against_dense(rounds), *of_a_large_system()]


def of_a_large_system() -> list[Ratio]:
    """CPU time of fifty modes of 20 000 unknowns, by a minute."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "smallsignal"))
    from large_systems import with_machines

    system = gc.build(with_machines("case_ACTIVSg500", copies=12))
    [seconds] = best(lambda: gc.analyses.small_signal(system, method="sparse", count=50), rounds=1,
                     clock=time.process_time)
    return [Ratio(f"the fifty least damped modes of {system.n} unknowns / 60 s", seconds / 60, 1.0, f"{seconds:.1f} s")]


def against_dense(rounds: int = 7) -> list[Ratio]:
    """Ratios to the call with vectors and to that without; and the share of building the system."""
    system = gc.build("ieee118")
    A = gc.analyses.linearise(system).reduced

    def modes() -> None:
        gc.analyses.small_signal(system).table(10)

    times = best(modes, lambda: scipy.linalg.eig(A, left=True, right=True), lambda: scipy.linalg.eigvals(A),
                 lambda: gc.build("ieee118"), rounds=rounds)
    ours, vectors, values, build = times
    told = f"{1e3 * ours:.1f} ms, {len(A)} states"
    return [Ratio("gridcore eig of 118 buses: all it computes / eig with both vectors", ours / vectors, TARGET,
                  f"{told} / {1e3 * vectors:.1f} ms"),
            Ratio("  the same / eigvals, without vectors", ours / values, None, f"/ {1e3 * values:.1f} ms"),
            Ratio("  building the system, in the same unit (eig)", build / vectors, None, f"{1e3 * build:.1f} ms")]
