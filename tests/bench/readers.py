"""Reading the RAW and DYR files of ACTIVSg2000, where they are there, against two seconds."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import gridcore as gc

from .ratios import Ratio, best

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "activsg2000"
FILES = FOLDER / "ACTIVSg2000.RAW", FOLDER / "ACTIVSg2000_dynamics.dyr"


def measure(rounds: int = 3) -> list[Ratio]:
    """CPU time of the reading alone."""
    if not FOLDER.exists():
        print(f"  no folder {FOLDER}", file=sys.stderr)
        return []
    [seconds] = best(lambda: gc.load_case(*map(str, FILES)), rounds=rounds, clock=time.process_time)
    return [Ratio("reading ACTIVSg2000, RAW and DYR / 2 s", seconds / 2, 1.0, f"{seconds:.2f} s")]
