"""IDA against theta on the 118-bus study, one second with its fault: CPU time at equal accuracy.

The error of a run is the largest difference of any variable, at any point of the grid of 10 ms, from theta in
steps of 0.1 ms. IDA's tolerance (rtol = atol) is the loosest of a ladder from which on, downwards, no run has a larger
error than theta has.
"""

from __future__ import annotations

import itertools
import sys
import time
from functools import partial

import numpy as np

import gridcore as gc
from gridcore.errors import MissingDependency
from gridcore_ida.sundials import solver_class

from .ratios import Ratio, best

T_END, GRID, REFERENCE = 1.0, 0.01, 1e-4
TARGET = 5.0
LADDER = [10 ** (-k / 4) for k in range(12, 37)]
_COUNTS = ("internal_steps", "residuals", "products", "newton_iterations", "factorisations", "solves", "restarts")


def on_grid(run: gc.Run) -> np.ndarray:
    """The states at the points of the grid, after what happened there."""
    times = np.arange(round(T_END / GRID) + 1) * GRID
    at = np.searchsorted(run.t, times + 1e-9, side="right") - 1
    assert np.abs(run.t[at] - times).max() < 1e-9
    return run.X[at]


def equal_accuracy(errors: list[float], bound: float) -> int:
    """Place in the ladder from which on all errors are within the bound.

    Raises
    ------
    ValueError
        If there is none.
    """
    within = list(itertools.takewhile(lambda error: error <= bound, reversed(errors)))
    if not within:
        raise ValueError(f"no tolerance down to {LADDER[-1]:g} gives an error below {bound:g}")
    return len(errors) - len(within)


def _counts(run: gc.Run) -> str:
    return ", ".join(f"{run.counters[name]} {name}" for name in _COUNTS if name in run.counters)


def measure(rounds: int = 9, steps: tuple[float, ...] = (GRID, 0.001)) -> list[Ratio]:
    """Time of IDA by that of theta, for each step of theta; nothing where there is no IDA."""
    try:
        solver_class()
    except MissingDependency as error:
        print(f"  {error}", file=sys.stderr)
        return []
    system = gc.build("ieee118")
    exact = on_grid(gc.simulate(system, T_END, REFERENCE))

    def ida(tolerance: float) -> gc.Run:
        return gc.simulate(system, T_END, GRID, method="ida", rtol=tolerance, atol=tolerance)

    def error(run: gc.Run) -> float:
        return float(np.abs(on_grid(run) - exact).max())

    errors = [error(ida(tolerance)) for tolerance in LADDER]
    found = []
    for step in steps:
        theta = gc.simulate(system, T_END, step)
        place = equal_accuracy(errors, error(theta))
        tolerance = LADDER[place]
        ours, theirs = best(partial(ida, tolerance), partial(gc.simulate, system, T_END, step), rounds=rounds,
                            clock=time.process_time)
        found.append(Ratio(
            f"IDA / theta, 118 buses, 1 s, at the error of theta in steps of {1e3 * step:g} ms", ours / theirs, TARGET,
            f"{1e3 * ours:.1f} ms (tolerance {tolerance:.1e}, error {errors[place]:.1e}; {_counts(ida(tolerance))}) / "
            f"{1e3 * theirs:.1f} ms (error {error(theta):.1e}; {_counts(theta)})"))
    return found
