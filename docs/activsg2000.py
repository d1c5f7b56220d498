"""Regenerates activsg2000.md's tables and figure: ``python docs/activsg2000.py`` (minutes).

The files are not part of gridcore: ``ACTIVSg2000.RAW`` and ``ACTIVSg2000_dynamics.dyr`` are looked for in
``../shared/data/activsg2000`` beside the checkout, or in the folder that is given.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from pages import BLUE, HERE, fill, markdown, panels, save

import gridcore as gc

FOLDER = HERE.parents[1] / "shared" / "data" / "activsg2000"
RAW, DYR = "ACTIVSg2000.RAW", "ACTIVSg2000_dynamics.dyr"
FAULT = gc.BusFault(id="fault", bus=7095, t=1.0, clear=1.06)
LOADS = "I/Z"
AWAY = 1.1  # pu: no machine that is in step is so fast
T_END, STEP, SHORT = 10.0, 0.01, 3.0


def load(folder: Path) -> tuple[gc.Case, float]:
    """The case, and the shortest of three times that reading it takes (s)."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        case = gc.load_case(folder / RAW, folder / DYR, loads=LOADS)
        times.append(time.perf_counter() - began)
    return case, min(times)


def changes(case: gc.Case, widened: gc.Case) -> list[list[str]]:
    """A row of a table for each limit that was moved."""
    rows = []
    for id, one, other in zip(case.ids(), case, widened, strict=True):
        rows += [[f"{id}.{name}", one.model, f"{one.fields[name]:g}", f"{other.fields[name]:.4g}"]
                 for name in one.fields if one.fields[name] != other.fields[name]]
    return rows


def simulated(case: gc.Case, t_end: float) -> tuple[gc.Run, float, float]:
    """A run with the fault, its seconds on the clock and of the CPU."""
    faulted = case.copy()
    faulted.add_event(FAULT)
    system = gc.build(faulted)
    began = time.perf_counter(), time.process_time()
    run = gc.simulate(system, t_end, STEP)
    return run, time.perf_counter() - began[0], time.process_time() - began[1]


def largest(run: gc.Run, name: str, devices: list[str]) -> np.ndarray:
    """(points, devices) of a quantity."""
    return np.stack([run[device, name] for device in devices], axis=1)


def main(folder: Path) -> None:
    """The page."""
    if not (folder / RAW).exists():
        raise SystemExit(f"{folder} has no {RAW}")
    case, reading = load(folder)
    models = Counter(record.model for record in case if record.file.endswith(".dyr"))
    began = time.process_time()
    violations = gc.build(case).operating_point.violations
    first = time.process_time() - began
    widened = gc.analyses.widen_limits(case)
    began = time.process_time()
    system = gc.build(widened)
    again = time.process_time() - began
    if system.operating_point.violations:
        raise SystemExit("not every limit is widened: " + ", ".join(system.operating_point.violations))
    run, wall, cpu = simulated(widened, T_END)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    machines = [i.id for i in system.layout.instances if i.device.source and i.in_service]
    buses = [i.id for i in system.layout.instances if i.model == "Bus"]
    speeds, angles = largest(run, "omega", machines), np.degrees(largest(run, "delta", machines))
    volts = largest(run, "Vm", buses)
    spread = np.ptp(angles, axis=1)
    flow = system.operating_point.power_flow
    broken, broken_wall, broken_cpu = simulated(case, SHORT)
    running = largest(broken, "omega", machines)[-1]
    away = [machines[k] for k in np.argsort(running)[::-1] if running[k] > AWAY]
    fill("activsg2000.md", {
        "models": markdown(["model", "records"], [[name, str(n)] for name, n in sorted(models.items())]
                           + [["together", str(sum(models.values()))]]),
        "violations": "\n".join(f"    {line}" for line in violations),
        "broken": markdown(["as the files are", ""], [
            [f"events in {SHORT:g} s, with the fault below", str(len(broken.events))],
            ["time, of the CPU (s)", f"{broken_wall:.0f}, {broken_cpu:.0f}"],
            [f"machines above {AWAY:g} pu speed then", ", ".join(away)],
            ["fastest (pu)", f"{running.max():.2f}"]]),
        "widened": markdown(["limit", "model", "in the file", "widened to"], changes(case, widened)),
        "figures": markdown(["", ""], [
            ["read RAW and DYR (s)", f"{reading:.2f}"],
            ["build: time of the CPU (s), kernels in the cache", f"{again:.2f}"],
            ["the same, the first time in this process", f"{first:.2f}"],
            ["buses, unknowns", f"{len(buses)}, {system.n}"],
            ["power flow: iterations, mismatch (pu)", f"{flow.iterations}, {flow.mismatch:.0e}"],
            [f"simulate {T_END:g} s with the fault, step {STEP:g} s: time, of the CPU (s)", f"{wall:.0f}, {cpu:.0f}"],
            ["events", str(len(run.events))],
            ["steps, Newton iterations, factorisations", ", ".join(
                str(run.counters[name]) for name in ("steps", "newton_iterations", "factorisations"))],
            ["memory (MB)", f"{memory:.0f}"],
            ["rotor angles apart: at t0, at most, at the end (degrees)",
             f"{spread[0]:.1f}, {spread.max():.1f}, {spread[-1]:.1f}"],
            ["speeds at the end (pu)", f"{speeds[-1].min():.5f} to {speeds[-1].max():.5f}"],
            ["voltages at the end (pu)", f"{volts[-1].min():.4f} to {volts[-1].max():.4f}"]]),
    })
    figure, axes = panels(2, 1)
    for ax, values, label in ((axes[0, 0], speeds, "speed (pu)"), (axes[1, 0], volts, "bus voltage (pu)")):
        ax.fill_between(run.t, values.min(axis=1), values.max(axis=1), color=BLUE, alpha=0.2, linewidth=0)
        ax.plot(run.t, values[:, :: max(1, values.shape[1] // 40)], color=BLUE, linewidth=0.4)
        ax.set_ylabel(label)
    axes[1, 0].set_xlabel("time (s)")
    save(figure, "activsg2000.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
