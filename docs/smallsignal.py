"""The figures of the page on small-signal stability: ``python docs/smallsignal.py``."""

from __future__ import annotations

import numpy as np
from pages import HERE

import gridcore as gc


def main() -> None:
    """Modes of Kundur's areas; root locus and damping map of the 9-bus system."""
    folder = HERE / "figures"
    folder.mkdir(exist_ok=True)
    gc.analyses.plot_modes(gc.analyses.small_signal(gc.build("kundur")), folder / "smallsignal_modes.png")
    nine = gc.build("wscc9")
    gc.analyses.plot_locus(gc.analyses.root_locus(nine, "GEN2.P0", np.linspace(0.5, 2.4, 40)),
                           folder / "smallsignal_locus.png")
    grid = {"GEN2.P0": np.linspace(0.5, 2.2, 18), "EXC2.KA": np.linspace(10, 60, 11)}
    gc.analyses.plot_damping_map(gc.analyses.damping_map(nine, grid), folder / "smallsignal_damping.png", (0.5, 3.0))


if __name__ == "__main__":
    main()
