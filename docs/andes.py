"""Regenerates andes.md's tables and figure: ``GRIDCORE_ANDES=... python docs/andes.py`` (an hour; needs IDA).

GRIDCORE_ANDES is a Python that has ANDES 2.0; ``tox -e andes`` makes one. The files of the studies are not part of
gridcore: ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from pages import BLUE, HERE, ORANGE, fill, markdown, panels, save

import gridcore as gc

sys.path.insert(0, str(HERE.parent / "tests"))
from bench import andes as bench
from crosscheck import compare
from crosscheck.program import Asked, ask
from crosscheck.studies import STUDIES, Trajectories, grid, trajectories

FIGURE = ("kundur", "ieee39")
STEPS = (1 / 30, 1 / 60, 1 / 120, 1 / 240, 1 / 480, 1 / 960)
DENSE = 1000  # rows; dense decompositions of more take hours
QUANTITIES = ("speed", "angle", "voltage")
HEADING = ["study", "speed (pu)", "angle (rad)", "voltage (pu)"]
MARGINS = (5e-4, 3e-3, 0.01, 0.03, 0.1)  # s


def sizes(found: dict[str, float]) -> list[str]:
    """Cells of a table."""
    return [f"{found[quantity]:.1e}" for quantity in QUANTITIES]


def operating_points() -> dict[str, str]:
    """Where both begin."""
    rows = []
    for name in ("kundur", "ieee39", "npcc140"):
        for shipped in (True, False):
            found = compare.starts(name, shipped)
            fluxes = max(found[flux] for flux in ("Eqp", "Edp", "psikd", "psikq"))
            cells = [*(found[what] for what in ("voltage", "angle", "delta")), fluxes,
                     *(found[what] for what in ("Efd", "Pm", "Vref"))]
            rows.append([name, "as shipped" if shipped else "1e-8 pu added", *(f"{size:.1e}" for size in cells)])
    return {"starts": markdown(["case", "branches", "V (pu)", "angle (rad)", "rotor angle (rad)", "fluxes (pu)",
                                "Efd (pu)", "Pm (pu)", "Vref (pu)"], rows)}


def limits() -> dict[str, str]:
    """What becomes of the differences where exciters are at limits, if ANDES's steps are made smaller."""
    rows = []
    for name, steps in ((compare.LIMITED, compare.SMALLER), ("ieee39", compare.SMALLER[:3])):
        found = compare.limited(name, steps)
        for k, run in enumerate(found.runs):
            exact = compare.ours(name, step=grid(run.t), **compare.REFERENCE)
            mine = compare.ours(name, step=grid(run.t))
            beyond, _, part = compare.beyond_limit(name, found, k)
            rows.append([name, f"1/{round(1 / steps[k])} s", *sizes(compare.differences(name, exact, run)),
                         f"{beyond:.3f}", f"{100 * part:.0f} %",
                         *sizes(compare.differences(name, exact, mine))])
    return {"limits": markdown([HEADING[0], "step", *HEADING[1:], "VR beyond VRMAX (pu)", "in steps",
                                *(f"gridcore's {what}" for what in QUANTITIES)], rows)}


def agreement() -> dict[str, str]:
    """Trajectories and eigenvalues."""
    away, nearer, everywhere, fine, modes = [], [], [], [], []
    for name in STUDIES:
        found = compare.theirs(name).runs[0]
        away.append([name, *sizes(compare.differences(name, compare.ours(name), found))])
        late = compare.ours(name, late=compare.LATE)
        everywhere.append([name, *sizes(compare.differences(name, late, found, margin=5e-4))])
        mine, pencil = compare.spectrum(name), compare.theirs(name).pencil
        row = [name, str(len(mine)), f"{compare.matched(mine, compare.theirs(name).eigenvalues):.1e}"]
        if len(pencil[0]) < DENSE:
            row += [f"{compare.matched(mine, compare.finite(pencil)):.1e}", f"{compare.residual(pencil, mine):.1e}"]
        modes.append(row + [""] * (5 - len(row)))
    for name in FIGURE:
        for margin in MARGINS:
            found = compare.differences(name, compare.ours(name), compare.theirs(name).runs[0], margin)
            nearer.append([name, f"{1e3 * margin:g} ms", *sizes(found)])
        reference = compare.ours(name, step=compare.STEP, **compare.REFERENCE)
        reference = reference.at(np.arange(1, round(compare.T_END * 48)) / 48)
        for parts in (1, 10):
            mine = compare.ours(name, step=compare.STEP / parts)
            fine.append([name, f"1/{480 * parts} s", *sizes(compare.differences(name, mine, reference))])
    return {"away": markdown(HEADING, away), "everywhere": markdown(HEADING, everywhere),
            "nearer": markdown([HEADING[0], "farther than", *HEADING[1:]], nearer),
            "fine": markdown([HEADING[0], "step", *HEADING[1:]], fine),
            "modes": markdown(["study", "eigenvalues", "from ANDES's", "from the pencil's", "residual"], modes)}


