"""Regenerates reference-a2.md's tables and figure: ``python docs/reference_a2.py`` (some seconds)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pages import BLUE, GREEN, ORANGE, fill, markdown, panels, save
from scipy.optimize import minimize

import gridcore as gc
from gridcore_optimisation import Optimum

# Table III: Pm, gradient by adjoint and forward sweep, by finite differences
TABLE_III = ((1.06, 140.0487958, 140.0487323), (1.032130009, 45.40765371, 45.40760848),
             (1.018758331, 14.84698503, 14.84697329))
DELTA_MAX, SIGMA = 1.0, 1e4
START, BOUNDS = 1.06, (0.0, 1.1)
SECOND = 555.0  # second derivative at the optimum


@dataclass
class Maximise:
    """``-Pm + sigma int max(0, delta - delta_max)^2 dt`` and its gradient; every evaluation is written down."""

    case: gc.Case = field(default_factory=lambda: gc.load_case("swing"))
    seen: list[tuple[float, float, float]] = field(default_factory=list)

    objective = gc.Terminal(lambda v: -v["SWING", "Pm"]) + SIGMA * gc.Integral(
        lambda v: np.maximum(v["SWING", "delta"] - DELTA_MAX, 0.0) ** 2)

    def __call__(self, Pm: float) -> tuple[float, float]:
        """Value and gradient."""
        self.case.set("SWING.Pm", float(Pm))
        run = gc.simulate(gc.build(self.case), 1.0, 0.01)
        gradient = gc.adjoint(run, self.objective, "SWING.Pm")
        self.seen.append((float(Pm), gradient.value.item(), gradient.item()))
        return self.seen[-1][1:]

    def forward(self, Pm: float) -> float:
        """The same gradient by the forward sweep."""
        self.case.set("SWING.Pm", float(Pm))
        run = gc.simulate(gc.build(self.case), 1.0, 0.01)
        return gc.analyses.forward_gradient(run, self.objective, "SWING.Pm").item()


def optimise() -> Optimum:
    """L-BFGS-B with exact gradients, until it finds nothing better."""
    return gc.analyses.optimise("swing", Maximise.objective, "SWING.Pm", t_end=1.0, bounds=BOUNDS,
                                options={"gtol": 0.0})


def norms_of(found: Optimum) -> list[float]:
    """|gradient| at each iterate, the smallest so far."""
    norms = [abs(float(found.trials[k].gradient[0])) for k in found.history["trial"].values]
    return list(np.minimum.accumulate(norms))


def scatter(Pm: float, count: int = 60) -> float:
    """Standard deviation of the gradient, less its rise, at the double-precision numbers next to Pm."""
    system, spacing = gc.build("swing"), np.spacing(Pm)
    out = []
    for k in range(-count, count + 1):
        run = gc.simulate(system.with_values({"SWING.Pm": Pm + k * spacing}), 1.0, 0.01)
        out.append(gc.adjoint(run, Maximise.objective, "SWING.Pm").item() - SECOND * k * spacing)
    return float(np.std(out))


def optimise_by_differences(problem: Maximise, step: float) -> list[float]:
    """The same with forward differences; returns the true |gradient| at each iterate."""
    norms = [abs(problem(START)[1])]
    minimize(lambda z: problem(float(z[0]))[0], [START], method="L-BFGS-B", bounds=[BOUNDS],
             options={"ftol": 0.0, "gtol": 1e-14, "eps": step}, callback=lambda z: norms.append(abs(problem(z[0])[1])))
    return norms


def forward_difference(problem: Maximise, Pm: float, step: float) -> float:
    """As the paper's last column."""
    return (problem(Pm + step)[0] - problem(Pm)[0]) / step


def table() -> str:
    """Table III and ours."""
    problem = Maximise()
    rows = [[f"{Pm:.10g}", f"{printed:.10g}", f"{problem(Pm)[1]:.10f}", f"{problem.forward(Pm):.10f}",
             f"{differences:.10g}", f"{forward_difference(problem, Pm, 1e-8):.7f}"]
            for Pm, printed, differences in TABLE_III]
    return markdown(["Pm", "table III", "adjoint", "forward", "table III, differences", "differences, 1e-8"], rows)


def main() -> None:
    """Tables and figure."""
    found = optimise()
    exact, best = norms_of(found), found.x.item()
    stalled = {step: optimise_by_differences(Maximise(), step) for step in (1e-8, 1e-6)}
    fill("reference-a2.md", {"table III": table(), "optimum": markdown(
        ["", "iterations", "last gradient", "relative to the first"],
        [["exact gradients", str(found.iterations), f"{exact[-1]:.1e}", f"{exact[-1] / exact[0]:.1e}"],
         *([f"forward differences, step {step:g}", str(len(norms) - 1), f"{norms[-1]:.1e}",
            f"{norms[-1] / norms[0]:.1e}"] for step, norms in stalled.items())]),
        "next": markdown(["", ""], [
            ["optimum: Pm", f"{best:.10f}"],
            ["from one number Pm to the next the gradient rises by", f"{SECOND * np.spacing(best):.1e}"],
            ["beside that, the gradients at the 121 numbers around it scatter by (standard deviation)",
             f"{scatter(best):.1e}"]])})
    figure, axes = panels(1, 1, width=5.6, height=3.4)
    ax = axes[0, 0]
    ax.semilogy(exact, "o-", color=BLUE, label="exact gradients")
    for (step, norms), colour in zip(stalled.items(), (ORANGE, GREEN), strict=True):
        ax.semilogy(norms, "s-", color=colour, markersize=4, label=f"forward differences, step {step:g}")
    ax.set_xlabel("iteration of L-BFGS-B")
    ax.set_ylabel("|gradient|, exact")
    ax.legend(frameon=False)
    save(figure, "reference_a2_convergence.png")


if __name__ == "__main__":
    main()
