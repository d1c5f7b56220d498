"""Gradients of the 118-bus study against its simulation: discrete adjoint and forward sensitivities.

Reference study A3: 100 steps of 10 ms, fault from 0.1 to 0.2 s; 54 functions
``sigma integral max(0, omega - top, bottom - omega)^2 dt``; 344 parameters, P and Q dispatch of every
machine, magnitude and angle of every voltage at t0. Times of gradients include the simulation; CPU time, so that a
busy machine changes little.

Then ten seconds of small cases, as they are shipped, in steps of 10 ms and in chosen ones: derivatives by themselves,
without the simulation, that with respect to inertias.

``python -m tests.bench.sensitivities --profile`` tells where the time goes.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gridcore as gc

from .ratios import Ratio, best, show

WRT = ("GEN*.P0", "GEN*.Q0", "BUS*.Vm0", "BUS*.Va0")
SIGMA, TOP, BOTTOM = 1e6, 60.02 / 60, 59.98 / 60  # the study's own band, 0.5 Hz, is not left in this case
MANY, FEW = 10_000, 10  # parameters and initial values of states


class Study:
    """The study, on a system with more than `MANY` parameters."""

    def __init__(self) -> None:
        case = gc.load_case("ieee118")
        buses = [record.fields["id"] for record in case.records if record.model == "Bus"]
        # each bus gets shunts of no admittance: parameters to differentiate by that change nothing else
        for k in range(26 * len(buses)):
            case.add(gc.Record("Shunt", {"id": f"NONE{k}", "bus": buses[k % len(buses)]}))
        self.system = gc.build(case)
        self.machines = [x.id for x in self.system.layout.instances if x.model == "TwoAxis"]
        self.functions = [gc.Integral(self._violation(machine), name=f"H_{machine}") for machine in self.machines]
        self.addresses = [str(name) for name in self.adjoint(self.functions[:1], ["*.*"])["parameter"].values]

    @staticmethod
    def _violation(machine: str) -> Callable[[Any], Any]:
        def density(v: Any) -> Any:
            omega = v[machine, "omega"]
            return SIGMA * np.maximum(0.0, np.maximum(omega - TOP, BOTTOM - omega)) ** 2

        return density

    def simulate(self) -> gc.Run:
        """One second, 100 steps."""
        return gc.simulate(self.system, 1.0, 0.01)

    def adjoint(self, functions: Sequence[gc.Integral], wrt: Sequence[str] = WRT) -> Any:
        """Gradient by the adjoint, the simulation included."""
        return gc.adjoint(self.simulate(), list(functions), list(wrt), dispatch="direct")

    def forward(self, wrt: Sequence[str] = WRT) -> Any:
        """Sensitivities of all speeds by the forward sweep, the simulation included."""
        return gc.analyses.tsa(self.simulate(), list(wrt), [(m, "omega") for m in self.machines], dispatch="direct")


def measure(rounds: int = 15, forward_rounds: int = 3) -> list[Ratio]:
    """The ratios that issue 3 sets targets for."""
    study = Study()
    one, few = study.functions[:1], study.addresses[:FEW]
    clock = time.process_time
    alone, all_, single = best(study.simulate, lambda: study.adjoint(study.functions), lambda: study.adjoint(one),
                               rounds=rounds, clock=clock)
    with_few, with_many = best(lambda: study.adjoint(one, few), lambda: study.adjoint(one, ["*.*"]), rounds=rounds,
                               clock=clock)
    simulation, forward = best(study.simulate, study.forward, rounds=forward_rounds, clock=clock)
    told = f"simulation {1e3 * alone:.1f} ms, "
    return [
        Ratio("adjoint, 54 functions, 344 parameters / simulation", all_ / alone, 4.0, f"{told}{1e3 * all_:.1f} ms"),
        Ratio("adjoint, 1 function, 344 parameters / simulation", single / alone, 1.8, f"{1e3 * single:.1f} ms"),
        Ratio(f"adjoint, {len(study.addresses)} parameters / {FEW} parameters", with_many / with_few, 1.2,
              f"{1e3 * with_many:.1f} ms / {1e3 * with_few:.1f} ms"),
        Ratio("forward, 344 parameters / simulation", forward / simulation, 15.0, f"{1e3 * forward:.1f} ms"),
        *(ratio for case in SMALL for how in STEPS for ratio in of_ten_seconds(case, how, rounds))]


SMALL = ("wscc9", "ieee39", "npcc140")
STEPS = {"10 ms": {"step": 0.01}, "BDF, auto": {"step": "auto", "method": "bdf", "rtol": 1e-4, "atol": 1e-6}}


def of_ten_seconds(case: str, how: str, rounds: int) -> list[Ratio]:
    """The gradient of one function, and the tangents of ten parameters at most, over the run."""
    system, clock = gc.build(case), time.process_time
    run = gc.simulate(system, 10.0, **STEPS[how])
    machines = [device for device, name in run.system.variables if name == "omega"]
    wrt = [f"{machine}.H" for machine in machines[:FEW]]
    objective = gc.Integral(lambda v: (v[machines[0], "omega"] - 1) ** 2)
    alone, back, forth = best(lambda: gc.simulate(system, 10.0, **STEPS[how]), lambda: gc.adjoint(run, objective, wrt),
                              lambda: gc.analyses.forward_gradient(run, objective, wrt), rounds=rounds, clock=clock)
    return [Ratio(f"{case}, 10 s, {how}: {what} / simulation", spent / alone, target,
                  f"{1e3 * spent:.1f} / {1e3 * alone:.1f} ms")
            for what, spent, target in (("gradient", back, 4.0), (f"{len(wrt)} tangents", forth, 8.0))]


def profile() -> None:
    """Where the time goes, function by function."""
    study = Study()
    for title, function in (("adjoint, 54 functions", lambda: study.adjoint(study.functions)),
                            ("adjoint, 1 function", lambda: study.adjoint(study.functions[:1])),
                            ("forward", study.forward)):
        function()
        profiler = cProfile.Profile()
        profiler.runcall(function)
        print(f"\n{title}")
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(40)


if __name__ == "__main__":
    profile() if "--profile" in sys.argv else show(__doc__.splitlines()[0], measure())
