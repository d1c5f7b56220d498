"""What a run spends outside kernels, factorisations and solves.

Its counters say how often it asks for each; each is then timed alone at the initial point, called from Python. What is
left of the time of the run are the loop over steps, the events, the tape; where steps are made in C, calls cost less
there than alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gridcore as gc
from gridcore.equilibrium import Equilibrium

from .ratios import Ratio, best, repeat, show

T_END, STEP = 1.0, 0.01
_TIMES = 100


def calls(run: gc.Run) -> Counter[str]:
    """How often a run of the theta method asks for each: once a step for the slope at its start, for its first residual
    and for the iteration that ends it.
    """
    done = Counter(run.counters)
    last = min(done["steps"], done["newton_iterations"])
    return Counter({
        "rhs": done["steps"], "residual": done["steps"], "newton": done["newton_iterations"] - last,
        "last newton": last, "matrix": done["factorisations"], "refactor": done["factorisations"],
        "solve": done["solves"], "values": done["guard_evaluations"], "refresh": done["switches"],
        "active": done["switches"]})


def pieces(system: Equilibrium) -> dict[str, Callable[[], Any]]:
    """One call of each, at the initial point."""
    ws = system.workspace()
    lu = ws.pivots.another()
    ws.differential[:] = system.differential(ws.Z)
    ws.mass[:], ws.c[:] = ws.differential, np.where(ws.differential, STEP / 2, -1.0)
    values = ws.matrix().copy()
    lu.factor(values)
    b, zero = np.ones(system.n), np.zeros(system.n)

    def newton(tolerance: float) -> Callable[[], None]:
        def update() -> None:
            ws.R[:] = zero
            ws.newton(tolerance)

        return update

    return {"rhs": ws.rhs, "residual": ws.residual, "newton": newton(-1.0), "last newton": newton(1.0),
            "matrix": ws.matrix, "refresh": ws.refresh,
            "values": lambda: system.switching.values(ws.Z),
            "active": lambda: system.switching.active(ws.Z),
            "refactor": lambda: lu.refactor(values, alike=True), "solve": lambda: lu.solve(b)}


@dataclass
class Work:
    """A run, and the floor under it: what its calls of kernels, guards, factorisations and solves take alone.

    Attributes
    ----------
    run : float
        Seconds.
    counts : Counter
        Calls.
    parts : dict of str to float
        Seconds of the calls, the dearest first.
    """

    run: float
    counts: Counter[str]
    parts: dict[str, float]

    @property
    def floor(self) -> float:
        """Seconds of all calls."""
        return sum(self.parts.values())

    def __str__(self) -> str:
        told = ", ".join(f"{self.counts[name]} {name} {1e3 * t:.2f}" for name, t in self.parts.items())
        return f"run {1e3 * self.run:.1f} ms; ms: {told}"


def work(system: Equilibrium, t_end: float = T_END, rounds: int = 21, times: int = _TIMES,
         clock: Callable[[], float] = time.perf_counter) -> Work:
    """Measure a run in steps of 10 ms, and its floor."""
    counts = calls(gc.simulate(system, t_end, STEP))
    asked = {name: call for name, call in pieces(system).items() if counts[name]}
    run, *taken = best(lambda: gc.simulate(system, t_end, STEP), *(repeat(call, times) for call in asked.values()),
                       rounds=rounds, clock=clock)
    parts = {name: counts[name] * t / times for name, t in zip(asked, taken, strict=True)}
    return Work(run, counts, dict(sorted(parts.items(), key=lambda part: -part[1])))


def measure(rounds: int = 21) -> list[Ratio]:
    """The run over its kernels, factorisations and solves alone."""
    found = work(gc.build("ieee118"), rounds=rounds)
    return [Ratio("1 s of the 118-bus study / its kernels, factorisations and solves", found.run / found.floor, 2.0,
                  str(found))]


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
