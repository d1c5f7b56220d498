"""Against another checkout of gridcore, line by line: the same work in turn, by CPU time.

``python -m tests.bench.versus /path/to/other``, where ``other/.venv`` has that checkout installed. Each side is a
process of its own that stays alive; each line is done by one and then by the other, round by round, and the ratio is
that of the shortest times. The lines of whole processes (starting, the command line) are timed from outside.

With ``--instructions`` the measure is the number of instructions, counted by valgrind in place of the processor: slow,
and the same to a part in a thousand each time, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .ratios import Ratio, show
from .suite import page

HERE = Path(__file__).parents[2]
TARGET = 1.05
COMMAND = "import sys; from importlib.metadata import entry_points as e; " \
          "[m] = [x for x in e(group='console_scripts') if x.name == 'gridcore']; sys.exit(m.load()())"

_SETUP = "import numpy as np, gridcore as gc\n"
_STUDY = _SETUP + """
system = gc.build('ieee118')
def density(machine):
    def violation(v):
        omega = v[machine, 'omega']
        return 1e6 * np.maximum(0.0, np.maximum(omega - 60.02 / 60, 59.98 / 60 - omega)) ** 2
    return violation
machines = [x.id for x in system.layout.instances if x.model == 'TwoAxis']
functions = [gc.Integral(density(machine), name=machine) for machine in machines]
wrt = ['GEN*.P0', 'GEN*.Q0', 'BUS*.Vm0', 'BUS*.Va0']
"""


@dataclass(frozen=True)
class Line:
    """Code that is prepared once, and code that is timed so many times together, in so many rounds at most."""

    name: str
    setup: str
    code: str
    times: int = 1
    rounds: int = 1000


def _runs() -> list[Line]:
    cases = {"wscc9": 10, "ieee39": 5, "ieee118": 3, "npcc140": 2, "ieee145": 2, "activsg200": 1, "hiskens_pai": 5}
    return [Line(f"simulate {case}, 2 s", f"{_SETUP}system = gc.build('{case}')", "gc.simulate(system, 2.0, 0.01)",
                 times) for case, times in cases.items()]


def _large() -> list[Line]:
    """The 2000-bus system, where its files are."""
    setup = _SETUP + """
import sys
sys.path.insert(0, 'docs')
import activsg2000 as files
widen_limits = getattr(gc, 'widen_limits', None) or gc.analyses.widen_limits  # as it once was called
case = widen_limits(files.load(files.FOLDER)[0])
case.add_event(files.FAULT)
system = gc.build(case)
"""
    return [Line("simulate activsg2000, 10 s", setup, "gc.simulate(system, 10.0, 0.01)", rounds=2)
            ] * page("activsg2000").FOLDER.exists()


LINES = [
    *_runs(),
    *_large(),
    *(Line(f"build {case}", _SETUP, f"gc.build('{case}')", 2) for case in ("wscc9", "ieee39", "ieee118", "activsg200")),
    Line("adjoint, 54 functions, 118 buses", _STUDY,
         "gc.adjoint(gc.simulate(system, 1.0, 0.01), functions, wrt, dispatch='direct')"),
    Line("adjoint, 1 function, 118 buses", _STUDY,
         "gc.adjoint(gc.simulate(system, 1.0, 0.01), functions[:1], wrt, dispatch='direct')", 2),
    Line("forward, 344 parameters, 118 buses", _STUDY,
         "gc.analyses.tsa(gc.simulate(system, 1.0, 0.01), wrt, [(m, 'omega') for m in machines], dispatch='direct')"),
    Line("adjoint through limits, ieee39", _SETUP + "run = gc.simulate(gc.build('ieee39'), 2.0, 0.01)\n"
         "J = gc.Integral(lambda v: (v['GEN31', 'omega'] - 1) ** 2)", "gc.adjoint(run, [J], ['*.*'])", 2),
    Line("small signal, 118 buses", _SETUP + "system = gc.build('ieee118')",
         "gc.analyses.small_signal(system).table(10)"),
    Line("with_values, ieee39", _SETUP + "system = gc.build('ieee39')", "system.with_values({'GEN31.H': 30.0})", 3),
    Line("IDA, wscc9, 2 s", _SETUP + "system = gc.build('wscc9')", "gc.simulate(system, 2.0, 0.01, method='ida')"),
]

PROCESSES = {"import gridcore": ("import gridcore",), "gridcore --help": (COMMAND, "--help"),
             "gridcore run wscc9": (COMMAND, "run", "wscc9"), "gridcore eig kundur": (COMMAND, "eig", "kundur")}

_WORKER = """
import json, sys, time
for text in sys.stdin:
    setup, code, times = json.loads(text)
    if setup is not None:
        names = {}
        exec("import warnings; warnings.simplefilter('ignore')", names)
        exec(setup, names)
        exec(code, names)
    compiled = compile(code, 'line', 'exec')
    began = time.process_time()
    for _ in range(times):
        exec(compiled, names)
    print(json.dumps((time.process_time() - began) / times), flush=True)
