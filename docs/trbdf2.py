"""Regenerates trbdf2.md's tables and figure: ``python docs/trbdf2.py`` (half a minute)."""

from __future__ import annotations

import numpy as np
from pages import BLUE, GREY, ORANGE, fill, markdown, panels, save
from work_precision import by_ida, largest_error

import gridcore as gc
from gridcore.equilibrium import Equilibrium

T_END, CLEAR, SHOWN, TR = 0.5, 0.1503, 0.01, 5e-4
FAST, SLOW = ("EXC2", "Vm"), ("GEN2", "omega")
METHODS = {"trapezoidal": {"theta": 0.5}, "theta = 0.6": {"theta": 0.6}, "backward Euler": {"theta": 1.0},
           "TR-BDF2": {"method": "trbdf2"}}
STEPS = (0.02, 0.01, 0.005, 0.0025)
LOOK = (2.0, 3.0, 5.0, 10.0, 60.0, 300.0)


def system() -> Equilibrium:
    """The 9-bus case with a fast voltage transducer, and a fault that goes away by itself."""
    case = gc.load_case("wscc9")
    for id in ("fault", "trip"):
        case.remove(id)
    case.set("EXC2.TR", TR)
    case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=CLEAR))
    return gc.build(case)


def off(run: gc.Run, true: gc.Run, quantity: tuple[str, str], since: float = CLEAR + 0.04) -> float:
    """Largest error of a quantity from a while after the fault on."""
    t = run.t >= since
    return float(np.abs(run[quantity][t] - np.interp(run.t[t], true.t, true[quantity])).max())


def table(s: Equilibrium, true: gc.Run) -> str:
    """Errors and work of the methods."""
    rows = []
    for name, options in METHODS.items():
        for step in STEPS:
            run = gc.simulate(s, T_END, step, **options)
            rows.append([name, f"{1e3 * step:g} ms", f"{off(run, true, FAST):.1e}", f"{off(run, true, SLOW):.1e}",
                         f"{run.counters['newton_iterations'] / run.counters['steps']:.1f}"])
    return markdown(["method", "h", "error of EXC2.Vm", "of GEN2.omega", "iterations a step"], rows)


def minutes() -> Equilibrium:
    """Recovery loads at an infinite bus, and a line that trips."""
    case = gc.load_case("wscc9_recovery_loads")
    for id in ("up", "down", "RELAY14", "EXC1", "GEN1"):
        case.remove(id)
    case.add("InfiniteBus", id="GRID", bus=1, control="slack", V0=1.04)
    case.add("BranchTrip", id="trip", branch="LINE8-9", t=1.0)
    return gc.build(case)


def long(s: Equilibrium) -> str:
    """Errors and work of fixed steps and of chosen ones over minutes."""
    true, rows = by_ida(s, LOOK), []
    for name, options in (("trapezoidal", {"method": "theta"}), ("TR-BDF2", {"method": "trbdf2"}),
                          ("BDF", {"method": "bdf"})):
        fixed = ((0.05, 0), (0.02, 0), (0.01, 0)) if name != "BDF" else ()
        for step, rtol in (*fixed, ("auto", 1e-2), ("auto", 1e-3), ("auto", 1e-4)):
            how = {**options, "step": step, **({"rtol": rtol, "atol": rtol / 100} if rtol else {})}
            runs = [gc.simulate(s, t, **how) for t in LOOK]
            error = largest_error(s, (run.X[-1] for run in runs), true)
            work = (runs[-1].counters[what] for what in ("steps", "newton_iterations", "factorisations"))
            rows.append([name, f"auto, rtol = {rtol:g}" if rtol else f"{1e3 * float(step):g} ms", f"{error:.1e}",
                         *map(str, work), f"{np.diff(runs[-1].t).max():.2g} s"])
    return markdown(["method", "step", "error", "steps", "iterations", "factorisations", "longest step"], rows)


def figure(s: Equilibrium, true: gc.Run) -> None:
    """The transducer around the fault, and how far it is off."""
    drawn, axes = panels(2, 1)
    top, bottom = axes[:, 0]
    top.plot(true.t, true[FAST], color=GREY, linewidth=0.9, label="steps of 0.05 ms")
    for name, colour, mark in (("trapezoidal", ORANGE, "o-"), ("TR-BDF2", BLUE, "s-")):
        run = gc.simulate(s, T_END, SHOWN, **METHODS[name])
        error = np.abs(run[FAST] - np.interp(run.t, true.t, true[FAST]))
        top.plot(run.t, run[FAST], mark, color=colour, markersize=2.5, linewidth=0.8, label=name)
        after = run.t > CLEAR + 1e-6
        bottom.semilogy(run.t[after], error[after], mark, color=colour, markersize=2.5, linewidth=0.8, label=name)
    top.set_ylabel("EXC2.Vm (pu)")
    top.legend(frameon=False, fontsize=8, loc="lower right")
    bottom.set_ylabel("its error (pu)")
    bottom.set_xlabel(f"time (s), steps of {1e3 * SHOWN:g} ms")
    for ax in (top, bottom):
        ax.set_xlim(0.05, T_END)
    save(drawn, "trbdf2_ringing.png")


def main() -> None:
    """Table and figure."""
    s = system()
    true = gc.simulate(s, T_END, 5e-5, method="trbdf2")
    fill("trbdf2.md", {"methods": table(s, true), "long": long(minutes())})
    figure(s, true)


if __name__ == "__main__":
    main()
