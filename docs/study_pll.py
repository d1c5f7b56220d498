"""Regenerates study-pll.md's tables and figure: ``python docs/study_pll.py`` (a minute)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from pages import BLUE, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore_optimisation import Constraint, Optimum

LOOPS = "LOOPS_CONV12"
WRT = [f"{LOOPS}.kp", f"{LOOPS}.ki"]
FLOOR = np.sqrt(0.5)
RAMP, ERROR = 2.0 / 60.0, 0.01  # pu/s, rad: a ramp of 2 Hz/s is followed with no more error than this
BOUNDS = {f"{LOOPS}.kp": (0.01, 1.0), f"{LOOPS}.ki": (RAMP / ERROR, 50.0)}
T_END, STEP, METHOD = 2.0, 0.002, {"method": "trbdf2"}
OVERSHOOT = gc.Integral(lambda v: np.maximum(60 * np.abs(v[LOOPS, "speed"] - 1) - 0.5, 0) ** 2, name="overshoot",
                        unit="Hz^2 s")


class PLLDamping:
    """Damping ratio of the oscillation in which the angle of the PLL takes part, from 1 Hz upwards."""

    names = ["damping of the PLL"]

    def value_and_gradient(self, system: Equilibrium, parameters: Sequence[str]) -> tuple[float, np.ndarray]:
        """One where there is none any more."""
        modes = gc.analyses.small_signal(system)
        own = [k for k in modes.pairs() if modes.frequency[k] > 1 and f"{LOOPS}.theta" in modes.participants(k, 2)]
        if not own:
            return 1.0, np.zeros(len(parameters))
        least = min(own, key=lambda k: modes.damping_ratio[k])
        return modes.damping_ratio[least], modes.sensitivities(parameters, [least])["damping_ratio"].values[0]


@cache
def system() -> Equilibrium:
    """With the gains of a first guess."""
    return gc.build("kundur_converter")


def run(of: Equilibrium, t_end: float = T_END) -> Any:
    """The fault."""
    return gc.simulate(of, t_end, STEP, **METHOD)


@cache
def tuned(floor: float | None) -> Optimum:
    """The least overshoot, with a floor for the damping or without."""
    constraints = [] if floor is None else [Constraint(PLLDamping(), low=floor)]
    return gc.analyses.optimise(system(), OVERSHOOT, WRT, t_end=T_END, step=STEP, bounds=BOUNDS,
                                constraints=constraints, simulate=METHOD)


def ways() -> dict[str, tuple[Equilibrium, Optimum | None]]:
    """As guessed, and tuned."""
    return {"as guessed": (system(), None), "for the overshoot alone": (tuned(None).system, tuned(None)),
            "with the floor": (tuned(FLOOR).system, tuned(FLOOR))}


def results() -> str:
    """Overshoot, damping, and what the power does."""
    rows = []
    for title, (of, found) in ways().items():
        done = run(of)
        frequency, after = 60 * (done[LOOPS, "speed"] - 1), done.t > 1.1
        gains = [of.Z0[of.layout.address(name)] for name in WRT]
        overshoot = gc.adjoint(done, OVERSHOOT, WRT).value.item()
        rows.append([title, *(f"{gain:.4f}" for gain in gains), f"{overshoot:.5f}",
                     f"{np.abs(frequency).max():.2f}",
                     f"{100 * PLLDamping().value_and_gradient(of, WRT)[0]:.2f} %",
                     f"{400 * np.abs(done['CONV12', 'P'][after] - 0.75).max():.1f}",
                     *(["", ""] if found is None else [f"{found.optimality:.0e}", str(len(found.trials))])])
    return markdown(["", "kp", "ki (1/s)", "overshoot (Hz² s)", "largest deviation measured (Hz)", "damping of the PLL",
                     "power off its reference after 1.1 s (MW)", "optimality", "simulations"], rows)


def gradient() -> str:
    """At the first guess, by differences, too."""
    done = run(system())
    exact = gc.adjoint(done, OVERSHOOT, WRT).values[0]
    beside = gc.differences(done, OVERSHOOT, WRT, relative_step=1e-5).values[0]
    damping = PLLDamping().value_and_gradient(system(), WRT)[1]
    return markdown(["", "overshoot", "by differences", "damping"],
                    [[f"per {name.rpartition('.')[2]}", f"{a:.6f}", f"{b:.6f}", f"{c:.6f}"]
                     for name, a, b, c in zip(WRT, exact, beside, damping, strict=True)])


def modes() -> str:
    """Oscillations of the tuned system below 20 Hz, and what takes part."""
    found = gc.analyses.small_signal(tuned(FLOOR).system)
    rows = [[f"{found.frequency[k]:.3f}", f"{100 * found.damping_ratio[k]:.2f} %",
             ", ".join(f"{name} {part:.2f}" for name, part in found.participants(k, 3).items())]
            for k in found.pairs() if 0.3 < found.frequency[k] < 20 and found.damping_ratio[k] < 0.9]
    return markdown(["frequency (Hz)", "damping", "takes part"], rows)


def price() -> str:
    """What the floor and the ramp cost: the multiplier, and the slope at the bound."""
    found = tuned(FLOOR)
    multiplier = found.constraints["multiplier"].values[0]
    damping = PLLDamping().value_and_gradient(found.system, WRT)[1]
    slope = found.x["gradient"].values[1] - multiplier * damping[1]
    return markdown(["", "overshoot (Hz² s)"], [
        ["one percent of damping more costs", f"{0.01 * multiplier:.6f}"],
        ["one percent less of error in a ramp costs", f"{0.01 * slope * RAMP / ERROR:.6f}"]])


def figure() -> None:
    """Frequency measured, power and eigenvalues."""
    drawn, axes = panels(1, 3, width=9.0)
    for (title, (of, _)), colour in zip(ways().items(), (GREY, ORANGE, BLUE), strict=True):
        done = run(of)
        shown = (done.t > 0.95) & (done.t < 1.6)
        t = done.t[shown]
        axes[0, 0].plot(t, 60 * done[LOOPS, "speed"][shown], color=colour, linewidth=1, label=title)
        axes[0, 1].plot(t, 400 * done["CONV12", "P"][shown], color=colour, linewidth=1)
        found = gc.analyses.small_signal(of).eigenvalues
        axes[0, 2].plot(found.real, found.imag, "o", color=colour, markersize=4)
    axes[0, 2].plot([-80, 0], [80, 0], color=GREY, linewidth=1, linestyle="--")
    axes[0, 2].set_xlim(-80, 2)
    axes[0, 2].set_ylim(0, 80)
    for ax, (x, y) in zip(axes[0], (("time (s)", "frequency measured (Hz)"), ("time (s)", "power (MW)"),
                                    ("real part (1/s)", "imaginary part (1/s)")), strict=True):
        ax.set_xlabel(x)
        ax.set_ylabel(y)
    axes[0, 0].legend(frameon=False, fontsize=7)
    save(drawn, "study_pll.png")


def main() -> None:
    """Tables and figure."""
    fill("study-pll.md", {"results": results(), "gradient": gradient(), "modes": modes(), "price": price()})
    figure()


if __name__ == "__main__":
    main()
