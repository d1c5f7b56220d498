"""Regenerates reference-c.md's tables and figure: ``python docs/reference_c.py`` (some seconds)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc

CLEARED = {"stable": 0.30, "unstable": 0.31}
STRATEGIES = {"SICM": "simultaneous corrector", "SDM": "staggered direct", "SCM": "staggered corrector",
              "SHM": "staggered hybrid"}
# The paper's table 2: Jacobians, factorisations, forward/backward solves, right-hand sides, GMRES or quasi-Newton
# solves, Mflop; and Newton iterations per step.
PAPER = {("stable", "SICM"): (70, 70, 5882, 3602, 0, 326.18, 5.23),
         ("stable", "SDM"): (564, 564, 3143, 3804, 0, 243.3, 4.42),
         ("stable", "SCM"): (565, 31, 2885, 4050, 534, 228.96, 4.85),
         ("stable", "SHM"): (565, 31, 2885, 4050, 534, 226.3, 4.85),
         ("unstable", "SCM"): (661, 78, 4649, 5995, 586, 328.86, None),
         ("unstable", "SHM"): (661, 78, 4649, 5995, 586, 318.53, None)}
HEADING = ["", "Jacobians", "factorisations", "solves", "right-hand sides", "iterative solves", "Mflop",
           "Newton iterations a step", "iterations a solve"]
TOLERANCE = 1e-10
SHOWN = ("GEN98", "GEN100", "GEN103", "GEN110")


@functools.cache
def simulate(case: str) -> gc.Run:
    """Trapezoidal; 1 ms, then 10 ms from 0.1 s after clearing."""
    loaded = gc.load_case("ieee145")
    loaded.set("fault.clear", CLEARED[case])
    return gc.simulate(gc.build(loaded), 3.0, [(0, 0.001), (CLEARED[case] + 0.1, 0.01)])


@functools.cache
def sensitivities(case: str, method: str | None, parameter: str = "fault.clear", tolerance: float = 1e-13) -> Any:
    """Of all states; with what it took in the attributes, if by one of the methods."""
    strategy = STRATEGIES[method] if method else None
    return gc.analyses.tsa(simulate(case), parameter, strategy=strategy, tolerance=tolerance)


def line(case: str, method: str, parameter: str) -> list[str]:
    """A line of the table, ours."""
    work = sensitivities(case, method, parameter, TOLERANCE).attrs
    iterative = 0 if method == "SICM" else work["iterative_solves"]
    cells = [work["jacobians"], work["factorisations"], work["solves"] - work["inner_solves"], work["right_hand_sides"],
             iterative or ""]
    return [*map(str, cells), f"{work['mflop']:.1f}", f"{work['newton_iterations'] / work['steps']:.2f}",
            f"{work['iterations'] / iterative:.2f}" if iterative else ""]


def table_two(parameter: str) -> str:
    """The paper's table 2, and ours."""
    rows = []
    for case, cleared in CLEARED.items():
        for method in STRATEGIES:
            name = f"{method}, cleared at {cleared:.2f} s"
            if (case, method) in PAPER:
                *counts, flop, newton = PAPER[case, method]
                rows.append([f"{name}: paper", *(str(c or "") for c in counts), f"{flop:.1f}",
                             f"{newton:.2f}" if newton else "", ""])
            rows.append([f"{name}: gridcore", *line(case, method, parameter)])
    return markdown(HEADING, rows)


def saved_by_gmres(case: str, parameter: str) -> float:
    """Iterations per solve that the corrector needs more than GMRES."""
    per_solve = [work["iterations"] / work["iterative_solves"] for work in (
        sensitivities(case, method, parameter, TOLERANCE).attrs for method in ("SCM", "SHM"))]
    return per_solve[0] - per_solve[1]


def savings() -> str:
    """The same in a table."""
    rows = [["paper", "1.69", "2.71"]]
    rows += [[f"gridcore, {p}", *(f"{saved_by_gmres(case, p):.2f}" for case in CLEARED)]
             for p in ("fault.clear", "fault.t")]
    return markdown(["", "stable", "unstable"], rows)


def against_adjoint(case: str, method: str | None) -> float:
    """Largest difference from the adjoint, of any state at 3 s, relative to the largest derivative."""
    found, true = sensitivities(case, method), adjoint(case)
    return float(np.abs(found.values[-1, :, 0] - true).max() / np.abs(true).max())


@functools.cache
def adjoint(case: str) -> np.ndarray:
    """Derivatives of all states at 3 s in the clearing time."""
    names = [tuple(name.rsplit(".", 1)) for name in sensitivities(case, None)["quantity"].values]
    return gc.adjoint(simulate(case), [gc.Terminal(lambda v, q=q: v[q]) for q in names], "fault.clear").values[:, 0]


def agreement() -> str:
    """Every strategy against the adjoint."""
    rows = [[case, *(f"{against_adjoint(case, m):.1e}" for m in (None, *STRATEGIES))] for case in CLEARED]
    return markdown(["", "direct sweep", *STRATEGIES], rows)


def costs() -> str:
    """Operations of one factorisation and of one solve."""
    system = simulate("stable").system
    ws, differential = system.workspace(), system.differential(system.Z0)
    ws.mass[:], ws.c[:] = differential, np.where(differential, 0.0005, -1.0)
    lu = system.system.factors()
    lu.factor(ws.matrix().copy())
    factor, solve = lu.operations()
    return markdown(["unknowns", "entries of the matrix", "one factorisation", "one solve", "ratio"],
                    [[str(system.n), str(len(ws.indices)), f"{factor / 1e3:.1f} kflop",
                      f"{solve / 1e3:.1f} kflop", f"{factor / solve:.1f}"]])


def figure() -> None:
    """Angle of the machine that swings most, and sensitivities of angles to the clearing time."""
    drawn, axes = panels(2, 2, width=9.0)
    for column, case in enumerate(CLEARED):
        run = simulate(case)
        machines = [i.id for i in run.system.layout.instances if i.model == "TwoAxis"]
        delta, H = run.of(machines, "delta"), run.of(machines, "H")[0]
        away = np.degrees(delta - (delta @ H / H.sum())[:, None])
        top, bottom = axes[:, column]
        S = gc.analyses.tsa(run, "fault.clear", [(m, "delta") for m in SHOWN], fixed_time=True)
        for k, (machine, colour) in enumerate(zip(SHOWN, (BLUE, ORANGE, GREEN, GREY), strict=True)):
            top.plot(run.t, away[:, machines.index(machine)], color=colour, label=machine)
            bottom.plot(run.t, S.values[:, k, 0], color=colour)
        top.set_title(f"cleared at {CLEARED[case]:.2f} s: {case}", fontsize=10)
        bottom.set_xlabel("time (s)")
    axes[0, 0].set_ylabel("angle to the centre of inertia (deg)")
    axes[1, 0].set_ylabel("d angle / d clearing time (rad/s)")
    axes[0, 0].legend(frameon=False, fontsize=8)
    save(drawn, "reference_c_sensitivities.png")


def main() -> None:
    """All tables into the page, the figure beside it."""
    fill("reference-c.md", {"clearing": table_two("fault.clear"), "fault": table_two("fault.t"), "savings": savings(),
                            "agreement": agreement(), "costs": costs()})
    figure()


if __name__ == "__main__":
    main()
