"""Kernels are linear in the number of instances: time per instance, from 10 to 5000 generating units.

A unit is a TwoAxis machine with IEEET1 and TGOV1 at its bus, and a line to the next bus. Timed are the
kernels alone (rows of F and entries of its Jacobian, gathered and scattered), and what a Newton iteration
asks of the workspace: residual and matrix, with the linear part and the passes over whole vectors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import gridcore as gc
from gridcore.equations import Workspace

from .ratios import Ratio, best, repeat, show

COUNTS = (10, 50, 100, 200, 500, 1000, 2000, 5000)
MACHINE = {"H": 6.4, "Xd": 0.8958, "Xdp": 0.1198, "Xq": 0.8645, "Xqp": 0.1969, "Td0p": 6.0, "Tq0p": 0.535}
EXCITER = {"KA": 20, "TA": 0.2, "VRMIN": -5, "VRMAX": 5, "KE": 1, "TE": 0.314, "KF": 0.063, "TF": 0.35,
           "E1": 3.0, "SE1": 0.4, "E2": 4.0, "SE2": 2.0}
GOVERNOR = {"R": 0.05, "T1": 0.5, "VMIN": 0, "VMAX": 3.5, "T2": 4, "T3": 6}


def units(count: int) -> Workspace:
    """A ring of so many units, assembled; every variable at its declared initial value."""
    case = gc.Case(f"{count} units")
    for k in range(1, count + 1):
        case.add(gc.Record("Bus", {"id": k}))
        case.add(gc.Record("Line", {"bus1": k, "bus2": k % count + 1, "r": 0.01, "x": 0.1}))
        control = "slack" if k == 1 else "PV"
        case.add(gc.Record("TwoAxis", {"id": f"GEN{k}", "bus": k, "control": control, **MACHINE}))
        case.add(gc.Record("IEEET1", {"machine": f"GEN{k}", **EXCITER}))
        case.add(gc.Record("TGOV1", {"machine": f"GEN{k}", **GOVERNOR}))
    ws = gc.build(case, initialise=False).workspace()
    ws.mass[:], ws.c[:] = 1.0, 0.005
    return ws


def kernels(ws: Workspace) -> Callable[[], None]:
    """Evaluates every kernel of the system once, but for those of linear devices."""
    scale = np.ones(ws.n + 1)

    def once() -> None:
        for batch in ws.equations.rhs:
            batch.add(ws.Z, ws.F)
        for batch in ws.equations.jac:
            batch.add(ws.Z, ws.A, scale)

    return once


def iteration(ws: Workspace) -> Callable[[], None]:
    """Evaluates the residual and the matrix."""
    def once() -> None:
        ws.residual()
        ws.matrix()

    return once


def per_unit(what: Callable[[Workspace], Callable[[], None]], counts: tuple[int, ...] = COUNTS,
             rounds: int = 15) -> dict[int, float]:
    """Seconds of one evaluation, per unit, for each number of units."""
    times = [max(1, 10_000 // count) for count in counts]
    taken = best(*(repeat(what(units(count)), k) for count, k in zip(counts, times, strict=True)), rounds=rounds)
    return {count: t / (k * count) for count, k, t in zip(counts, times, taken, strict=True)}


def measure(rounds: int = 15, counts: tuple[int, ...] = COUNTS) -> list[Ratio]:
    """Time per unit of the largest system against the best of 50 to 500 units."""
    ratios = []
    for title, what, target in (("kernels", kernels, 1.3), ("residual and matrix", iteration, None)):
        times = per_unit(what, counts, rounds)
        least = min(t for count, t in times.items() if 50 <= count <= 500)
        detail = ", ".join(f"{count}: {1e6 * t:.3f}" for count, t in times.items()) + " us per unit"
        ratios.append(Ratio(f"{title}: time per unit, {counts[-1]} units / the best of 50..500",
                            times[counts[-1]] / least, target, detail))
    return ratios


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
