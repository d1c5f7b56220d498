"""IDA against theta on the 118-bus study, one second with its fault: CPU time at equal accuracy; and its root findings.

The error of a run is the largest difference of any variable, at any point of the grid of 10 ms, from theta in
steps of 0.1 ms. IDA's tolerance (rtol = atol) is the loosest of a ladder from which on, downwards, no run has a larger
error than theta has. Both root findings run every shipped case in which something may fire.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import gridcore as gc
from gridcore.case.files import shipped
from gridcore.errors import MissingDependency
from gridcore_ida.stepper import ROOTFINDING
from gridcore_ida.sundials import solver_class

from .ratios import Ratio, best

T_END, GRID, REFERENCE = 1.0, 0.01, 1e-4
TARGET = 5.0
LADDER = [10 ** (-k / 4) for k in range(12, 37)]
_COUNTS = ("internal_steps", "residuals", "products", "newton_iterations", "factorisations", "solves", "restarts")
SPANS = {"hiskens_pai": (0.2, 1e-3), "wscc9_estimation_step": (32.0, 0.05), "wscc9_recovery_cancelled": (40.0, 0.05),
         "wscc9_recovery_loads": (40.0, 0.05)}
_SPAN = (2.0, 0.01)


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


def _there() -> bool:
    """Whether there is an IDA; if not, that is told."""
    try:
        solver_class()
    except MissingDependency as error:
        print(f"  {error}", file=sys.stderr)
        return False
    return True


def measure() -> list[Ratio]:
    """All ratios; nothing where there is no IDA."""
    return [*against_theta(), *root_findings()]


def against_theta(rounds: int = 9, steps: tuple[float, ...] = (GRID, 0.001)) -> list[Ratio]:
    """Time of IDA by that of theta, for each step of theta; nothing where there is no IDA."""
    if not _there():
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


@dataclass
class Cost:
    """What both root findings cost for one case: runs, and CPU times (s), in the order of ``ROOTFINDING``."""

    case: str
    span: float
    guards: int
    runs: list[gc.Run]
    times: list[float]

    def work(self, which: int) -> dict[str, int]:
        """Steps and evaluations of a run."""
        counters = self.runs[which].counters
        return {"steps": counters["steps"], "internal steps": counters["internal_steps"],
                "residuals": counters["residuals"],
                "guard evaluations": counters["guard_evaluations"] + counters.get("root_evaluations", 0)}


def both(name: str, **options: float) -> list[partial[gc.Run]]:
    """Functions that run a shipped case with either root finding, and further options of IDA."""
    system, (t_end, step) = gc.build(name), SPANS.get(name, _SPAN)
    return [partial(gc.simulate, system, t_end, step, "ida", rootfinding=kind, **options) for kind in ROOTFINDING]


def costs(rounds: int = 5, names: tuple[str, ...] = ()) -> Iterator[Cost]:
    """The cases that have guards, or those named."""
    for name in names or sorted(shipped()):
        functions = both(name)
        runs = [function() for function in functions]
        guards = len(runs[0].system.system.switching.guards)
        if guards:
            yield Cost(name, runs[0].t[-1], guards, runs, best(*functions, rounds=rounds, clock=time.process_time))


def root_findings(rounds: int = 5, names: tuple[str, ...] = ()) -> list[Ratio]:
    """CPU time of SUNDIALS' root finding by that of ours; nothing where there is no IDA."""
    found = []
    for cost in costs(rounds, names) if _there() else ():
        told = [f"{1e3 * seconds:.1f} ms ({', '.join(f'{n} {what}' for what, n in cost.work(k).items())})"
                for k, seconds in enumerate(cost.times)]
        found.append(Ratio(
            f"IDA, roots by SUNDIALS / by interpolant, {cost.case}, {cost.span:g} s, {cost.guards} guards",
            cost.times[1] / cost.times[0], None, " / ".join(reversed(told))))
    return found
