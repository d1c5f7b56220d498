"""Regenerates study-clearing.md's tables and figure: ``python docs/study_clearing.py`` (half a minute)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, draw_parting, fill, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore_optimisation.critical import Critical

WRT = ["GEN*.H", "GEN*.P0", "EXC*.KA", "LINE*.x", "GEN*.V0"]


@dataclass
class Study:
    """The critical clearing time of one case."""

    title: str
    name: str
    between: tuple[float, float]
    tolerance: float = 1e-7
    t_end: float = 5.0
    wrt: tuple[str, ...] = ()

    @cached_property
    def system(self) -> Equilibrium:
        """Of the case, as it is shipped."""
        return gc.build(self.name)

    @cached_property
    def found(self) -> Critical:
        """By Newton's iteration."""
        return gc.analyses.critical_value(self.system, "fault.clear", between=self.between, t_end=self.t_end,
                                          wrt=list(self.wrt), tolerance=self.tolerance)

    def halved(self) -> tuple[float, int]:
        """By halving what is between, to the same tolerance; and how many simulations that took."""
        stable, unstable = self.between
        count = 2
        while unstable - stable > self.tolerance:
            middle, count = 0.5 * (stable + unstable), count + 1
            run = gc.simulate(self.system.with_values({"fault.clear": middle}), self.t_end)
            out = gc.analyses.rotors(run).verdict == "out of synchronism"
            stable, unstable = (stable, middle) if out else (middle, unstable)
        return 0.5 * (stable + unstable), count

    def begins(self) -> float:
        """When the fault begins (s)."""
        return float(self.system.Z0[self.system.layout.address("fault.t")])


STUDIES = [Study("one machine, infinite bus", "smib", (0.17, 0.6)),
           Study("9-bus, 3 machines", "wscc9", (0.15, 0.3), wrt=tuple(WRT)),
           Study("145-bus, 50 machines", "ieee145", (0.2, 0.4), 1e-6),
           Study("39-bus, 10 machines", "ieee39", (1.1, 1.2), 1e-6, 8.0)]


def comparison() -> str:
    """Newton beside halving."""
    rows = []
    for study in STUDIES:
        # what is compiled once is compiled before the clock starts
        gc.analyses.critical_value(study.system, "fault.clear", between=study.between, t_end=3.0, tolerance=3e-2)
        began = time.perf_counter()
        found = study.found
        took = time.perf_counter() - began
        began = time.perf_counter()
        value, count = study.halved()
        halving = time.perf_counter() - began
        t = study.begins()
        rows.append([study.title, f"{(found.value - t) * 1e3:.4f}", f"{(value - t) * 1e3:.4f}",
                     f"{study.tolerance * 1e3:g}", f"{len(found.attempts)} / {count}", f"{took:.1f} / {halving:.1f}"])
    return markdown(["", "Newton (ms)", "halving (ms)", "tolerance (ms)", "simulations", "seconds"], rows)


def iterations(study: Study) -> str:
    """Each attempt, and how far it was from the end."""
    rows = []
    for attempt in study.found.attempts:
        step = attempt.estimate - attempt.value
        rows.append([f"{(attempt.value - study.begins()) * 1e3:.6f}", "stable" if attempt.stable else "unstable",
                     f"{attempt.eigenvalue:.3f}" if np.isfinite(attempt.eigenvalue) else "",
                     f"{step * 1e3:.6f}" if np.isfinite(step) else "",
                     f"{abs(attempt.value - study.found.value) * 1e3:.1e}"])
    return markdown(["cleared after (ms)", "", "eigenvalue (1/s)", "Newton's step (ms)", "error (ms)"], rows)


def sensitivities(study: Study, count: int = 12) -> str:
    """The largest, by derivative times parameter; and differences of the critical time itself."""
    table = study.found.sensitivities
    order = np.argsort(-np.abs(table.values * table["at"].values))[:count]
    rows = []
    for k in order:
        name, at = str(table["parameter"].values[k]), float(table["at"].values[k])
        h = 2e-4 * abs(at)
        a, b = (gc.analyses.critical_value(study.system.with_values({name: at + s * h}), "fault.clear", tolerance=1e-8,
                                           between=study.between, t_end=study.t_end).value for s in (1, -1))
        rows.append([name, f"{at:.5g} {table['unit'].values[k]}", f"{1e3 * table.values[k]:.5f}",
                     f"{1e3 * (a - b) / (2 * h):.5f}"])
    return markdown(["parameter", "at", "derivative (ms per unit)", "by differences"], rows)


def main() -> None:
    """Tables and figure."""
    nine = STUDIES[1]
    fill("study-clearing.md", {"comparison": comparison(), "iterations": iterations(nine),
                               "sensitivities": sensitivities(nine)})
    figure, axes = panels(1, 2, height=3.0)
    for study, colour in zip(STUDIES, (BLUE, ORANGE, GREEN, GREY), strict=True):
        errors = [abs(a.value - study.found.value) * 1e3 for a in study.found.attempts[2:]]
        axes[0, 0].semilogy(np.maximum(errors, 1e-9), "o-", color=colour, label=study.title)
    axes[0, 0].set_xlabel("iteration")
    axes[0, 0].set_ylabel("error of the clearing time (ms)")
    axes[0, 0].legend(frameon=False, fontsize=8)
    sides = ((-1e-3, BLUE), (-1e-5, BLUE), (-1e-7, BLUE), (1e-7, ORANGE), (1e-5, ORANGE), (1e-3, ORANGE))
    draw_parting(axes[0, 1], "9-bus, 1 ms, 10 µs, 0.1 µs to either side", (
        (gc.simulate(nine.system.with_values({"fault.clear": nine.found.value + offset}), 3.0), colour)
        for offset, colour in sides))
    save(figure, "study_clearing.png")


if __name__ == "__main__":
    main()
