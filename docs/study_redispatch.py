"""Regenerates study-redispatch.md's tables and figures: ``python docs/study_redispatch.py`` (a minute)."""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from pages import BLUE, GREY, HERE, ORANGE, fill, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore.sensitivity import Sum
from gridcore_optimisation import Constraint, Optimum

T_END = 1.0
METHODS = ["SLSQP", "trust-constr", *(["ipopt"] if importlib.util.find_spec("cyipopt") else [])]


@dataclass
class Study:
    """The smallest change of dispatch that takes violations of a frequency band down to a part of what they are."""

    title: str
    name: str
    part: float = 0.2
    band: tuple[float, float] = (59.5, 60.5)  # Hz, of the figure
    _found: dict[str, Optimum] = field(default_factory=dict)

    @cached_property
    def system(self) -> Equilibrium:
        """The case of the frequency-violation study."""
        return gc.build(self.name)

    @cached_property
    def machines(self) -> list[str]:
        """Those that are dispatched: PV machines that deliver at least 5 MW."""
        return [i.id for i in self.system.instances if i.model == "TwoAxis" and i.words["control"] == "PV"
                and i.values["P0"] >= 0.05]

    @cached_property
    def violation(self) -> Sum:
        """Of all machines together (Hz^2 s)."""
        functions = gc.analyses.load_objectives(HERE.parent / "cases" / self.name / "frequency.toml", self.system)
        return Sum([term for o in functions for term in o.terms()], name="violation", unit="Hz^2 s")

    @cached_property
    def cost(self) -> gc.Terminal:
        """Sum of squared changes of dispatch (pu^2)."""
        before = {m: float(self.system.Z0[self.system.layout.address(f"{m}.P0")]) for m in self.machines}
        return gc.Terminal(lambda v: sum((v[m, "P0"] - P) ** 2 for m, P in before.items()), "redispatch", "pu^2")

    @cached_property
    def before(self) -> float:
        """The violation as dispatched."""
        return gc.adjoint(gc.simulate(self.system, T_END), self.violation, f"{self.machines[0]}.P0").value.item()

    def solve(self, method: str) -> Optimum:
        """By one of the solvers."""
        if method not in self._found:
            self._found[method] = gc.analyses.optimise(
                self.system, self.cost, [f"{m}.P0" for m in self.machines], t_end=T_END, bounds=(0.0, 10.0), scale=1.0,
                constraints=Constraint(self.violation, high=self.part * self.before), method=method)
        return self._found[method]


STUDIES = [Study("9-bus", "wscc9_paper"), Study("118-bus", "ieee118", band=(59.98, 60.02))]


def solvers() -> str:
    """All solvers on both systems."""
    rows = []
    for study in STUDIES:
        study.before  # noqa: B018  compiled before the clock starts
        for method in METHODS:
            began = time.perf_counter()
            found = study.solve(method)
            rows.append([f"{study.title}, {method}", str(len(study.machines)), f"{found.value:.8f}",
                         f"{found.constraints.item() / study.before:.8f}", f"{found.optimality:.1e}",
                         str(found.iterations), str(len(found.trials)), f"{time.perf_counter() - began:.1f}"])
    return markdown(["", "machines", "cost (pu²)", "violation, part of what it was", "optimality", "iterations",
                     "simulations", "s"], rows)


def dispatch(study: Study, count: int = 6) -> str:
    """Where the change is made."""
    found = study.solve("SLSQP")
    names, before, after = (100 * part if part.dtype == float else part for part in (
        found.x["parameter"].values, found.x["start"].values, found.x.values))
    rows = [[str(names[k]), f"{before[k]:.2f}", f"{after[k]:.2f}", f"{after[k] - before[k]:+.2f}"]
            for k in np.argsort(-np.abs(after - before))[:count]]
    slack = next(i.id for i in study.system.layout.instances if i.words.get("control") == "slack")
    a, b = (100 * float(s.Z0[s.layout.address(f"{slack}.P0")]) for s in (study.system, found.system))
    rows.append([f"{slack}.P0, found by the power flow", f"{a:.2f}", f"{b:.2f}", f"{b - a:+.2f}"])
    return markdown([study.title, "before (MW)", "after (MW)", "change (MW)"], rows)


def price(study: Study) -> str:
    """The multiplier, and what a looser and a tighter limit cost."""
    found, limit = study.solve("SLSQP"), study.part * study.before
    values = []
    for part in (study.part * 1.01, study.part * 0.99):
        other = Study(study.title, study.name, part)
        values.append(other.solve("SLSQP").value)
    slope = (values[1] - values[0]) / (0.02 * limit)
    return markdown([study.title, "pu² per Hz² s"], [["multiplier", f"{found.constraints['multiplier'].item():.4f}"],
                                                    ["cost at a limit 1 % tighter and 1 % looser", f"{slope:.4f}"]])


def figure(study: Study) -> None:
    """Frequencies before and after."""
    figure, axes = panels(1, 2, height=2.8)
    systems = {"before": study.system, "after": study.solve("SLSQP").system}
    for ax, (title, system) in zip(axes[0], systems.items(), strict=True):
        run = gc.simulate(system, T_END)
        for machine in (i.id for i in system.layout.instances if i.model == "TwoAxis"):
            hz = 60 * run[machine, "omega"]
            outside = hz.max() > study.band[1] or hz.min() < study.band[0]
            ax.plot(run.t, hz, color=ORANGE if outside else BLUE, linewidth=1, zorder=3 if outside else 2)
        for limit in study.band:
            ax.axhline(limit, color=GREY, linewidth=1, linestyle="--")
        ax.set_xlabel("time (s)")
        ax.set_title(f"{study.title}, {title}", fontsize=9)
    axes[0, 0].set_ylabel("frequency (Hz)")
    top, bottom = max(ax.get_ylim()[1] for ax in axes[0]), min(ax.get_ylim()[0] for ax in axes[0])
    for ax in axes[0]:
        ax.set_ylim(bottom, top)
    save(figure, f"study_redispatch_{study.title.partition('-')[0]}.png")


def main() -> None:
    """Tables and figures."""
    fill("study-redispatch.md", {
        "solvers": solvers(), "dispatch 9": dispatch(STUDIES[0]), "dispatch 118": dispatch(STUDIES[1]),
        "price 9": price(STUDIES[0]), "price 118": price(STUDIES[1])})
    for study in STUDIES:
        figure(study)


if __name__ == "__main__":
    main()
