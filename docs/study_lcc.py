"""Regenerates study-lcc.md's tables and figure: ``python docs/study_lcc.py`` (half a minute)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc

GAINS = ["LCC.kp", "LCC.ki", "LCC.l", "INV.Tb", "INV.gamma0"]
WRT = ["LCC.kp", "LCC.ki", "LCC.l", "LCC.Td", "INV.gamma0", "INV.Tbypass", "fault.x"]
MISSED = gc.Integral(lambda v: np.maximum(4.0 - v["INV", "P"], 0.0), name="energy that did not come", unit="pu s")


@cache
def run(x: float = 0.05) -> Any:
    """The fault near the inverter, through a reactance."""
    case = gc.load_case("kundur_lcc")
    case.set("fault.x", x)
    return gc.simulate(gc.build(case), 2.0, 0.002)


def value(address: str) -> float:
    """Of a parameter."""
    system = run().system
    return float(system.Z0[system.layout.address(address)])


def nearness() -> str:
    """The least extinction angle, and whether commutation fails, by the reactance of the fault."""
    rows = []
    for x in (0.05, 0.1, 0.125, 0.15, 0.2):
        done = run(x)
        fails = [event.t for event in done.events if event.kind == "switch" and event.item == "fails"]
        before = done.t < (fails[0] if fails else np.inf)
        least = np.degrees(np.arccos(np.minimum(done["INV", "cosg"][before], 1.0)).min())
        rows.append([f"{x:g}", f"{least:.1f}", f"{1e3 * (fails[0] - 1.0):.1f}" if fails else "no",
                     f"{done['LCC', 'i'].max() / 4:.2f}", f"{done['BUS9', 'Vm'][done.t > 1.0].min():.3f}"])
    return markdown(["reactance (pu)", "least angle before (°)", "fails after (ms)", "largest current (of rated)",
                     "least voltage at bus 9 (pu)"], rows)


def modes() -> str:
    """The oscillation of the current, and what one percent more of a parameter does to its damping."""
    found = gc.analyses.small_signal(gc.build("kundur_lcc"))
    k = next(k for k in found.pairs() if next(iter(found.participants(k, 1))) == "LCC.cosa_x")
    table = found.sensitivities(GAINS, [k])["damping_ratio"].values[0] * [value(name) for name in GAINS]
    rows = [["takes part", ", ".join(found.participants(k, 3))],
            *([f"1 % more of {name}", f"{entry:+.3f} %"] for name, entry in zip(GAINS, table, strict=True))]
    return markdown(["", f"{found.frequency[k]:.2f} Hz, {100 * found.damping_ratio[k]:.1f} %"], rows)


def gradient() -> str:
    """What the energy depends on: one adjoint, and differences of whole runs."""
    exact = gc.adjoint(run(), MISSED, WRT)
    beside = gc.differences(run(), MISSED, WRT, relative_step=1e-7)
    rows = [[name, f"{value(name):.4g} {exact['unit'].values[k]}".strip(), f"{exact.values[0, k]:+.6f}",
             f"{beside.values[0, k]:+.6f}"] for k, name in enumerate(WRT)]
    return markdown(["parameter", "at", "derivative (pu s per unit)", "by differences"], rows)


def figure() -> None:
    """Current, powers, extinction angle."""
    done, mild = run(), run(0.15)
    drawn, axes = panels(1, 3, width=9.0)
    shown = (done.t > 0.95) & (done.t < 1.8)
    t = done.t[shown]
    axes[0, 0].plot(t, done["LCC", "i"][shown] / 4, color=BLUE, linewidth=1, label="current")
    axes[0, 0].plot(t, done["LCC", "order"][shown] / 4, color=GREY, linewidth=1, label="its order")
    for name, title, colour in (("LCC", "rectifier, from the AC bus", BLUE), ("INV", "inverter", ORANGE)):
        axes[0, 1].plot(t, 100 * done[name, "P"][shown], color=colour, linewidth=1, label=title)
    soft = (mild.t > 0.95) & (mild.t < 1.8)
    axes[0, 2].plot(mild.t[soft], np.degrees(np.arccos(np.minimum(mild["INV", "cosg"][soft], 1.0))), color=GREEN,
                    linewidth=1, label="fault through 0.15 pu")
    axes[0, 2].axhline(np.degrees(value("INV.gcrit")), color=GREY, linewidth=1, label="commutation fails")
    for ax, label in zip(axes[0], ("current (of rated)", "power (MW)", "extinction angle (°)"), strict=True):
        ax.set_xlabel("time (s)")
        ax.set_ylabel(label)
        ax.legend(frameon=False, fontsize=7)
    save(drawn, "study_lcc.png")


def main() -> None:
    """Tables and figure."""
    fill("study-lcc.md", {"nearness": nearness(), "modes": modes(), "gradient": gradient()})
    figure()


if __name__ == "__main__":
    main()