"""


_COUNTED = """
import sys, warnings
warnings.simplefilter('ignore')
names = {}
exec(sys.argv[1], names)
for _ in range(2 + int(sys.argv[3])):
    exec(sys.argv[2], names)
"""


class Side:
    """A checkout, and a process of it that does lines."""

    def __init__(self, root: Path):
        self.root, self.python = root, str(root / ".venv" / "bin" / "python")

    def start(self) -> None:
        """The process."""
        self.worker = subprocess.Popen([self.python, "-c", _WORKER], cwd=self.root, text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, env=self.environment())
        if hasattr(os, "sched_setaffinity"):  # processors, even of one machine, are not equally fast at any time
            os.sched_setaffinity(self.worker.pid, {min(os.sched_getaffinity(0))})

    def environment(self) -> dict[str, str]:
        """One thread, as times of two must not mix; bytecode kept, as it is where nobody forbids it."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ""}

    def does(self, line: Line, first: bool) -> float:
        """CPU seconds of a line."""
        assert self.worker.stdin is not None
        assert self.worker.stdout is not None
        self.worker.stdin.write(json.dumps([line.setup if first else None, line.code, line.times]) + "\n")
        self.worker.stdin.flush()
        answer = self.worker.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.root}: '{line.name}' failed")
        return float(json.loads(answer))

    def process(self, code: str, *arguments: str) -> float:
        """CPU seconds of a whole process, started in an empty folder."""
        with tempfile.TemporaryDirectory() as folder:
            child = subprocess.Popen([self.python, "-c", code, *arguments], cwd=folder, env=self.environment(),
                                     stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"{self.root}: {arguments or code} failed")
        return used.ru_utime + used.ru_stime

    def instructions(self, code: str, *arguments: str) -> int:
        """Those of a whole process, started in an empty folder."""
        with tempfile.TemporaryDirectory() as folder:
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={folder}/said",
                       self.python, "-c", code, *arguments]
            subprocess.run(command, cwd=folder, env=self.environment() | {"PYTHONHASHSEED": "0"}, check=True,
                           stdout=subprocess.DEVNULL)
            counts = re.findall(r"Collected : (\d+)", Path(folder, "said").read_text())
        return int(counts[-1])


def measure(other: Path, rounds: int = 9, only: str = "") -> list[Ratio]:
    """Every line whose name has `only` in it: this checkout against the other."""
    sides, found = (Side(HERE), Side(other)), []
    for side in sides:
        side.start()
    for line in LINES:
        if only in line.name:
            found.append(_ratio(line.name, [_in_turn(sides, lambda side, line=line, k=k: side.does(line, not k), k)
                                            for k in range(min(rounds, line.rounds))]))
    for name, of in PROCESSES.items():
        if only in name:
            found.append(_ratio(name, [_in_turn(sides, lambda side, of=of: side.process(*of), k)
                                       for k in range(rounds)]))
    return found


def count(other: Path, only: str = "") -> Iterator[Ratio]:
    """As :func:`measure`, in instructions."""
    sides = Side(HERE), Side(other)
    for line in (line for line in LINES if only in line.name):
        mine, others = (side.instructions(_COUNTED, line.setup, line.code, "1")
                        - side.instructions(_COUNTED, line.setup, line.code, "0") for side in sides)
        yield Ratio(line.name, mine / others, TARGET, f"{1e-6 * mine:.1f} / {1e-6 * others:.1f} million")
    for name, of in PROCESSES.items():
        if only in name:
            for side in sides:
                side.process(*of)  # what is kept from one process to the next is there
            mine, others = (side.instructions(*of) for side in sides)
            yield Ratio(name, mine / others, TARGET, f"{1e-6 * mine:.1f} / {1e-6 * others:.1f} million")


def _in_turn(sides: Sequence[Side], time: Callable[[Side], float], k: int) -> list[float]:
    """The times of both in round `k`; which goes first alternates."""
    found = {side: time(side) for side in (sides if k % 2 else reversed(sides))}
    return [found[side] for side in sides]


def _ratio(name: str, pairs: list[list[float]]) -> Ratio:
    mine, other = (min(column) for column in zip(*pairs, strict=True))
    middle = statistics.median(a / b for a, b in pairs)
    return Ratio(name, mine / other, TARGET, f"{1e3 * mine:.2f} / {1e3 * other:.2f} ms, median of ratios {middle:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="lines with this in their name")
    parser.add_argument("--instructions", action="store_true", help="count instructions (valgrind) in place of time")
    asked = parser.parse_args()
    there = asked.other.resolve()
    found = count(there, asked.only) if asked.instructions else measure(there, asked.rounds, asked.only)
    sys.exit(not show(__doc__.splitlines()[0], found))
