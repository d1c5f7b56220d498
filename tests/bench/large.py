"""The 2000-bus system as published: what a located event costs, and a gradient: ``python -m tests.bench large``.

Ten seconds in steps of 10 ms with a bolted fault, limits located, where the files are. The gradient is that of one
objective with respect to a thousand parameters. Over the first moments of the fault one is compared with the forward
sweep and with differences along the mesh of the run, in parts of its largest entry.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

import gridcore as gc
from gridcore.equilibrium import Equilibrium

from .ratios import Ratio, show
from .suite import build

T_END, SHORT, STEP = 10.0, 1.2, 0.01
MANY, FEW = 1000, 4  # parameters
BEYOND, AS_LONG = 100, 2.0  # factorisations that are not for a located event; a gradient, over its simulation
SWEPT, DIFFERENCED = 1e-10, 1e-6


def measure(case: str = "activsg2000", t_end: float = T_END, short: float = SHORT) -> Iterator[Ratio]:
    """Counts of a run, the time of a gradient over that of the run, and how far gradients are from others."""
    system = build(case)
    if system is None:
        return
    machines = [x.id for x in system.layout.instances
                if x.in_service and {"omega", "delta"} <= x.device.declares.states.keys()]
    speed = machines[0], "omega"
    began = time.process_time()
    run = gc.simulate(system, t_end, STEP)
    simulated = time.process_time() - began
    made, located = run.counters["factorisations"], run.counters.get("locations", 0)
    yield Ratio(f"{case}: factorisations beyond one for each located event", made - located, BEYOND,
                f"{made}, {located} located; {simulated:.3g} s")
    wrt = parameters(system, speed, MANY)
    began = time.process_time()
    gc.adjoint(run, [gc.Integral(lambda v: (v[speed] - 1) ** 2)], wrt)
    spent = time.process_time() - began
    yield Ratio(f"{case}: gradient, {len(wrt)} parameters / simulation", spent / simulated, AS_LONG, f"{spent:.3g} s")
    yield from compared(case, gc.simulate(system, short, STEP), speed,
                        [f"{machine}.H" for machine in machines[:: max(len(machines) // FEW, 1)]])


def parameters(system: Equilibrium, speed: tuple[str, str], count: int) -> list[str]:
    """So many of those of machines, at equal distances."""
    of = gc.adjoint(gc.simulate(system, STEP, STEP), [gc.Terminal(lambda v: v[speed])], ["GEN*.*"])
    names = of["parameter"].values.tolist()
    return names[:: max(len(names) // count, 1)][:count]


def compared(case: str, run: gc.Run, speed: tuple[str, str], wrt: list[str]) -> Iterator[Ratio]:
    """The gradient of a speed at the end of a run, beside other ways to it."""
    end = gc.Terminal(lambda v: v[speed], name="speed")
    gradient = gc.adjoint(run, [end], wrt).values.ravel()
    swept = gc.analyses.tsa(run, wrt, [speed]).values[-1].ravel()
    for name, other, most in (("forward sweep", swept, SWEPT),
                              ("differences", gc.differences(run, [end], wrt).values.ravel(), DIFFERENCED)):
        off = float(np.abs(gradient - other).max() / np.abs(gradient).max())
        yield Ratio(f"{case}: gradient beside {name}, in {most:g} of it", off / most, 1.0,
                    f"{off:.1e}, {len(wrt)} parameters")


if __name__ == "__main__":
    sys.exit(0 if show(__doc__.splitlines()[0], measure()) else 1)
