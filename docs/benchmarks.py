"""Regenerates benchmarks.md: ``python docs/benchmarks.py`` (minutes); one table by ``... scale`` or ``... ida``."""

from __future__ import annotations

import sys

from pages import BLUE, GREY, HERE, ORANGE, fill, markdown, panels, save

sys.path.insert(0, str(HERE.parent / "tests"))
from bench import ida, scale
from bench.suite import STEP, T_END, Row, rows

KERNELS = ("rhs", "residual", "newton", "last newton", "matrix", "refresh")
FACTORS = ("refactor",)


def table(found: list[Row]) -> str:
    """A row for each system."""
    lines = []
    for row in found:
        counts, work = row.work.counts, row.work
        lines.append([row.case, str(row.buses), str(row.unknowns),
                      *(str(n) for n in (round(T_END / STEP), counts["newton"] + counts["last newton"],
                                         sum(counts[name] for name in FACTORS), counts["solve"])),
                      f"{1e3 * work.run:.1f}", f"{1e3 * work.floor:.1f}", f"{row.ratio:.2f}", f"{row.target:g}",
                      f"{1e9 * row.step:.0f}"])
    return markdown(["case", "buses", "unknowns", "steps", "Newton iterations", "factorisations", "solves", "run (ms)",
                     "floor (ms)", "ratio", "target", "ns per step and unknown"], lines)


def draw(found: list[Row]) -> None:
    """What a run is made of."""
    figure, axes = panels(1, 1, height=3.2)
    ax = axes[0, 0]
    places = range(len(found))
    bottom = [0.0] * len(found)
    guards = ("values", "active")
    for label, names, colour in (("kernels", KERNELS, BLUE), ("factorisations", FACTORS, ORANGE),
                                 ("solves", ("solve",), "#009E73"), ("guards", guards, "#CC79A7")):
        height = [sum(row.work.parts.get(name, 0.0) for name in names) / row.work.run for row in found]
        ax.bar(places, height, bottom=bottom, color=colour, label=label, width=0.6)
        bottom = [a + b for a, b in zip(bottom, height, strict=True)]
    ax.bar(places, [1 - b for b in bottom], bottom=bottom, color=GREY, label="the rest: Python, tape", width=0.6)
    ax.set_xticks(list(places), [str(row.buses) for row in found])
    ax.set_xlabel("buses")
    ax.set_ylabel("share of the run")
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, "benchmarks.png")


def scale_table() -> str:
    """A row for each size."""
    found = scale.rows(rounds=2)
    steps = scale.T_END / scale.STEP
    per_step = {name: 1e9 * row["simulate"] / steps / row["unknowns"] for name, row in found.items()}
    smallest = per_step[next(iter(found))]
    return markdown(["network", "buses", "unknowns", "build (s)", "100 steps (s)", "ns per step and unknown",
                     "of the smallest", "memory (MB)", "kB per unknown"], [
        [name, str(scale.SIZES[name]), f"{row['unknowns']:.0f}", f"{row['build']:.2f}", f"{row['simulate']:.3f}",
         f"{per_step[name]:.0f}", f"{per_step[name] / smallest:.2f}", f"{row['memory']:.0f}",
         f"{1e3 * row['memory'] / row['unknowns']:.2f}"] for name, row in found.items()])


def rootfinding_table() -> str:
    """A row for each case and root finding."""
    lines = []
    for cost in ida.costs():
        for which, kind in enumerate(ida.ROOTFINDING):
            run = cost.runs[which]
            lines.append([cost.case, kind, *(str(n) for n in (
                cost.guards, len(run.events), run.counters.get("locations", 0), *cost.work(which).values())),
                f"{1e3 * cost.times[which]:.1f}"])
    return markdown(["case", "roots by", "guards", "events", "located", "steps", "IDA's steps", "residuals",
                     "guard evaluations", "CPU (ms)"], lines)


def main() -> None:
    """Tables and figure."""
    tables = {"scale": scale_table, "rootfinding": rootfinding_table}
    alone = {"scale": "scale", "ida": "rootfinding"}
    if len(sys.argv) > 1:
        fill("benchmarks.md", {alone[name]: tables[alone[name]]() for name in sys.argv[1:]})
        return
    found = rows()
    fill("benchmarks.md", {"floor": table(found), **{name: made() for name, made in tables.items()}})
    draw(found)


if __name__ == "__main__":
    main()
