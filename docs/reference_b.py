"""Regenerates reference-b.md's table and figure: ``python docs/reference_b.py`` (ten seconds; needs IDA)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pages import BLUE, GREY, ORANGE, fill, markdown, panels, save
from scipy.optimize import minimize

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore.sensitivity import Objective
from gridcore_optimisation import Constraint, Optimum

PHI_S, C = 1.0, 1e4  # rad
UNITS = {"degrees": 180 / np.pi, "radians": 1.0}
BOUNDS = (0.0, 1.1)


@dataclass
class Problem:
    """``-pm + c int ((phi - phi_S)_+)^4 dt``, angles in units of 1/`scale` rad; by IDA and the continuous adjoint."""

    scale: float = UNITS["degrees"]
    case: gc.Case = field(default_factory=lambda: gc.load_case("swing"))

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        scale = self.scale
        return gc.Terminal(lambda v: -v["SWING", "Pm"]) + C * gc.Integral(
            lambda v: np.maximum(scale * (v["SWING", "delta"] - PHI_S), 0.0) ** 4)

    def run(self, pm: float) -> gc.Run:
        """IDA at 1e-6, the solution kept every millisecond."""
        self.case.set("SWING.Pm", float(pm))
        return gc.simulate(gc.build(self.case), 1.0, 1e-3, method="ida", rtol=1e-6, atol=1e-6)

    def gradient(self, pm: float):
        """Labelled value and derivative in pm."""
        return gc.adjoint(self.run(pm), self.objective, "SWING.Pm", method="continuous")

    def optimise(self):
        """L-BFGS-B from pm = 0."""
        def both(x: np.ndarray) -> tuple[float, float]:
            g = self.gradient(x[0])
            return g.value.item(), g.item()

        return minimize(both, [0.0], jac=True, method="L-BFGS-B", bounds=[BOUNDS], options={"gtol": 1e-6})


class Highest:
    """The largest angle of the run, and its derivative: that of the angle at its time, where the angle is at rest."""

    names = ["largest φ"]

    def value_and_gradient(self, system: Equilibrium, parameters: list[str]) -> tuple[float, np.ndarray]:
        """A measure, as gridcore_optimisation has it."""
        run = gc.simulate(system, 1.0, 1e-3, method="ida", rtol=1e-6, atol=1e-6)
        top = int(np.argmax(run["SWING", "delta"]))
        until = gc.simulate(system, float(run.t[top]), 1e-3, method="ida", rtol=1e-6, atol=1e-6)
        end = gc.Terminal(lambda v: v["SWING", "delta"])
        return run["SWING", "delta"][top], gc.adjoint(until, end, parameters, method="continuous").values[0]


def within() -> Optimum:
    """The largest pm whose angle stays below the limit: a constraint in place of the penalty."""
    case = gc.load_case("swing")
    case.set("SWING.Pm", 0.5)
    return gc.analyses.optimise(
        case, gc.Terminal(lambda v: -v["SWING", "Pm"]), "SWING.Pm", t_end=0.01, bounds=BOUNDS,
        constraints=Constraint(Highest(), high=PHI_S), options={"ftol": 1e-8})


def main() -> None:
    """Table and figure."""
    found = {unit: Problem(scale).optimise() for unit, scale in UNITS.items()}
    limited = within()
    runs = {unit: Problem(UNITS[unit]).run(result.x[0]) for unit, result in found.items()}
    rows = []

    def row(name: str, pm: float, iterations: int, simulations: int) -> None:
        highest = Problem().run(pm)["SWING", "delta"].max()
        rows.append([name, f"{pm:.6f}", str(iterations), str(simulations), f"{highest:.5f}",
                     f"{np.degrees(highest - PHI_S):.2f}°"])

    for unit, result in found.items():
        row(f"φ in {unit}", result.x[0], result.nit, result.nfev)
    row("φ ≤ φ_S as a constraint", limited.x.item(), limited.iterations, len(limited.trials))
    away = Problem().gradient(1.02)
    fill("reference-b.md", {
        "optimum": markdown(["", "optimal pm", "iterations", "runs", "largest φ (rad)", "beyond φ_S"], rows),
        "discrepancy": markdown(["at pm = 1.02", ""], [
            ["continuous", f"{away.item():.2f}"], ["discrete, on IDA's mesh", f"{away.discrete.item():.2f}"],
            ["discrepancy", f"{away.attrs['discrepancy']:.1e}"],
            ["largest difference of the replayed trajectory", f"{away.attrs['replay_mismatch']:.1e} rad"]])})
    figure, axes = panels(1, 1, width=6.4, height=3.6)
    ax = axes[0, 0]
    for unit, colour in zip(UNITS, (BLUE, ORANGE), strict=True):
        ax.plot(runs[unit].t, runs[unit]["SWING", "delta"], color=colour, label=f"optimal, φ in {unit}")
    ax.axhline(PHI_S, color=GREY, linewidth=1, linestyle="--")
    ax.annotate("φ_S", (0.0, PHI_S), xytext=(0, 4), textcoords="offset points", color=GREY)
    ax.axvspan(0.1, 0.2, color="#EFEFEF", zorder=0)
    ax.annotate("fault", (0.15, 0.03), ha="center", xycoords=("data", "axes fraction"), color=GREY, fontsize=8)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("angle φ (rad)")
    ax.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.76))
    save(figure, "reference_b_optimum.png")


if __name__ == "__main__":
    main()
