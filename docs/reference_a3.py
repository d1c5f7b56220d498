"""Regenerates reference-a3.md's tables and figures: ``python docs/reference_a3.py`` (ten seconds)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from pages import HERE, fill, markdown

import gridcore as gc
from gridcore_plot.figures import compose, drawn
from gridcore_plot.panels import Panel

CASES = {"wscc9_paper": "9-bus", "ieee118": "118-bus"}
WRT = ["GEN*.P0", "GEN*.Q0", "BUS*.Vm0", "BUS*.Va0"]
TIMES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
STEP = 0.01
TABLE_V = {"H_GEN2": (0.002465, 0.032956, 0.045809), "H_GEN3": (0.005118, 0.007997, 0.045636)}
PAPER_MS = {"9-bus": (30, 50, 120), "118-bus": (330, 1820, 14000)}  # simulation, adjoint, forward
PETSC_MS = {"9-bus": ("5.7 [4.0]", "14.3 [10.5]", "18.7 [11.6]"),
            "118-bus": ("193 [137]", "870 [784]", "3973 [3693]")}


class Study:
    """Frequency violations of one of the systems, and what they depend on."""

    def __init__(self, name: str, case: gc.Case | None = None):
        self.name = name
        self.system = gc.build(case or name)
        self.objectives = gc.analyses.load_objectives(HERE.parent / "cases" / name / "frequency.toml", self.system)
        self.machines = [i.id for i in self.system.layout.instances if i.model == "TwoAxis"]

    def simulate(self, t_end: float = 1.0) -> gc.Run:
        """Trapezoidal, 10 ms."""
        return gc.simulate(self.system, t_end, STEP)

    def adjoint(self, run: gc.Run, wrt: list[str] = WRT) -> Any:
        """Gradient of all functions; power and voltage at t0 are parameters of their own."""
        return gc.adjoint(run, self.objectives, wrt, dispatch="direct")

    def forward(self, run: gc.Run) -> Any:
        """The same by the forward sweep."""
        return gc.analyses.forward_gradient(run, self.objectives, WRT, dispatch="direct")


def sensitivity_to_governor_references() -> np.ndarray:
    """(machines, machines): of H in each governor's Pref at t0, by steps of no height at t = 0."""
    case = gc.load_case("wscc9_paper")
    for k in (1, 2, 3):
        case.add_event(gc.ParameterStep(id=f"more{k}", parameter=f"GOV{k}.Pref", t=0.0, by=0.0))
    study = Study("wscc9_paper", case)
    return study.adjoint(study.simulate(), ["more*.by"]).values


def sizes(studies: dict[str, Study]) -> str:
    """What is computed."""
    rows = []
    for name, study in studies.items():
        run = study.simulate()
        gradient = study.adjoint(run)
        m, n = gradient.shape
        rows.append([name, str(study.system.n), str(n), str(m), str(int((gradient.value > 0).sum())),
                     str(run.counters["steps"]), str(len(run.events))])
    return markdown(["system", "variables", "parameters", "functions", "of them not zero", "steps", "events"], rows)


def functions(study: Study) -> str:
    """The 9-bus gradient in full."""
    gradient = study.adjoint(study.simulate())
    rows = [["value", *(f"{v:.6f}" for v in gradient.value.values)]]
    rows += [[f"d / d {p}", *(f"{v:.6f}" for v in column)]
             for p, column in zip(gradient["parameter"].values, gradient.values.T) if np.abs(column).max() > 1e-15]
    return markdown(["", *gradient["objective"].values], rows)


def largest(study: Study, count: int = 12) -> str:
    """The largest derivatives of the 118-bus study."""
    gradient = study.adjoint(study.simulate())
    order = np.argsort(-np.abs(gradient.values).ravel())[:count]
    rows = [[str(gradient["objective"].values[i]), f"{gradient['value'].values[i]:.3e}",
             str(gradient["parameter"].values[j]), f"{gradient.values[i, j]:.6f}"]
            for i, j in zip(*np.unravel_index(order, gradient.shape))]
    return markdown(["function", "value", "parameter", "derivative"], rows)


