"""Regenerates study-vsc.md's tables and figure: ``python docs/study_vsc.py`` (half a minute)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc

GAINS = ["VSC7.kd", "VSC9.kd", "VSC9.kdi", "CAP7.c", "CABLE7-9.r", "CABLE7-9.l"]
WRT = ["VSC7.kd", "VSC9.kd", "VSC9.kdi", "VSC9.kv", "CAP7.c", "SLACK9.c", "VSC9.Imax", "fault.x"]
OVERVOLTAGE = gc.Integral(lambda v: 1e3 * np.maximum(v["DCBUS7", "V"] - 1.03, 0) ** 2, name="overvoltage",
                          unit="1e-3 pu^2 s")


@cache
def run() -> Any:
    """The fault beside the inverter."""
    return gc.simulate(gc.build("kundur_vsc"), 2.0, 0.002)


@cache
def modes(name: str) -> Any:
    """At rest."""
    return gc.analyses.small_signal(gc.build(name))


def value(address: str) -> float:
    """Of a parameter."""
    system = run().system
    return float(system.Z0[system.layout.address(address)])


def swings() -> str:
    """Oscillations of the machines below 2 Hz with the AC tie and with the VSC line."""
    rows = []
    for name, title in (("kundur", "two AC circuits"), ("kundur_vsc", "VSC line")):
        found = modes(name)
        for k in found.pairs():
            part = found.participants(k, 4)
            if next(iter(part)).endswith(".omega"):
                rows.append([title, f"{found.frequency[k]:.3f}", f"{100 * found.damping_ratio[k]:.2f} %",
                             ", ".join(f"{name} {share:.2f}" for name, share in part.items())])
    return markdown(["tie", "frequency (Hz)", "damping", "takes part"], rows)


def direct() -> tuple[Any, list[int]]:
    """Those of the DC side."""
    found = modes("kundur_vsc")
    own = ("SLACK9.v", "CAP7.v", "CABLE7-9.i")
    return found, [k for k in found.pairs() if next(iter(found.participants(k, 1))) in own]


def circuit() -> str:
    """Oscillations of the DC side, and what one percent more of a gain does to their damping."""
    found, chosen = direct()
    table = found.sensitivities(GAINS, chosen)["damping_ratio"].values * [[value(name) for name in GAINS]]
    heads = [f"{found.frequency[k]:.1f} Hz, {100 * found.damping_ratio[k]:.1f} %" for k in chosen]
    rows = [["takes part", *(", ".join(found.participants(k, 3)) for k in chosen)]]
    rows += [[f"1 % more of {name}", *(f"{entry:+.4f} %" for entry in column)]
             for name, column in zip(GAINS, table.T, strict=True)]
    return markdown(["", *heads], rows)


def gradient() -> str:
    """What the overvoltage depends on: one adjoint, and differences of whole runs."""
    exact = gc.adjoint(run(), OVERVOLTAGE, WRT)
    beside = gc.differences(run(), OVERVOLTAGE, WRT, relative_step=1e-6)
    rows = [[name, f"{value(name):.4g} {exact['unit'].values[k]}".strip(), f"{exact.values[0, k]:+.6f}",
             f"{beside.values[0, k]:+.6f}"] for k, name in enumerate(WRT)]
    return markdown(["parameter", "at", "derivative (10⁻³ pu² s per unit)", "by differences"], rows)


def figure() -> None:
    """DC voltages, powers, speeds."""
    done = run()
    drawn, axes = panels(1, 3, width=9.0)
    shown = (done.t > 0.95) & (done.t < 1.5)
    t = done.t[shown]
    for name, colour in (("DCBUS7", BLUE), ("DCBUS9", ORANGE)):
        axes[0, 0].plot(t, done[name, "V"][shown], color=colour, linewidth=1, label=name)
    for name, title, colour in (("VSC7", "rectifier, from the AC bus", BLUE), ("VSC9", "inverter", ORANGE)):
        axes[0, 1].plot(t, 500 * np.abs(done[name, "P"][shown]), color=colour, linewidth=1, label=title)
    for name, colour in (("GEN1", GREY), ("GEN4", GREEN)):
        axes[0, 2].plot(done.t, 60 * done[name, "omega"], color=colour, linewidth=1, label=name)
    for ax, label in zip(axes[0], ("DC voltage (pu)", "power (MW)", "speed (Hz)"), strict=True):
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
        ax.legend(frameon=False, fontsize=7)
    save(drawn, "study_vsc.png")


def main() -> None:
    """Tables and figure."""
    fill("study-vsc.md", {"swings": swings(), "circuit": circuit(), "gradient": gradient()})
    figure()


if __name__ == "__main__":
    main()
