"""Reading the RAW and DYR files of ACTIVSg2000, where they are there, against two seconds; its RAW file 35 times over,
with other numbers of buses, against three.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from pathlib import Path

import gridcore as gc

from .ratios import Ratio, best

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "activsg2000"
FILES = FOLDER / "ACTIVSg2000.RAW", FOLDER / "ACTIVSg2000_dynamics.dyr"
#: Sections in their order, by the columns that are buses and the lines of a record; the others are written once.
BUSES = {0: (1, 1), 1: (1, 1), 2: (1, 1), 3: (1, 1), 4: (2, 1), 5: (2, 4), 16: (1, 1)}
APART = 10_000  # more than the largest number of a bus
TIMES = 35


def repeated(text: str, times: int) -> str:
    """A RAW file of version 33 in which the system is there so many times, each a system by itself."""
    head, body = text.split("\n", 3)[:3], text.split("\n", 3)[3]
    sections = re.split(r"(?m)^(0 ?/.*\n)", body)
    for place, (columns, lines) in BUSES.items():
        rows = sections[2 * place].splitlines()
        sections[2 * place] = "".join(
            f"{_moved(row, columns, copy * APART) if n % lines == 0 else row}\n"
            for copy in range(times) for n, row in enumerate(rows))
    return "\n".join([*head, "".join(sections)])


def _moved(row: str, columns: int, by: int) -> str:
    *buses, rest = row.split(",", columns)
    return ",".join([*(str(int(bus) + by) for bus in buses), rest])


def measure(rounds: int = 3, times: int = TIMES) -> list[Ratio]:
    """CPU time of the reading alone."""
    if not FOLDER.exists():
        print(f"  no folder {FOLDER}", file=sys.stderr)
        return []
    [seconds] = best(lambda: gc.load_case(*map(str, FILES)), rounds=rounds, clock=time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "repeated.raw")
        path.write_text(repeated(FILES[0].read_text(), times))
        [large] = best(lambda: gc.load_case(path, alone=True), rounds=rounds, clock=time.process_time)
    return [Ratio("reading ACTIVSg2000, RAW and DYR / 2 s", seconds / 2, 1.0, f"{seconds:.2f} s"),
            Ratio(f"reading {2000 * times} buses, RAW / 3 s", large / 3, 1.0, f"{large:.2f} s")]
