"""Regenerates activsg2000.md's tables and figure: ``python docs/activsg2000.py`` (minutes).

The files are not part of gridcore: ``ACTIVSg2000.RAW`` and ``ACTIVSg2000_dynamics.dyr`` are looked for in
``../shared/data/activsg2000`` beside the checkout, or in the folder that is given.
"""

from __future__ import annotations

import re
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
_LIMIT = re.compile(r"(\S+): \S+ reaches (\S+) at t0 already \(by (\S+)\)")
T_END, STEP = 10.0, 0.01


def load(folder: Path) -> tuple[gc.Case, float]:
    """The case, and the shortest of three times that reading it takes (s)."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        case = gc.load_case(folder / RAW, folder / DYR, loads=LOADS)
        times.append(time.perf_counter() - began)
    return case, min(times)


def raise_ratings(case: gc.Case) -> list[list[str]]:
    """Machines that are to give more than their rating are given one that holds it; a row of a table for each."""
    rows = []
    for id, record in zip(case.ids(), case, strict=True):
        if record.device.source and record.fields.get("status", 1):
            P, Sn = record.fields["P0"] * case.base_mva, record.fields["Sn"]
            if P > Sn:
                record.fields["Sn"] = P / 0.9
                rows.append([id, f"{P:.1f}", f"{Sn:.2f}", f"{P / Sn:.2f}", f"{P / 0.9:.1f}"])
    return rows


def open_limits(case: gc.Case, violations: list[str]) -> list[list[str]]:
    """Limits that the operating point breaks are moved to where it is; a row of a table for each."""
    beyond: dict[tuple[str, str], float] = {}
    for found in filter(None, map(_LIMIT.fullmatch, violations)):
        beyond[found[1], found[2]] = max(beyond.get((found[1], found[2]), 0.0), float(found[3]))
    rows = []
    for (id, limit), by in beyond.items():
        fields = case[id].fields
        before = fields[limit]
        fields[limit] = before + (by * 1.001 + 1e-6) * (1 if "MAX" in limit else -1)
        rows.append([f"{id}.{limit}", case[id].model, f"{before:g}", f"{fields[limit]:.4g}"])
    return rows


def largest(run: gc.Run, name: str, devices: list[str]) -> np.ndarray:
    """(points, devices) of a quantity."""
    return np.stack([run[device, name] for device in devices], axis=1)


def main(folder: Path) -> None:
    """The page."""
    if not (folder / RAW).exists():
        raise SystemExit(f"{folder} has no {RAW}")
    case, reading = load(folder)
    models = Counter(record.model for record in case if record.file.endswith(".dyr"))
    began = time.perf_counter()
    system = gc.build(case)
    building = time.perf_counter() - began
    first = list(system.operating_point.violations)
    ratings = raise_ratings(case)
    second = gc.build(case).operating_point.violations
    opened = open_limits(case, second)
    left = gc.build(case).operating_point.violations
    case.add_event(FAULT)
    began = time.perf_counter()
    system = gc.build(case)
    again = time.perf_counter() - began
    began = time.perf_counter()
    run = gc.simulate(system, T_END, STEP)
    simulating = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    machines = [i.id for i in system.layout.instances if i.device.source and i.in_service]
    buses = [i.id for i in system.layout.instances if i.model == "Bus"]
    speeds, angles = largest(run, "omega", machines), np.degrees(largest(run, "delta", machines))
    volts = largest(run, "Vm", buses)
    spread = np.ptp(angles, axis=1)
    flow = system.operating_point.power_flow
    fill("activsg2000.md", {
        "models": markdown(["model", "records"], [[name, str(n)] for name, n in sorted(models.items())]
                           + [["together", str(sum(models.values()))]]),
        "violations": "\n".join(f"    {line}" for line in first),
        "ratings": markdown(["machine", "P (MW)", "rating (MVA)", "P / rating", "given (MVA)"], ratings),
        "opened": markdown(["limit", "model", "in the file", "given"], opened),
        "left": "\n".join(f"    {line}" for line in left) or "    none",
        "figures": markdown(["", ""], [
            ["read RAW and DYR (s)", f"{reading:.2f}"],
            ["build, kernels in the cache (s)", f"{again:.2f}"],
            ["build, the first time in this process (s)", f"{building:.2f}"],
            ["buses, unknowns", f"{len(buses)}, {system.n}"],
            ["power flow: iterations, mismatch (pu)", f"{flow.iterations}, {flow.mismatch:.0e}"],
            [f"simulate {T_END:g} s with the fault, step {STEP:g} s (s)", f"{simulating:.0f}"],
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
