"""What a step of the 118-bus system spends outside kernels, factorisations and solves.

The calls of a run are counted; each is then timed alone at the initial point. What is left of the
time of the run is Python: the loop over steps, the events, the tape.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import gridcore as gc
from gridcore.equations import Workspace
from gridcore.equilibrium import Equilibrium
from gridcore.system import System
from gridcore_theta.predictor import Predictor

from .ratios import Ratio, best, repeat, show

T_END, STEP = 1.0, 0.01
_TIMES = 100


def counted_calls(system: Equilibrium, t_end: float = T_END) -> tuple[Counter[str], list[Any]]:
    """How often a run calls each of the workspace's and the guards' functions, and the factors it makes."""
    counts: Counter[str] = Counter()
    factors: list[Any] = []

    def count(owner: type, name: str, counted_as: str = "") -> Any:
        inner = getattr(owner, name)

        def counting(*args: Any) -> Any:
            result = inner(*args)
            last = name == "newton" and result <= args[1]  # then no residual was evaluated
            counts["last newton" if last else counted_as or name] += 1
            return result

        return patch.object(owner, name, counting)

    made = System.factors

    def keep(of: System, *args: Any, **options: Any) -> Any:
        factors.append(made(of, *args, **options))
        return factors[-1]

    with ExitStack() as counted:
        for name in ("rhs", "residual", "newton", "matrix", "refresh"):
            counted.enter_context(count(Workspace, name))
        for name in ("values", "active"):
            counted.enter_context(count(type(system.switching), name))
        for name in ("begin", "equations"):  # which leave the residual of the step
            counted.enter_context(count(Predictor, name, "residual"))
        counted.enter_context(patch.object(System, "factors", keep))
        gc.simulate(system, t_end, STEP)
    return counts, factors


def pieces(system: Equilibrium) -> dict[str, Callable[[], Any]]:
    """One call of each, at the initial point."""
    ws, lu = system.workspace(), system.system.factors()
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
            "factor": lambda: lu.factor(values), "refactor": lambda: lu.refactor(values), "solve": lambda: lu.solve(b)}


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
    counts, factors = counted_calls(system, t_end)
    for lu in factors:
        counts["factor"] += lu.factorisations
        counts["refactor"] += lu.refactorisations
        counts["solve"] += lu.solves
    calls = {name: call for name, call in pieces(system).items() if counts[name]}
    run, *taken = best(lambda: gc.simulate(system, t_end, STEP), *(repeat(call, times) for call in calls.values()),
                       rounds=rounds, clock=clock)
    parts = {name: counts[name] * t / times for name, t in zip(calls, taken, strict=True)}
    return Work(run, counts, dict(sorted(parts.items(), key=lambda part: -part[1])))


def measure(rounds: int = 21) -> list[Ratio]:
    """Share of the run that is neither kernel, factorisation nor solve."""
    found = work(gc.build("ieee118"), rounds=rounds)
    return [Ratio("share of Python in 1 s of the 118-bus study", 1 - found.floor / found.run, 0.5, str(found))]


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
