"""Regenerates study-wecc.md's tables and figure: ``python docs/study_wecc.py`` (two minutes)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc

GAINS = ["REEC_*.Kqv", "REPC_*.Kp", "REPC_*.Ki", "REPC_*.Kpg", "REPC_*.Kig"]
OBJECTIVES = [gc.Integral(lambda v: 1e3 * (v["BUS2401", "Vm"] - 1.05) ** 2, name="voltage", unit="1e-3 pu^2 s"),
              gc.Integral(lambda v: 1e6 * (v["GEN2438_SG", "omega"] - 1) ** 2, name="speed", unit="1e-6 pu^2 s")]
SOUTH = ("GEN2431_S", "GEN2439_S", "GEN2434_S")


@cache
def supported() -> Any:
    """With a reactive support of 1 pu per pu in all plants; the files have none."""
    return gc.build("wecc240").with_values({"REEC_*.Kqv": 1.0})


@cache
def run(Kqv: bool, t_end: float) -> Any:
    """The fault, with the support or as the files have it."""
    return gc.simulate(supported() if Kqv else gc.build("wecc240"), t_end, 0.01)


@cache
def modes() -> Any:
    """The least damped."""
    return gc.analyses.small_signal(supported(), method="sparse", count=30)


def least() -> str:
    """The least damped oscillations, and the gain on which the damping of each depends most."""
    found = modes()
    chosen = found.pairs()[:6]
    table = found.sensitivities(GAINS, chosen)["damping_ratio"]
    names = table["parameter"].values
    rows = []
    for k, row in zip(chosen, table.values, strict=True):
        top = np.argsort(-np.abs(row))[:2]
        rows.append([f"{found.frequency[k]:.3f}", f"{100 * found.damping_ratio[k]:.2f} %",
                     ", ".join(found.participants(k, 3)), ", ".join(f"{names[n]} {100 * row[n]:+.3f} %" for n in top)])
    return markdown(["frequency (Hz)", "damping", "takes part", "change of the damping per unit of a gain"], rows)


def gradient() -> str:
    """The gains that matter most, by one adjoint run, and beside them differences of whole runs."""
    done = run(True, 1.6)
    exact = gc.adjoint(done, OBJECTIVES, GAINS)
    rows = []
    for objective, values in zip(OBJECTIVES, exact.values, strict=True):
        for k in np.argsort(-np.abs(values))[:3]:
            name = str(exact["parameter"].values[k])
            beside = gc.differences(done, objective, [name], relative_step=1e-5).item()
            rows.append([objective.name, name, f"{values[k]:+.7f}", f"{beside:+.7f}"])
    return markdown(["objective", "gain", "derivative", "by differences"], rows)


def figure() -> None:
    """Voltages, powers of plants in the south, speeds."""
    bare, done = run(False, 10.0), run(True, 10.0)
    drawn, axes = panels(1, 3, width=9.0)
    short = (done.t > 0.95) & (done.t < 1.5)
    for name, colour in (("BUS2401", BLUE), ("BUS3902", ORANGE), ("BUS6401", GREEN)):
        axes[0, 0].plot(done.t[short], done[name, "Vm"][short], color=colour, linewidth=1, label=name)
    for name, colour in zip(SOUTH, (BLUE, ORANGE, GREEN), strict=True):
        axes[0, 1].plot(done.t[short], done[name, "P"][short], color=colour, linewidth=1, label=name)
    for found, colour, title in ((bare, GREY, "no support"), (done, BLUE, "Kqv = 1")):
        axes[0, 2].plot(found.t, 60 * found["GEN2438_SG", "omega"], color=colour, linewidth=1, label=title)
    for ax, label in zip(axes[0], ("voltage (pu)", "active power (pu of rating)", "speed of GEN2438_SG (Hz)"),
                         strict=True):
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
        ax.legend(frameon=False, fontsize=7)
    save(drawn, "study_wecc.png")


def main() -> None:
    """Tables and figure."""
    fill("study-wecc.md", {"least": least(), "certificate": f"> {modes().certificate}", "gradient": gradient()})
    figure()


if __name__ == "__main__":
    main()
