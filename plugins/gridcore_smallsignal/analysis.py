"""The analysis ``small_signal``: linearise, find eigenvalues, name them."""

from __future__ import annotations

import time
from numbers import Integral
from typing import TYPE_CHECKING

from gridcore.errors import CaseError
from gridcore.suggest import suggest

from .dense import dense_spectrum, without
from .equilibrium import TOLERANCE
from .linearisation import linearise
from .modes import Modes, collect
from .zeros import zero_modes

if TYPE_CHECKING:
    from pathlib import Path

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run

METHODS = ("auto", "dense", "sparse")

# States up to which LAPACK finds all eigenvalues in about the time in which the sparse method finds some.
DENSE_UP_TO = 1000


def small_signal(study: Equilibrium | Case | str | Path | Run, *, point: int = -1, method: str = "auto",
                 count: int = 50, tolerance: float = TOLERANCE) -> Modes:
    """Eigenvalues and eigenvectors of a system at its operating point, or at a point of a run at rest.

    Parameters
    ----------
    study : Equilibrium or Case or str or Run
        A system, what :func:`gridcore.build` takes, or a run.
    point : int
        Of a run; the last by default.
    method : {"auto", "dense", "sparse"}
        Dense finds all eigenvalues; sparse the least damped, by shift-and-invert Arnoldi, with a certificate of where
        it has looked. ``"auto"`` is dense up to 1000 states.
    count : int
        Of the sparse method: how many modes, a pair counting as one.
    tolerance : float
        The largest rate, or mismatch of an algebraic equation, that counts as rest.

    Raises
    ------
    NotAnEquilibrium
        Naming the state that moves, and its rate.
    GridcoreError
        If algebraic equations are singular: names the variable.
    """
    if method not in METHODS:
        raise CaseError(f"no method '{method}'{suggest(method, METHODS)}")
    if not isinstance(count, Integral) or count < 1:
        raise CaseError(f"count = {count!r} must be a whole number, at least 1")
    began = time.perf_counter()
    linear = linearise(study, point=point, tolerance=tolerance)
    zeros = zero_modes(linear)
    done = time.perf_counter()
    if method == "sparse" or (method == "auto" and len(linear.x) > DENSE_UP_TO):
        from .sweep import least_damped

        spectrum, certificate = least_damped(linear, zeros, count)
        used = "sparse"
    else:
        spectrum, certificate, used = without(dense_spectrum(linear), zeros), None, "dense"
    timings = {"linearisation": done - began, "eigenvalues": time.perf_counter() - done}
    return collect(linear, spectrum, zeros, used, certificate, timings)
