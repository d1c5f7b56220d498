"""Runs from 9 to 2000 buses against their floor: what their kernels, guards, factorisations and solves take alone.

Each is two seconds with a fault, in steps of 10 ms; by CPU time, the best of rounds that take all in turn. The 2000-bus
system is that of docs/activsg2000.md, where its files are there.
"""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gridcore as gc
from gridcore.equilibrium import Equilibrium

from .ratios import Ratio, show
from .step import STEP, Work, work

T_END = 2.0
DOCS = str(Path(__file__).parents[2] / "docs")
SIZES = {9: "wscc9", 39: "ieee39", 118: "ieee118", 140: "npcc140", 145: "ieee145", 2000: "activsg2000"}
LARGE = 1000  # buses; one call takes milliseconds there


@dataclass
class Row:
    """A system and its run."""

    case: str
    buses: int
    unknowns: int
    work: Work

    @property
    def ratio(self) -> float:
        """The run against its floor."""
        return self.work.run / self.work.floor

    @property
    def target(self) -> float:
        """What the ratio is to be: Python's part weighs more where everything else is small."""
        return 1.5 if self.buses >= 118 else 3.0

    @property
    def step(self) -> float:
        """Seconds of a step and unknown."""
        return self.work.run / (T_END / STEP) / self.unknowns


def build(name: str) -> Equilibrium | None:
    """The system, with a fault within the two seconds; None where its files are not there."""
    if name != "activsg2000":
        return gc.build(name)
    files = page("activsg2000")
    if not files.FOLDER.exists():
        return None
    case = gc.analyses.widen_limits(files.load(files.FOLDER)[0])
    case.add_event(files.FAULT)
    return gc.build(case)


def page(name: str) -> Any:
    """The module that makes a page of docs/, for the systems it has."""
    if DOCS not in sys.path:
        sys.path.insert(0, DOCS)
    return importlib.import_module(name)


def rows(rounds: int = 11, most: int = 2000) -> list[Row]:
    """Systems of up to so many buses."""
    found = []
    for buses, name in SIZES.items():
        system = build(name) if buses <= most else None
        if system is not None:
            few = buses > LARGE
            found.append(Row(name, buses, system.n, work(system, T_END, max(2, rounds // 4) if few else rounds,
                                                         5 if few else 100, time.process_time)))
    return found


def measure(rounds: int = 11, most: int = 2000) -> list[Ratio]:
    """Every run against its floor, and how the time of a step and unknown grows."""
    found = rows(rounds, most)
    ratios = [Ratio(f"{row.case}: run / floor", row.ratio, row.target, str(row.work)) for row in found]
    reference = next(row for row in found if row.buses == 118)
    ratios += [Ratio(f"time of a step and unknown, {row.buses} buses / 118", row.step / reference.step, None,
                     f"{1e9 * row.step:.0f} ns, {row.unknowns} unknowns") for row in found if row.buses > 118]
    return ratios


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
