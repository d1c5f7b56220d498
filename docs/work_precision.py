"""Regenerates work-precision.md: ``python docs/work_precision.py`` (minutes); one case by ``... NAME``.

The 2000-bus system is that of activsg2000.py, and is left out where its files are not.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import activsg2000
import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, filled, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium

PAGE = "work-precision.md"
T_END = 10.0
LOOK = (2.0, 5.0, 10.0)
ROUNDS = 15
COUNTED = ("steps", "newton_iterations", "factorisations")
THETA, TRBDF2, BDF, IDA = "theta", "TR-BDF2", "BDF", "IDA"
COLOURS = {THETA: ORANGE, TRBDF2: GREEN, BDF: BLUE, IDA: GREY}


@dataclass(frozen=True)
class How:
    """A method, with fixed steps (s), or the tolerance by which it chooses them."""

    label: str
    step: float = 0.0
    rtol: float = 0.0

    @property
    def words(self) -> str:
        return f"{1e3 * self.step:g} ms" if self.step else f"rtol = {self.rtol:g}"

    def simulate(self, system: Equilibrium, t_end: float = T_END) -> gc.Run:
        options: dict[str, Any] = {"step": self.step or ("auto" if self.label != IDA else t_end)}
        if self.rtol:
            options |= {"rtol": self.rtol, "atol": self.rtol / 100}
        return gc.simulate(system, t_end, method=self.label.lower().replace("-", ""), **options)


EVERY = [*(How(THETA, step=h) for h in (0.02, 0.01, 0.005, 0.0025)),
         *(How(TRBDF2, step=h) for h in (0.02, 0.01, 0.005)),
         *(How(label, rtol=r) for label in (THETA, TRBDF2) for r in (1e-2, 1e-3, 1e-4)),
         *(How(label, rtol=r) for label in (BDF, IDA) for r in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6))]
FEW = [How(THETA, step=0.02), How(THETA, step=0.01), How(THETA, step=0.005), How(TRBDF2, step=0.01),
       *(How(label, rtol=r) for label in (THETA, TRBDF2, BDF) for r in (1e-1, 1e-2, 1e-3))]


def ieee118() -> Equilibrium:
    """The case with a fault at 1 s."""
    case = gc.load_case("ieee118")
    for record in [record for record in case if record.model in ("BusFault", "BranchTrip")]:
        case.remove(record.fields["id"])
    case.add_event(gc.BusFault(id="fault", bus=15, t=1.0, clear=1.1, x=0.05))
    return gc.build(case)


def activsg() -> Equilibrium:
    """The 2000-bus system, its limits widened to its operating point, with a bolted fault at 1 s."""
    case = gc.analyses.widen_limits(gc.load_case(activsg2000.FOLDER / activsg2000.RAW,
                                                 activsg2000.FOLDER / activsg2000.DYR, loads=activsg2000.LOADS))
    case.add_event(activsg2000.FAULT)
    return gc.build(case)


SYSTEMS: dict[str, Callable[[], Equilibrium]] = {
    **{name: lambda name=name: gc.build(gc.load_case(name)) for name in ("wscc9", "ieee39", "npcc140")},
    "ieee118": ieee118, "activsg2000": activsg}


def by_ida(system: Equilibrium, looks: Iterable[float]) -> list[np.ndarray]:
    """The variables at these times, by IDA at 1e-10."""
    return [gc.simulate(system, t, 1.0, "ida", rtol=1e-10, atol=1e-12).X[-1] for t in looks]


def largest_error(system: Equilibrium, found: Iterable[np.ndarray], true: Iterable[np.ndarray]) -> float:
    """Of all variables at some times, as a part of ``scale + |x|``."""
    scale = system.workspace().scale
    return max(float((np.abs(X - of) / (scale + np.abs(of))).max()) for X, of in zip(found, true, strict=True))


def references(name: str, system: Equilibrium) -> list[np.ndarray]:
    """The variables at the times that are looked at: by IDA at 1e-10; of the large system by steps of 1 ms."""
    if name == "activsg2000":
        run = How(TRBDF2, step=1e-3).simulate(system)
        return [run.X[np.searchsorted(run.t, t - 1e-6)] for t in LOOK]
    return by_ida(system, LOOK)


@dataclass
class Found:
    """What a run took, and how far it is off."""

    how: How
    error: float
    cpu: float
    counters: dict[str, int]


def measure(name: str) -> list[Found]:
    """Every method on a system; the least times of rounds in which all take turns, for machines change their speed."""
    system, large = SYSTEMS[name](), name == "activsg2000"
    true, found = references(name, system), []
    for how in FEW if large else EVERY:
        run = how.simulate(system)
        ends = [*(how.simulate(system, t).X[-1] for t in LOOK[:-1]), run.X[-1]]
        found.append(Found(how, largest_error(system, ends, true), math.inf, run.counters))
    for _, each in itertools.product(range(2 if large else ROUNDS), found):
        began = time.process_time()
        each.how.simulate(system)
        each.cpu = min(each.cpu, time.process_time() - began)
    for each in found:
        print(name, each.how.label, each.how.words, f"{each.error:.1e} {1e3 * each.cpu:.1f} ms", flush=True)
    return found


def table(found: list[Found]) -> str:
    """A row for each."""
    rows = [[each.how.label, each.how.words, f"{each.error:.1e}", f"{1e3 * each.cpu:.{0 if each.cpu > 1 else 1}f}",
             *(str(each.counters.get(what, "")) for what in COUNTED[:1]),
             *("" if each.how.label == IDA else str(each.counters[what]) for what in COUNTED[1:])] for each in found]
    return markdown(["method", "steps", "error", "CPU (ms)", "steps made", "iterations", "factorisations"], rows)


def figure() -> None:
    """Error against time of the processor, of all tables of the page."""
    drawn, axes = panels(len(SYSTEMS), 1, height=2.6)
    for ax, name in zip(axes[:, 0], SYSTEMS, strict=True):
        rows = filled(PAGE, name)
        for label, colour in COLOURS.items():
            for fixed, line in ((True, "o:"), (False, "s-")):
                chosen = [(float(cpu), float(error)) for method, steps, error, cpu, *_ in rows
                          if method == label and steps.endswith("ms") == fixed]
                if chosen:
                    ax.loglog(*zip(*chosen, strict=True), line, color=colour, markersize=3.5, linewidth=1,
                              label=f"{label}, {'fixed' if fixed else 'chosen'} steps")
        for place in (ax.xaxis.set_major_formatter, ax.xaxis.set_minor_formatter):
            place(lambda x, _: f"{x:g}")
        ax.tick_params(which="both", labelsize=7)
        ax.set_title(name, fontsize=9)
        ax.set_ylabel("largest error of scale + |x|")
    axes[-1, 0].set_xlabel("CPU (ms)")
    axes[0, 0].legend(frameon=False, fontsize=7)
    save(drawn, "work_precision.png")


def main(names: list[str]) -> None:
    """Tables of some systems, or of all whose files are there; and the figure."""
    warnings.simplefilter("ignore")
    there = [name for name in SYSTEMS if name != "activsg2000" or (activsg2000.FOLDER / activsg2000.RAW).exists()]
    fill(PAGE, {name: table(measure(name)) for name in names or there})
    figure()


if __name__ == "__main__":
    main(sys.argv[1:])