def named(name: str) -> list[str]:
    """How far the two are apart if every model has its own name in both."""
    study = STUDIES[name]
    try:
        found = ask(study, [Asked(compare.STEP, t_end=compare.T_END)], as_named=True)
    except RuntimeError as error:
        return [name, f"ANDES stops: {str(error).strip().splitlines()[-1].partition(':')[0]}", "", ""]
    with tempfile.TemporaryDirectory() as folder:
        built = gc.build(study.case(Path(folder), as_named=True))
    run = gc.simulate(built, compare.T_END, grid(found.runs[0].t))
    return [name, *sizes(compare.differences(name, trajectories(run, found.machines, found.buses), found.runs[0]))]


def error(mine: Trajectories, reference: Trajectories, name: str) -> float:
    """Largest error of a speed away from the switchings."""
    return compare.differences(name, mine, reference)["speed"]


def cost(name: str) -> dict[str, list[tuple[float, float]]]:
    """(CPU seconds, error of the speeds) of both programs, by step."""
    out: dict[str, list[tuple[float, float]]] = {"ANDES": [], "gridcore": []}
    answer = ask(STUDIES[name], [Asked(step, t_end=compare.T_END) for step in STEPS])
    for step, run, times in zip(STEPS, answer.runs, answer.times["runs"], strict=True):
        exact = compare.ours(name, step=grid(run.t), **compare.REFERENCE)
        out["ANDES"].append((times["cpu"], error(exact, run, name)))
        best = np.inf
        for _ in range(5):
            began = time.process_time()
            own = gc.simulate(compare.system(name), compare.T_END, step)
            best = min(best, time.process_time() - began)
        mine = trajectories(own, answer.machines, answer.buses)
        exact = compare.ours(name, step=step, **compare.REFERENCE)
        common = mine.at(np.arange(1, round(compare.T_END / step)) * step)
        out["gridcore"].append((best, error(exact, common, name)))
    return out


def draw() -> None:
    """Accuracy against cost."""
    figure, axes = panels(1, len(FIGURE), height=3.4)
    for ax, name in zip(axes[0], FIGURE, strict=True):
        found = cost(name)
        for program, colour in (("ANDES", ORANGE), ("gridcore", BLUE)):
            seconds, errors = zip(*found[program], strict=True)
            ax.loglog(seconds, errors, "o-", color=colour, label=program, markersize=4)
            for k in (0, len(STEPS) - 1):
                ax.annotate(f"1/{round(1 / STEPS[k])} s", (seconds[k], errors[k]), xytext=(4, 4),
                            textcoords="offset points", fontsize=8, color=colour)
        ax.set_title(name, loc="left", fontsize=10)
        ax.set_xlabel("CPU time of the simulation call (s)")
    axes[0, 0].set_ylabel("largest error of a speed (pu)")
    axes[0, 0].legend(frameon=False, loc="lower left")
    save(figure, "andes.png")


def ratios() -> dict[str, str]:
    """Times of both programs."""
    rows = []
    for name in bench.CASES:
        call, process = bench.call(STUDIES[name]), bench.process(STUDIES[name])
        rows.append([name, *(f"{1e3 * cost.cpu:.0f}" for cost in (call.ours, call.theirs)),
                     f"{call.theirs.cpu / call.ours.cpu:.0f}",
                     *(str(count) for count in (call.ours.iterations, call.theirs.iterations)),
                     *(f"{cost.cpu:.2f}" for cost in (process.ours, process.theirs)),
                     f"{process.theirs.cpu / process.ours.cpu:.1f}"])
    return {"ratios": markdown(["study", "call, gridcore (ms)", "ANDES (ms)", "times faster", "iterations, gridcore",
                                "ANDES",
                                "process, gridcore (s)", "ANDES (s)", "times faster"], rows)}


def as_named() -> dict[str, str]:
    """The studies in which a model has not the same equations in both."""
    return {"named": markdown(HEADING, [named(name) for name in (
        "kundur, EXDC2", "kundur, EXDC2, no limits", "ieee39")])}


PARTS = {"ratios": ratios, "starts": operating_points, "agreement": agreement, "limits": limits, "named": as_named,
         "figure": draw}


def main(parts: list[str]) -> None:
    """These parts of the page, all by default."""
    for part in parts or PARTS:
        fill("andes.md", PARTS[part]() or {})


if __name__ == "__main__":
    main(sys.argv[1:])
