"""Regenerates study-microgrid.md's tables and figure: ``python docs/study_microgrid.py`` (half a minute)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc
from gridcore.sensitivity import Terminal

BATTERIES = {"BATTERY": "battery", "SMALL": "small battery"}
WRT = ["BATTERY.mp", "SMALL.mp", "BATTERY.P0", "LOAD5.P0", "ROOFS.Vrfrac", "ROOFS.vl1", "ROOFS.tvl1", "fault.x",
       "BATTERY.kppmax", "BATTERY.IMAX"]


@cache
def run() -> Any:
    """The fault, the island, and its new rest."""
    return gc.simulate(gc.build("microgrid"), 20.0, 0.01)


def value(address: str) -> float:
    """Of a parameter or set-point."""
    system = run().system
    return float(system.Z0[system.layout.address(address)])


def settled() -> str:
    """The frequency by three ways, as deviations from nominal in millihertz."""
    done, bases = run(), {name: value(f"{name}.Sn") for name in BATTERIES}
    P = {name: done[name, "P"][-1] for name in BATTERIES}
    droops = sum(S * (value(f"{name}.Pref") - P[name]) for name, S in bases.items()) / sum(
        S / value(f"{name}.mp") for name, S in bases.items())
    V = (done["BUS5", "Vr"] + 1j * done["BUS5", "Vi"])[-101:]
    turned = np.angle(V[-1] / V[0]) / (done.t[-1] - done.t[-101]) / (120 * np.pi)
    rows = [["what the two droops together say", droops]]
    rows += [[f"of the {called}", done[name, "omega"][-1] - 1.0] for name, called in BATTERIES.items()]
    rows += [["turn of the voltage at bus 5 in the last second", turned]]
    return markdown(["", "deviation (mHz)", "difference (mHz)"],
                    [[what, f"{60e3 * w:.9f}", f"{60e3 * abs(w - droops):.0e}"] for what, w in rows])


def gradient() -> str:
    """What the frequency after islanding depends on: the adjoint, and differences of whole runs."""
    def frequency(v: Any) -> Any:
        return 60.0 * v["BATTERY", "omega"]

    exact = gc.adjoint(run(), Terminal(frequency), WRT)
    beside = gc.differences(run(), Terminal(frequency), WRT, relative_step=1e-6)
    rows = [[name, f"{value(name):.4g} {exact['unit'].values[k]}".strip(), f"{exact.values[0, k]:.7f}",
             f"{beside.values[0, k]:.7f}"] for k, name in enumerate(WRT)]
    return markdown(["parameter", "at", "derivative (Hz per unit)", "by differences"], rows)


def modes() -> str:
    """The slowest before the fault, and what takes part."""
    found = gc.analyses.small_signal(run().system)
    order = np.argsort(-found.eigenvalues.real)
    rows = []
    for k in [k for k in order if found.eigenvalues[k].imag >= 0][:4]:
        at = found.eigenvalues[k]
        rows.append([f"{at.real:.3f}" + (f" ± {at.imag:.3f}j" if at.imag else ""),
                     ", ".join(found.participants(int(k), 3))])
    return markdown(["eigenvalue (1/s)", "takes part"], rows)


def figure() -> None:
    """Frequency, powers and voltages around the fault."""
    done = run()
    drawn, axes = panels(1, 3, width=9.0)
    shown = done.t <= 2.5
    t = done.t[shown]
    for name, colour in zip(BATTERIES, (BLUE, ORANGE), strict=True):
        axes[0, 0].plot(t, 60 * done[name, "omega"][shown], color=colour, linewidth=1, label=BATTERIES[name])
        axes[0, 1].plot(t, value(f"{name}.Sn") * done[name, "P"][shown], color=colour, linewidth=1)
    axes[0, 1].plot(t, value("ROOFS.Sn") * done["ROOFS", "P"][shown], color=GREEN, linewidth=1, label="photovoltaics")
    axes[0, 2].plot(t, done["BUS5", "Vm"][shown], color=GREY, linewidth=1, label="voltage at bus 5 (pu)")
    axes[0, 2].plot(t, done["ROOFS", "Mult"][shown], color=GREEN, linewidth=1, label="part connected")
    for ax, label in zip(axes[0], ("frequency (Hz)", "active power (MW)", ""), strict=True):
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
        ax.legend(frameon=False, fontsize=8)
    save(drawn, "study_microgrid.png")


def main() -> None:
    """Tables and figure."""
    fill("study-microgrid.md", {"settled": settled(), "gradient": gradient(), "modes": modes()})
    figure()


if __name__ == "__main__":
    main()
