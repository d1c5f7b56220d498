"""Regenerates study-newengland.md's tables and figure: ``python docs/study_newengland.py`` (a minute)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc

CONVERTERS = {"GEN32": "forming, bus 32", "GEN35": "forming, bus 35", "GEN33": "following, bus 33",
              "GEN37": "following, bus 37"}
MACHINES = [f"GEN{bus}" for bus in (30, 31, 34, 36, 38, 39)]
GAINS = ["GEN32.mp", "GEN35.mp", "GEN35.mq", "GEN35.kiv", "REEC_GEN33.Kvi", "REEC_GEN33.Kqi", "REPC_REEC_GEN33.Kp",
         "REPC_REEC_GEN33.Ki"]
WRT = [*GAINS, "GEN35.IMAX", "REEC_GEN33.Kqv", "REEC_GEN33.Imax"]
T_END = 5.0


@cache
def run(name: str = "ieee39_converters") -> Any:
    """The fault at bus 16."""
    return gc.simulate(gc.build(name), T_END, 0.01)


def swing(v: Any) -> Any:
    """Sum of the squared speeds of the machines against their mean (Hz^2)."""
    mean = sum(v[machine, "omega"] for machine in MACHINES) / len(MACHINES)
    return sum((50 * (v[machine, "omega"] - mean)) ** 2 for machine in MACHINES)


SWING = gc.Integral(swing, name="swing", unit="Hz^2 s")


def value(address: str) -> float:
    """Of a parameter."""
    system = run().system
    return float(system.Z0[system.layout.address(address)])


@cache
def modes(name: str = "ieee39_converters") -> Any:
    """At rest, before the fault."""
    return gc.analyses.small_signal(run(name).system)


def slowest() -> str:
    """Oscillations below 3 Hz that are damped by less than a half, and what takes part."""
    found = modes()
    rows = [[f"{found.frequency[k]:.3f}", f"{100 * found.damping_ratio[k]:.2f} %",
             ", ".join(f"{name} {part:.2f}" for name, part in found.participants(k, 4).items())]
            for k in found.pairs() if found.damping_ratio[k] < 0.6 and found.frequency[k] < 3]
    return markdown(["frequency (Hz)", "damping", "takes part"], rows)


def damping() -> str:
    """What the three least damped oscillations depend on, and one that belongs to the converters."""
    found = modes()
    pairs = list(found.pairs())
    own = next(k for k in pairs if next(iter(found.participants(k, 1))).startswith("REEC"))
    chosen = [*pairs[:3], own]
    table = 100 * found.sensitivities(GAINS, chosen)["damping_ratio"].values * [[value(name) for name in GAINS]]
    return markdown(["1 % more of", *(f"{found.frequency[k]:.2f} Hz" for k in chosen)],
                    [[name, *(f"{1e-2 * entry:+.4f} %" for entry in column)]
                     for name, column in zip(GAINS, table.T, strict=True)])


def gradient() -> str:
    """What the swing after the fault depends on: one adjoint, and differences of whole runs."""
    exact = gc.adjoint(run(), SWING, WRT)
    beside = gc.differences(run(), SWING, WRT, relative_step=1e-6)
    rows = [[name, f"{value(name):.4g} {exact['unit'].values[k]}".strip(), f"{exact.values[0, k]:+.6f}",
             f"{beside.values[0, k]:+.6f}"] for k, name in enumerate(WRT)]
    return markdown(["parameter", "at", "derivative (Hz² s per unit)", "by differences"], rows)


def compared() -> str:
    """The same fault with machines and with converters."""
    rows = []
    for name, title in (("ieee39", "ten machines"), ("ieee39_converters", "six machines, four converters")):
        done, found = run(name), modes(name)
        speeds = np.array([done[machine, "omega"] for machine in MACHINES])
        least = min(found.pairs(), key=lambda k: found.damping_ratio[k])
        rows.append([title, f"{gc.adjoint(done, SWING, 'GEN30.H').value.item():.4f}",
                     f"{50 * speeds.max():.3f}", f"{done['BUS16', 'Vm'][done.t > 1.1].min():.3f}",
                     f"{100 * found.damping_ratio[least]:.2f} %", f"{found.frequency[least]:.3f}"])
    return markdown(["", "swing of the six (Hz² s)", "highest speed (Hz)", "lowest voltage at bus 16 after 1.1 s (pu)",
                     "least damping", "at (Hz)"], rows)


def figure() -> None:
    """Powers, currents and speeds."""
    done, before = run(), run("ieee39")
    drawn, axes = panels(1, 3, width=9.0)
    shown = (done.t > 0.9) & (done.t < 3.0)
    for (name, title), colour in zip(CONVERTERS.items(), (BLUE, GREEN, ORANGE, GREY), strict=True):
        axes[0, 0].plot(done.t[shown], done[name, "P"][shown], color=colour, linewidth=1, label=title)
        axes[0, 1].plot(done.t[shown], done[name, "Q"][shown], color=colour, linewidth=1)
    for of, title, colour in ((before, "with machines", GREY), (done, "with converters", BLUE)):
        axes[0, 2].plot(of.t, 50 * of["GEN36", "omega"], color=colour, linewidth=1, label=title)
    for ax, label in zip(axes[0], ("active power (pu)", "reactive power (pu)", "speed of GEN36 (Hz)"), strict=True):
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
    axes[0, 0].legend(frameon=False, fontsize=7)
    axes[0, 2].legend(frameon=False, fontsize=7)
    save(drawn, "study_newengland.png")


def main() -> None:
    """Tables and figure."""
    fill("study-newengland.md", {"compared": compared(), "modes": slowest(), "damping": damping(),
                                 "gradient": gradient()})
    figure()


if __name__ == "__main__":
    main()