def table_v(study: Study) -> str:
    """Table V, ours, and ours with the one wrong sign."""
    right = study.adjoint(study.simulate(), ["GEN*.P0"])
    wrong = right.values - 2 * sensitivity_to_governor_references()
    rows = []
    for name, printed in TABLE_V.items():
        k = list(right["objective"].values).index(name)
        for j, p in enumerate(right["parameter"].values):
            ours, other = right.values[k, j], wrong[k, j]
            rows.append([f"d {name} / d {p}", f"{printed[j]:.6f}", f"{ours:.6f}", f"{ours / printed[j]:.2f}",
                         f"{other:.6f}", f"{other / printed[j]:.2f}"])
    return markdown(["", "table V", "ours", "ratio", "with that sign wrong", "ratio"], rows)


def table_vi(studies: dict[str, Study]) -> str:
    """Adjoint minus forward, in max norm, at several ends."""
    rows = []
    for name, study in studies.items():
        differences = []
        for t_end in TIMES:
            run = study.simulate(t_end)
            differences.append(float(np.abs(study.adjoint(run).values - study.forward(run).values).max()))
        rows.append([name, *(f"{d:.1e}" for d in differences)])
    return markdown(["adjoint - forward", *(f"{t:g} s" for t in TIMES)], rows)


def milliseconds(*actions: Callable[[], Any], rounds: int) -> list[str]:
    """``median [minimum]`` of each, taken in turn after one round that does not count."""
    times: list[list[float]] = [[] for _ in actions]
    for n in range(rounds + 1):
        for action, found in zip(actions, times):
            began = time.perf_counter()
            action()
            if n:
                found.append(1e3 * (time.perf_counter() - began))
    return [f"{median(found):.3g} [{min(found):.3g}]" for found in times]


def table_vii(studies: dict[str, Study]) -> str:
    """Times: simulation, adjoint, forward; the latter two with the simulation."""
    rows = []
    for name, study in studies.items():
        ours = milliseconds(study.simulate, lambda s=study: s.adjoint(s.simulate()),
                            lambda s=study: s.forward(s.simulate()), rounds=25 if name == "9-bus" else 7)
        for who, cells in (("paper (2016, C)", map(str, PAPER_MS[name])), ("PETSc, its own code", PETSC_MS[name]),
                           ("gridcore", ours)):
            rows.append([f"{name}, {who}", *cells])
    return markdown(["ms", "simulation", "with adjoint", "with forward"], rows)


def speeds(run: gc.Run, study: Study, path: Path) -> None:
    """Frequencies of all machines."""
    panel = Panel("frequency (Hz)", study.machines, 60 * run.of(study.machines, "omega"))
    drawn(path, lambda figure: compose(figure, run, [panel], f"{CASES[study.name]}: frequencies"))


def regulators(run: gc.Run, path: Path) -> None:
    """VR of the 9-bus case, and its derivatives in the voltages at t0: the paper's figure 7."""
    exciters, buses = ["EXC2", "EXC3"], ["BUS1", "BUS2", "BUS3"]
    table = gc.analyses.tsa(run, [f"{b}.Vm0" for b in buses], [(e, "VR") for e in exciters], dispatch="direct",
                            fixed_time=True)
    panels = [Panel("VR (pu)", ["EXC1", *exciters], run.of(["EXC1", *exciters], "VR"))]
    panels += [Panel(f"d VR of {e}\n/ d Vm at t0", buses, table.values[:, k]) for k, e in enumerate(exciters)]
    drawn(path, lambda figure: compose(figure, run, panels, "9-bus: regulators at their limit"))


def main() -> None:
    """All tables into the page, all figures beside it."""
    studies = {title: Study(name) for name, title in CASES.items()}
    nine, large = studies.values()
    tables = {"sizes": sizes(studies), "functions": functions(nine), "largest": largest(large),
              "table V": table_v(nine), "table VI": table_vi(studies), "table VII": table_vii(studies)}
    fill("reference-a3.md", tables)
    figures = HERE / "figures"
    figures.mkdir(exist_ok=True)
    for name, study in zip(("wscc9", "ieee118"), studies.values()):
        speeds(study.simulate(), study, figures / f"reference_a3_speeds_{name}.png")
    regulators(nine.simulate(), figures / "reference_a3_regulators.png")


if __name__ == "__main__":
    main()
