"""Regenerates reference-a1.md's table and figures: ``python docs/reference_a1.py`` (some seconds)."""

from __future__ import annotations

import numpy as np
from pages import BLUE, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc

STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)
T_END = 0.2
STATES = [("HP", "x1"), ("HP", "x2")]


def simulate(step: float = 1e-3) -> gc.Run:
    """Crank-Nicolson, as in the paper."""
    return gc.simulate(gc.build("hiskens_pai"), T_END, step)


def at_the_end(step: float, jumps: str) -> np.ndarray:
    """(dx1/dp, dx2/dp) at 0.2 s, p the slope at which A1 ends."""
    ends = [gc.Terminal(lambda v, q=q: v[q]) for q in STATES]
    return gc.adjoint(simulate(step), ends, "HP.p1", jumps=jumps).values[:, 0]


def differences(step: float, d: float = 2e-5) -> np.ndarray:
    """The same by central differences of the program, extrapolated twice (Richardson)."""
    case = gc.load_case("hiskens_pai")

    def end(p: float) -> np.ndarray:
        case.set("HP.p1", p)
        return gc.simulate(gc.build(case), T_END, step).X[-1]

    D = [(end(2.75 + h) - end(2.75 - h)) / (2 * h) for h in (d, d / 2, d / 4)]
    E = [(4 * D[k + 1] - D[k]) / 3 for k in (0, 1)]
    return (16 * E[1] - E[0]) / 15


def errors() -> dict[float, tuple[float, float]]:
    """Step: error of the continuous and of the discrete rule in dx1/dp, relative."""
    out = {}
    for step in STEPS:
        true = differences(step)[0]
        out[step] = tuple(abs(at_the_end(step, rule)[0] / true - 1) for rule in ("continuous", "discrete"))
    return out


def formula_error(step: float) -> float:
    """Error of the continuous rule in dx1/dp, relative, against the exact derivative."""
    return float(abs(at_the_end(step, "continuous")[0] / at_the_end(step, "discrete")[0] - 1))


def cloud() -> tuple[np.ndarray, np.ndarray]:
    """Steps of many lengths, so that events fall anywhere in them; and the formula's error with each."""
    steps = T_END / np.unique(np.round(50 * 2 ** np.arange(0.0, 5.01, 0.1)))
    return steps, np.array([formula_error(step) for step in steps])


def over_time() -> None:
    """States, and their sensitivities to p at fixed times: the paper's figure 3."""
    run = simulate()
    S = gc.analyses.tsa(run, "HP.p1", STATES, fixed_time=True).values[:, :, 0]
    figure, axes = panels(2, 1)
    top, bottom = axes[:, 0]
    for k, colour in enumerate((BLUE, ORANGE)):
        top.plot(run.t, run[STATES[k]], color=colour, label=f"x{k + 1}")
        bottom.plot(run.t, S[:, k], color=colour, label=f"dx{k + 1}/dp")
    for ax, label in ((top, "state"), (bottom, "sensitivity to p = 2.75")):
        for event in run.events:
            ax.axvline(event.t, color=GREY, linewidth=0.6, linestyle=":")
        ax.set_ylabel(label)
        ax.legend(frameon=False, loc="upper right")
    top.set_xlim(0, T_END)
    bottom.set_xlim(0, T_END)
    bottom.set_xlabel("time (s); dotted: switchings")
    save(figure, "reference_a1_sensitivities.png")


def against_step(found: dict[float, tuple[float, float]]) -> None:
    """Errors of both rules against the step."""
    figure, axes = panels(1, 1, width=5.6, height=3.6)
    ax, (steps, errors_there) = axes[0, 0], cloud()
    ax.loglog(1e3 * steps, errors_there, "o", color=ORANGE, markersize=4, label="continuous: the published formula")
    ax.loglog(1e3 * np.array(list(found)), [e for _, e in found.values()], "s", color=BLUE, markersize=5,
              label="discrete, against differences of the program")
    ax.loglog(1e3 * steps, errors_there.max() * (steps / steps.max()) ** 2, color=GREY, linewidth=0.8, linestyle="--",
              label="h²")
    ticks = [1e3 * step for step in STEPS]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()
    ax.set_ylim(1e-13, 1e-1)
    ax.set_xlabel("step h (ms)")
    ax.set_ylabel("relative error of dx1/dp at 0.2 s")
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(0.0, 0.45))
    save(figure, "reference_a1_rules.png")


def main() -> None:
    """Table and figures."""
    found = errors()
    rows = [[f"{1e3 * step:g} ms", *(f"{x:.10f}" for x in (at_the_end(step, "discrete")[0],
                                                          at_the_end(step, "continuous")[0])), f"{error:.1e}"]
            for step, (error, _) in found.items()]
    fill("reference-a1.md", {"rules": markdown(["h", "discrete", "continuous", "its error"], rows)})
    over_time()
    against_step(found)


if __name__ == "__main__":
    main()
