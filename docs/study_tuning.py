"""Regenerates study-tuning.md's tables and figure: ``python docs/study_tuning.py`` (a minute)."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence

import numpy as np
from pages import BLUE, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore_optimisation import Constraint, Optimum

FLOOR, T_END = 0.1, 5.0
MACHINES = {"GEN1": 23.64, "GEN2": 6.47, "GEN3": 3.01}  # H on one base: weights of the centre of inertia
WRT = ["EXC*.KA", "PSS*.KS", "PSS*.T1", "PSS*.T3"]
BOUNDS = {"EXC*.KA": (5.0, 100.0), "PSS*.KS": (0.1, 30.0), "PSS*.T?": (0.02, 1.0)}


class Damping:
    """Damping ratios of the least damped oscillations from 0.5 Hz upwards: a measure, of what another plugin finds."""

    def __init__(self, count: int = 3):
        self.count = count
        self.names = [f"damping {k}" for k in range(1, count + 1)]

    def value_and_gradient(self, system: Equilibrium, parameters: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Total derivatives: the operating point moves with the parameters."""
        modes = gc.analyses.small_signal(system)
        fast = [k for k in modes.pairs() if modes.frequency[k] > 0.5]
        chosen = sorted(fast, key=lambda k: modes.damping_ratio[k])[: self.count]
        return modes.damping_ratio[chosen], modes.sensitivities(parameters, chosen)["damping_ratio"].values


def swing(v: object) -> object:
    """Sum of squared speeds against the centre of inertia (Hz^2)."""
    centre = sum(H * v[machine, "omega"] for machine, H in MACHINES.items()) / sum(MACHINES.values())
    return sum((60 * (v[machine, "omega"] - centre)) ** 2 for machine in MACHINES)


SWING = gc.Integral(swing, name="swing", unit="Hz^2 s")


@functools.cache
def system() -> Equilibrium:
    """The 9-bus system of reference A3 with stabilizers at machines 2 and 3, as first guessed."""
    case = gc.load_case("wscc9_paper")
    for k in (2, 3):
        case.add(gc.Record("IEEEST", {"exciter": f"EXC{k}", "KS": 3.0, "T1": 0.5, "T2": 0.03, "T3": 0.5, "T4": 0.03,
                                      "T5": 10.0, "T6": 10.0}))
    return gc.build(case)


@functools.cache
def tuned(floor: float | None, method: str | None = None) -> Optimum:
    """The smallest swing, with a floor for the damping or without."""
    constraints = [] if floor is None else [Constraint(Damping(), low=floor)]
    return gc.analyses.optimise(system(), SWING, WRT, t_end=T_END, bounds=BOUNDS, constraints=constraints,
                                method=method)


def results() -> str:
    """Swing and damping as guessed, without the floor, and with it."""
    def row(title: str, of: Equilibrium, found: Optimum | None) -> list[str]:
        value = gc.adjoint(gc.simulate(of, T_END), SWING, "EXC1.KA").value.item()
        least = Damping(1).value_and_gradient(of, ["EXC1.KA"])[0][0]
        work = [] if found is None else [f"{found.optimality:.1e}", str(found.iterations), str(len(found.trials))]
        return [title, f"{value:.6f}", f"{100 * least:.2f} %", *(work or [""] * 3)]

    free, held = tuned(None), tuned(FLOOR)
    rows = [row("as guessed", system(), None), row("tuned for the fault alone (L-BFGS-B)", free.system, free),
            row("with the floor (SLSQP)", held.system, held)]
    if importlib.util.find_spec("cyipopt"):
        other = tuned(FLOOR, "ipopt")
        rows.append(row("with the floor (ipopt)", other.system, other))
    return markdown(["", "swing (Hz² s)", "least damping", "optimality", "iterations", "simulations"], rows)


def values() -> str:
    """The parameters."""
    free, held = tuned(None), tuned(FLOOR)
    return markdown(["", "guessed", "for the fault alone", "with the floor", "bounds"], [
        [str(a["parameter"].values), f"{a['start']:g}", f"{a:.3f}", f"{b:.3f}", f"{a['low']:g} to {a['high']:g}"]
        for a, b in zip(free.x, held.x, strict=True)])


def main() -> None:
    """Tables and figure."""
    held = tuned(FLOOR)
    price = held.constraints["multiplier"].values[0]
    fill("study-tuning.md", {"results": results(), "values": values(), "price": markdown(["", ""], [
        ["one percent of damping more costs, in swing", f"{0.01 * price:.6f} Hz² s"]])})
    figure, axes = panels(1, 2, height=3.0)
    for title, of, colour in (("guessed", system(), GREY), ("for the fault alone", tuned(None).system, ORANGE),
                              ("with the floor", held.system, BLUE)):
        run = gc.simulate(of, T_END)
        apart = 60 * (run["GEN2", "omega"] - run["GEN1", "omega"])
        axes[0, 0].plot(run.t, apart, color=colour, linewidth=1, label=title)
        found = gc.analyses.small_signal(of).eigenvalues
        axes[0, 1].plot(found.real, found.imag, "o", color=colour, markersize=4, label=title)
    slope = np.sqrt(1 / FLOOR**2 - 1)
    axes[0, 1].plot([-2, 0], [2 * slope, 0], color=GREY, linewidth=1, linestyle="--")
    axes[0, 1].set_xlim(-2.0, 0.1)
    axes[0, 1].set_ylim(0, 16)
    axes[0, 1].set_xlabel("real part (1/s)")
    axes[0, 1].set_ylabel("imaginary part (1/s)")
    axes[0, 0].set_xlabel("time (s)")
    axes[0, 0].set_ylabel("machine 2 to 1 (Hz)")
    axes[0, 0].legend(frameon=False, fontsize=8)
    save(figure, "study_tuning.png")


if __name__ == "__main__":
    main()
