"""Regenerates sweep-2000.md: ``python docs/sweep_2000.py`` (a quarter of an hour on two processes).

The files of the 2000-bus system are those of activsg2000.py. The sweep is ended once on its way, and goes on.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import activsg2000
from pages import fill, markdown

import gridcore as gc
from gridcore.equilibrium import Equilibrium

COUNT, T_END, STEP, CLEAR, PROCESSES, SHOWN = 200, 3.0, 0.01, 0.1, 2, 15
ENDED = 40  # rows after which the sweep is ended, as by Ctrl-C


def system(folder: Path) -> Equilibrium:
    """With its limits widened to the operating point, loads as constant current and impedance."""
    case = gc.load_case(folder / activsg2000.RAW, folder / activsg2000.DYR, loads=activsg2000.LOADS)
    return gc.build(gc.analyses.widen_limits(case))


def buses(case: gc.Case, count: int) -> list[str]:
    """So many at equal distances in the order of the file."""
    ids = [id for id, record in zip(case.ids(), case, strict=True) if record.model == "Bus"]
    return [ids[k * len(ids) // count] for k in range(count)]


def swept(at: Equilibrium, faults: list[str], store: Path, ended: int | None = None) -> tuple[Any, float]:
    """The table, and the seconds that it took; `ended`: a KeyboardInterrupt after so many rows."""
    def progress(done: int, of: int) -> None:
        print(f"\r{done} of {of}", end="", flush=True)
        if done == ended:
            raise KeyboardInterrupt

    began = time.perf_counter()
    table = gc.analyses.sweep(at, contingencies={"faults": faults, "clear": CLEAR}, t_end=T_END, step=STEP,
                              processes=PROCESSES, store=store, progress=progress)
    return table, time.perf_counter() - began


def main(folder: Path) -> None:
    """The tables."""
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    at = system(folder)
    building = time.perf_counter() - began
    faults = buses(at.case, COUNT)
    with tempfile.TemporaryDirectory() as place:
        store, first = Path(place) / "n1.db", time.perf_counter()
        try:
            swept(at, faults, store, ENDED)
        except KeyboardInterrupt:
            first = time.perf_counter() - first
        table, rest = swept(at, faults, store)
        _, again = swept(at, faults, store)
    fill("sweep-2000.md", {
        "worst": "    " + table.text(SHOWN).replace("\n", "\n    "),
        "took": markdown(["what", "took"], [
            ["reading, widening, building", f"{building:.0f} s"],
            [f"the first {ENDED} rows, then ended", f"{first:.0f} s"],
            [f"the other {COUNT - ENDED}, going on from the store", f"{rest:.0f} s"],
            [f"a run, on one of {PROCESSES} processes", f"{PROCESSES * (first + rest) / COUNT:.1f} s"],
            ["the same command once more", f"{again:.1f} s"],
            ["stable", f"{sum(table.column('stable'))} of {COUNT}"], ["failed", str(len(table.failed))]])})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else activsg2000.FOLDER)
