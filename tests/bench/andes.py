"""gridcore against ANDES: the simulation call, and the whole process from the shell prompt to results on disk.

The same files, models, loads, disturbance and step; ANDES in its own Python (GRIDCORE_ANDES, see ``tox -e andes``),
with its default tolerance of 1e-4, at which it is fastest; gridcore iterates to round-off. By CPU time, which other
processes on the machine hardly change; the best of rounds that alternate between the two.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import gridcore as gc

from .ratios import Ratio, show

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' folder, as pytest has it
from crosscheck.program import Asked, ask, python
from crosscheck.studies import FAULT_X, STUDIES, Study, grid, trajectories

CASES = ("wscc9", "kundur", "ieee39", "npcc140")
STEP, T_END, TOLERANCE = 0.01, 20.0, 1e-4
TARGET_CALL, TARGET_PROCESS = 1 / 10, 1 / 3


@dataclass
class Cost:
    """Seconds of CPU and by the clock, and what was counted: the work of one program."""

    cpu: float = float("inf")
    wall: float = float("inf")
    steps: int = 0
    iterations: int = 0

    def keep(self, cpu: float, wall: float) -> None:
        """The shorter of these times and those it has."""
        self.cpu, self.wall = min(self.cpu, cpu), min(self.wall, wall)

    def __str__(self) -> str:
        counted = f" ({self.steps} steps, {self.iterations} iterations)" if self.steps else ""
        return f"{1e3 * self.cpu:.0f} ms CPU, {1e3 * self.wall:.0f} ms wall{counted}"


@dataclass
class Comparison:
    """Costs of both, and the largest differences of what they found, on the same steps."""

    ours: Cost
    theirs: Cost
    differences: dict[str, float]


def call(study: Study, rounds: int = 3, t_end: float = T_END) -> Comparison:
    """The simulation alone: everything is built and initialised."""
    ours, theirs = Cost(), Cost()
    with tempfile.TemporaryDirectory() as folder:
        system = gc.build(study.case(Path(folder)))
    for _ in range(rounds):
        answer = ask(study, [Asked(STEP, TOLERANCE, t_end, count=True)])
        taken = answer.times["runs"][0]
        theirs.keep(taken["cpu"], taken["wall"])
        theirs.steps, theirs.iterations = taken["steps"], taken["iterations"]
        for _ in range(3):
            cpu, wall = time.process_time(), time.perf_counter()
            run = gc.simulate(system, t_end, STEP)
            ours.keep(time.process_time() - cpu, time.perf_counter() - wall)
        ours.steps, ours.iterations = run.counters["steps"], run.counters["newton_iterations"]
    same = trajectories(gc.simulate(system, t_end, grid(answer.runs[0].t)), answer.machines, answer.buses)
    t = answer.runs[0].t[study.away(answer.runs[0].t, 0.1)]
    return Comparison(ours, theirs, answer.runs[0].at(t).against(same.at(t)))


def process(study: Study, rounds: int = 3, t_end: float = T_END) -> Comparison:
    """From the shell prompt to results on disk: import, RAW and DYR read, power flow, simulation, everything saved."""
    ours, theirs = Cost(), Cost()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        commands = ((ours, _gridcore(study, folder, t_end)), (theirs, _andes(study, folder, t_end)))
        subprocess.run(commands[0][1], check=True, capture_output=True, cwd=folder)  # compiles the kernels
        for _ in range(rounds):
            for cost, command in commands:
                before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
                subprocess.run(command, check=True, capture_output=True, cwd=folder)
                wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
                cost.keep(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)
    return Comparison(ours, theirs, {})


def _gridcore(study: Study, folder: Path, t_end: float) -> list[str]:
    own = folder / "gridcore"
    own.mkdir()
    events = own / "events.toml"
    events.write_text(f'BusFault = [{{bus = {study.bus}, t = {study.t}, clear = {study.clear}, x = {FAULT_X}}}]\n'
                      f'BranchTrip = [{{branch = "{study.branch(study.case(own))}", t = {study.clear}}}]\n')
    dyr = study.dynamics(own, study.ours)
    return [sys.executable, "-m", "gridcore", "run", str(study.files[0]), "--with", str(dyr), "--with", str(events),
            "--loads", "Z", "--t-end", str(t_end), "--step", str(STEP), "--out", str(own)]


def _andes(study: Study, folder: Path, t_end: float) -> list[str]:
    own = folder / "andes"
    own.mkdir()
    interpreter = python()
    assert interpreter is not None
    case = study.case(own)
    dyr = study.dynamics(own, study.theirs)
    lines = [id for id, record in zip(case.ids(), case.records, strict=True) if record.model == "Line"]
    number = lines.index(study.branch(case)) + 1  # ANDES numbers the branches of a RAW file in their order
    with dyr.open("a") as file:
        file.write(f"\n{study.bus} 'Fault' {study.t} {study.clear} {FAULT_X} 0.0 /\n"
                   f"Line 'Toggle' Line_{number} {study.clear} /\n")
    return [str(Path(interpreter).with_name("andes")), "run", str(study.files[0]), "-a", str(dyr), "-r", "tds",
            "--tf", str(t_end), "--no-pbar", "-o", str(own), "-O", f"TDS.tstep={STEP}"]


def measure(rounds: int = 3, t_end: float = T_END) -> list[Ratio]:
    """Ratios of CPU times on all four cases."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    ratios = []
    for name in CASES:
        for what, function, target in (("simulation", call, TARGET_CALL), ("process", process, TARGET_PROCESS)):
            found = function(STUDIES[name], rounds, t_end)
            agreed = "".join(f", {quantity} {size:.0e}" for quantity, size in found.differences.items())
            ratios.append(Ratio(f"{name}: {what}, gridcore / ANDES", found.ours.cpu / found.theirs.cpu, target,
                                f"{found.ours}; {found.theirs}" + (f"; apart{agreed}" if agreed else "")))
    return ratios


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
