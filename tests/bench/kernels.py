"""Kernels are linear in the number of instances: time per instance, from 10 to 5000 generating units.

A unit is a TwoAxis machine with IEEET1 and TGOV1 at its bus, and a line to the next bus. Timed is what
a Newton iteration asks for: the residual and the matrix.
"""

from __future__ import annotations

import gridcore as gc

from .ratios import Ratio, best, repeat, show

COUNTS = (10, 50, 100, 200, 500, 1000, 2000, 5000)
MACHINE = {"H": 6.4, "Xd": 0.8958, "Xdp": 0.1198, "Xq": 0.8645, "Xqp": 0.1969, "Td0p": 6.0, "Tq0p": 0.535}
EXCITER = {"KA": 20, "TA": 0.2, "VRMIN": -5, "VRMAX": 5, "KE": 1, "TE": 0.314, "KF": 0.063, "TF": 0.35,
           "E1": 3.0, "SE1": 0.4, "E2": 4.0, "SE2": 2.0}
GOVERNOR = {"R": 0.05, "T1": 0.5, "VMIN": 0, "VMAX": 3.5, "T2": 4, "T3": 6}


def units(count: int) -> gc.System:
    """A ring of so many units, assembled; every variable at its declared initial value."""
    case = gc.Case(f"{count} units")
    for k in range(1, count + 1):
        case.add(gc.Record("Bus", {"id": k}))
        case.add(gc.Record("Line", {"bus1": k, "bus2": k % count + 1, "r": 0.01, "x": 0.1}))
        control = "slack" if k == 1 else "PV"
        case.add(gc.Record("TwoAxis", {"id": f"GEN{k}", "bus": k, "control": control, **MACHINE}))
        case.add(gc.Record("IEEET1", {"machine": f"GEN{k}", **EXCITER}))
        case.add(gc.Record("TGOV1", {"machine": f"GEN{k}", **GOVERNOR}))
    system = gc.build(case, initialise=False)
    system.load(system.Z0)
    system.assembly.mass[:], system.assembly.c[:] = 1.0, 0.005
    return system


def per_unit(counts: tuple[int, ...] = COUNTS, rounds: int = 15) -> dict[int, float]:
    """Seconds of one residual and one matrix, per unit, for each number of units."""
    def evaluation(count: int):
        assembly, times = units(count).assembly, max(1, 10_000 // count)

        def once() -> None:
            assembly.residual()
            assembly.matrix()

        return repeat(once, times), times * count

    runs = [evaluation(count) for count in counts]
    times = best(*(function for function, _ in runs), rounds=rounds)
    return {count: t / done for count, t, (_, done) in zip(counts, times, runs, strict=True)}


def measure(counts: tuple[int, ...] = COUNTS, rounds: int = 15) -> list[Ratio]:
    """Time per unit of the largest system against the dearest and the cheapest of 50 to 500 units."""
    times = per_unit(counts, rounds)
    middle = [t for count, t in times.items() if 50 <= count <= 500]
    detail = ", ".join(f"{count}: {1e6 * t:.3f}" for count, t in times.items()) + " us per unit"
    last = counts[-1]
    return [Ratio(f"time per unit, {last} units / the best of 50..500", times[last] / min(middle), 1.3, detail)]


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
