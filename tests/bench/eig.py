"""Modes of the 118-bus system against one dense eigenvalue call of its reduced Jacobian, LAPACK's geev.

What `gridcore eig` computes once the system is built: linearisation, exact zeros, eigenvalues, both sets of
eigenvectors, participation, and its table. The call: with both sets of vectors, and of eigenvalues alone.
"""

from __future__ import annotations

import scipy.linalg

import gridcore as gc

from .ratios import Ratio, best

TARGET = 2.0


def measure(rounds: int = 7) -> list[Ratio]:
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
