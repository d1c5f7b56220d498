"""Small-signal stability: modes of the linearised system, what they depend on, and how they move with parameters.

The analyses ``small_signal``, ``linearise``, ``root_locus`` and ``damping_map``, their figures, and the verbs
``gridcore eig``, ``gridcore locus`` and ``gridcore damping``.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.small_signal(system)`` and its relations."""
    register("small_signal", "gridcore_smallsignal.analysis:small_signal")
    register("linearise", "gridcore_smallsignal.linearisation:linearise")
    register("root_locus", "gridcore_smallsignal.locus:root_locus")
    register("damping_map", "gridcore_smallsignal.locus:damping_map")
    for name in ("plot_modes", "plot_locus", "plot_damping_map"):
        register(name, f"gridcore_smallsignal.figures:{name}")


@hookimpl
def register_plots(register: Register) -> None:
    """What ``--plot`` of the verbs draws."""
    register("modes", "gridcore_smallsignal.figures:plot_modes")
    register("locus", "gridcore_smallsignal.figures:plot_locus")
    register("damping map", "gridcore_smallsignal.figures:plot_damping_map")


@hookimpl
def register_commands(register: Register) -> None:
    """``gridcore eig``, ``gridcore locus``, ``gridcore damping``."""
    for name in ("eig", "locus", "damping"):
        register(name, f"gridcore_smallsignal.command:{name}_command")
