"""Random scenarios on two systems: gradients against extrapolated differences of the whole program.

From the root of the repository, a long campaign, and one scenario of it again, in words::

    python -m tests.sensitivity.campaign --count 5000 --seed 1
    python -m tests.sensitivity.campaign --seed 1 --only 137

A scenario ends as one of :data:`VERDICTS`. Differences mean something only where the program is smooth: the
perturbed runs must go through the same steps, events and load regimes. Where they do not, however small the
perturbation, the parameter is *changed*, and counted as such; likewise where larger ones happened to, but smaller
ones do not (round-off has decided which of two events of one instant is found).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import gridcore as gc
from gridcore.equilibrium.equilibrium import find_equilibrium
from gridcore.errors import EventError, GridcoreError
from gridcore.sensitivity import evaluate

VERDICTS = ("agree", "changed", "grazing", "FAIL")
RELATIVE = 1e-7
# What a run's Newton iterations leave undetermined of its results, and so a difference of two runs.
NOISE = 1e-12
STEPS = (1e-3, 2e-4, 4e-5, 1e-5)
# Of runs of many steps it is so many times the second differences of results, so small parts of a parameter apart.
TINY, TIMES = 1e-8 * np.arange(-3, 4), 10
SYSTEMS = {
    "wscc9": {"generators": 3, "branches": ["LINE4-5", "LINE4-6", "LINE5-7", "LINE6-9", "LINE7-8", "LINE8-9"],
              "loads": [5, 6, 8], "buses": range(4, 10), "exciter": "EXC", "gain": "KA", "ceiling": "VRMAX",
              "limit": (1.6, 4.0), "machines": ["GEN1", "GEN2", "GEN3"], "regulator": ("EXC1", "VR"), "bus": "BUS5"},
    "kundur": {"generators": 4, "branches": ["LINE7-8", "LINE7-8_2", "LINE8-9", "LINE8-9_2", "LINE6-7"],
               "loads": [7, 9], "buses": range(5, 12), "exciter": "EXC_GEN", "gain": "K", "ceiling": "EMAX",
               "limit": (2.0, 4.0), "machines": ["GEN1", "GEN2", "GEN3"], "regulator": ("EXC_GEN1", "Efd"),
              "bus": "BUS7"},
}


@dataclass
class Scenario:
    """A case, how it is run, and what its gradients are taken in."""

    case: gc.Case
    t_end: float
    how: dict[str, Any]
    wrt: list[str]

    def __str__(self) -> str:
        lines = [f"{self.case.name}: to {self.t_end:.6g} s, "
                 f"{', '.join(f'{name} = {value}' for name, value in self.how.items())}, in {', '.join(self.wrt)}"]
        return "\n".join(lines + [f"  {r!r}" for r in self.case.records if "bus2" not in r.fields and r.model != "Bus"])


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario: fault place and duration, load level and kind, limits, relays, dampings, inertias, times."""
    name = str(rng.choice(["wscc9", "kundur"]))  # others may have added to SYSTEMS
    about, case = SYSTEMS[name], gc.load_case(name)
    for id in ("fault", "trip"):
        case.remove(id)
    return disturbed(rng, case, about, _operating_point(rng, case, about))


def disturbed(rng: np.random.Generator, case: gc.Case, about: dict[str, Any], wrt: list[str]) -> Scenario:
    """A case with a fault and relays, and two parameters of these and of `wrt`."""
    wrt = [*wrt, *_fault(rng, case, about), *_relays(rng, case, about)]
    chosen = rng.choice(wrt, size=2, replace=False)
    t_end, step, theta = rng.uniform(0.22, 0.4), rng.uniform(0.008, 0.03), rng.choice([0.5, 0.5, 0.65, 1.0])
    return Scenario(case, float(t_end), {"step": float(step), "theta": float(theta)}, [str(p) for p in chosen])


def loads_of(rng: np.random.Generator, case: gc.Case, about: dict[str, Any], level: float) -> list[str]:
    """Other loads, of another kind; their parameters."""
    wrt = []
    for bus in about["loads"]:
        load = case[f"LOAD{bus}"]
        load.fields["P0"] *= level
        load.fields["Q0"] *= level * rng.uniform(0.8, 1.2)
        parts = rng.dirichlet([2, 1, 1])
        load.fields.update(dict(zip(("pZ", "pI", "pP"), parts)))
        wrt += [f"LOAD{bus}.P0", f"LOAD{bus}.Q0"]
    return wrt


def _operating_point(rng: np.random.Generator, case: gc.Case, about: dict[str, Any]) -> list[str]:
    level = rng.uniform(0.8, 1.1)
    wrt = loads_of(rng, case, about, level)
    for k in range(1, about["generators"] + 1):
        name, ceiling = f"{about['exciter']}{k}", about["ceiling"]
        machine, exciter = case[f"GEN{k}"], case[name]
        if machine.fields["control"] == "PV":
            machine.fields["P0"] *= level
            wrt.append(f"GEN{k}.P0")
        machine.fields["H"] *= rng.uniform(0.7, 1.4)
        machine.fields["D"] = rng.uniform(0.0, 5.0)
        machine.fields["V0"] *= rng.uniform(0.98, 1.02)
        exciter.fields[ceiling] = rng.uniform(*about["limit"])
        wrt += [f"GEN{k}.H", f"GEN{k}.D", f"GEN{k}.V0", f"{name}.{about['gain']}", f"{name}.{ceiling}", f"GEN{k}.Xdp"]
    return [*wrt, *(f"{branch}.{p}" for branch in about["branches"] for p in ("x", "b"))]


def _fault(rng: np.random.Generator, case: gc.Case, about: dict[str, Any]) -> list[str]:
    t, duration = rng.uniform(0.02, 0.08), rng.uniform(0.03, 0.12)
    case.add(gc.BusFault(id="fault", bus=int(rng.choice(about["buses"])), t=t, clear=t + duration,
                         x=10 ** rng.uniform(-3, -0.7), r=10 ** rng.uniform(-4, -2)))
    wrt = [f"fault.{p}" for p in ("t", "clear", "x", "r")] * 2
    if rng.random() < 0.5:
        later = t + duration + rng.uniform(1e-3, 0.04)
        case.add(gc.BranchTrip(id="trip", branch=str(rng.choice(about["branches"])), t=later))
        wrt += ["trip.t"] * 2
    if rng.random() < 0.3:
        load = f"LOAD{rng.choice(about['loads'])}.P0"
        case.add(gc.ParameterStep(id="more", parameter=load, t=rng.uniform(0.05, 0.2), scale=rng.uniform(0.8, 1.2)))
        wrt += ["more.t", "more.scale", "more.by"]
    return wrt


def _relays(rng: np.random.Generator, case: gc.Case, about: dict[str, Any]) -> list[str]:
    wrt = []
    if rng.random() < 0.6:
        big = 1.0 if case.name == "wscc9" else 5.0
        case.add(gc.Record("OverCurrentRelay", {
            "id": "relay", "branch": str(rng.choice(about["branches"])), "threshold": big * rng.uniform(0.4, 2.5),
            "delay": rng.uniform(0.0, 0.15)}))
        wrt += ["relay.threshold", "relay.delay"] * 2
    if rng.random() < 0.6:
        case.add(gc.Record("UnderVoltageLoadShedding", {
            "id": "shed", "load": f"LOAD{rng.choice(about['loads'])}", "threshold": rng.uniform(0.6, 0.95),
            "delay": rng.uniform(0.0, 0.15), "shed": rng.uniform(0.1, 0.5)}))
        wrt += ["shed.threshold", "shed.delay", "shed.shed"] * 2
    return wrt


def samples(scenario: Scenario) -> np.ndarray:
    """Times of samples."""
    return scenario.t_end * np.array([0.3117, 0.7731])


def objectives(scenario: Scenario) -> list[Any]:
    """Of all three kinds, on angles, speeds, voltages and a regulator."""
    about, times = SYSTEMS[scenario.case.name], samples(scenario)
    (first, second, third), bus = about["machines"], about["bus"]
    return [gc.Terminal(lambda v: v[second, "delta"] - v[first, "delta"]),
            gc.Terminal(lambda v: v[bus, "Vm"]),
            gc.Integral(lambda v: 1e3 * (v[second, "omega"] - 1.0) ** 2 + v[about["regulator"]]),
            gc.Sampled(times, lambda v: v[third, "delta"] + v[bus, "Vr"], data=0.2)]


class Program:
    """A scenario, assembled once, and run from the power flow on with any values of its parameters."""

    def __init__(self, scenario: Scenario):
        self.scenario, self.objectives = scenario, objectives(scenario)
        self.system = gc.build(scenario.case, initialise=False)
        self._given, self._run = self.system.Z0.copy(), None
        loads, variables = SYSTEMS[scenario.case.name]["loads"], self.system.variables
        self._voltages = [[variables.index((f"BUS{bus}", name)) for bus in loads] for name in ("Vr", "Vi")]
        self._low = [self.value(f"LOAD{bus}.Vlow") for bus in loads]

    def value(self, name: str) -> float:
        """What the case says of a parameter."""
        return float(self._given[self.system.layout.address(name)])

    def run(self, changed: dict[str, float] | None = None) -> Any:
        """Power flow, initialisation and simulation; of changed values in the same steps, if they were chosen."""
        Z = self._given.copy()
        for name, value in (changed or {}).items():
            Z[self.system.layout.address(name)] = value
        found = find_equilibrium(self.system.system, self.system.case, self.system.instances, Z)
        if changed and self.scenario.how["step"] == "auto":
            return gc.simulate(found, mesh=self._run)
        run = gc.simulate(found, self.scenario.t_end, **self.scenario.how)
        self._run = self._run or run
        return run

    def signature(self, run: Any) -> tuple[Any, ...]:
        """What must not change for differences to mean something: records and load regimes at every point, and between
        which events there are samples.
        """
        records = tuple((type(r).__name__, getattr(r, "guard", None), getattr(r, "triggers", None))
                        for r in run.tape.records)
        Vr, Vi = (run.X[:, at] for at in self._voltages)
        between = np.searchsorted([event.t for event in run.events], samples(self.scenario))
        return records, (np.hypot(Vr, Vi) < self._low).tobytes(), between.tobytes()

    def results(self, changed: dict[str, float]) -> tuple[np.ndarray, tuple[Any, ...]]:
        """Objectives, and what the run went through."""
        run = self.run(changed)
        return evaluate(run, self.objectives).values, self.signature(run)

    @cached_property
    def noise(self) -> np.ndarray:
        """How far results are from a straight line, of parameters that are all but the same."""
        at = {name: self.value(name) for name in self.scenario.wrt}
        runs = ({name: value + part * max(abs(value), 0.01) for name, value in at.items()} for part in TINY)
        return np.abs(np.diff([self.results(changed)[0] for changed in runs], 2, axis=0)).max(axis=0)


def differences(program: Program, name: str, same: tuple[Any, ...]) -> Iterator[tuple[float, np.ndarray | None]]:
    """Extrapolated central differences with smaller and smaller steps; None of those that change something else."""
    at = program.value(name)
    for part in STEPS:
        h = part * max(abs(at), 0.01)
        try:
            runs = [program.results({name: at + f * h}) for f in (-1, -0.5, 0.5, 1)]
        except GridcoreError:
            continue  # a bound of the parameter, or no solution there
        a, b, c, d = (v for v, _ in runs)
        yield h, (8 * (c - b) - (d - a)) / (6 * h) if all(s == same for _, s in runs) else None


def differentiated(program: Program, tell: bool) -> tuple[Any, Any]:
    """A run and its gradients; None in place of these where an event grazes."""
    scenario, run = program.scenario, program.run()
    if tell:
        print(scenario, *(f"  {event}" for event in run.events), sep="\n")
    try:
        return run, gc.adjoint(run, program.objectives, scenario.wrt)
    except EventError as error:
        if tell:
            print(f"  {error}")
        return run, None


def judge(program: Program, tell: bool = False) -> str:
    """One of the verdicts."""
    scenario = program.scenario
    run, table = differentiated(program, tell)
    if table is None:
        return "grazing"
    same, verdict = program.signature(run), "agree"
    for name, found in zip(scenario.wrt, table.values.T):
        one = "changed"
        for h, expected in differences(program, name, same):
            if expected is None:
                one = "changed"
                continue
            off, allowed = np.abs(found - expected), RELATIVE * np.abs(expected)
            allowed += NOISE * (1 + np.abs(table.value.values)) / h
            right = (off <= allowed).all() or (off <= allowed + TIMES * program.noise / h).all()
            one = "agree" if right else "FAIL"
            if tell:
                print(f"  {name} = {program.value(name):.6g}, h = {h:.1e}: {one}", f"    gradient    {found}",
                      f"    differences {expected}", f"    off by      {found - expected}", sep="\n")
            if one == "agree":
                break
        verdict = max(verdict, one, key=VERDICTS.index)
    return verdict


def scenario(seed: int, number: int, draw: Callable[[np.random.Generator], Scenario] = draw,
             ) -> tuple[Program, list[GridcoreError]]:
    """Scenario `number` of a campaign: the first that can be run, and why those before it could not be."""
    rng = np.random.default_rng([seed, number])
    refused: list[GridcoreError] = []
    for _ in range(50):
        try:
            program = Program(draw(rng))
            program.run()
        except GridcoreError as error:
            refused.append(error)  # an island without a machine, a voltage collapse
            continue
        return program, refused
    raise RuntimeError("fifty scenarios in a row that cannot be run")


def campaign(seed: int, numbers: range, report: Any = print,
             draw: Callable[[np.random.Generator], Scenario] = draw,
             judged: Callable[..., str] | None = None, why: Any = None) -> Counter[str]:
    """Judge scenarios that `draw` makes, by :func:`judge` or as `judged` does; returns how many ended as what, and how
    many draws could not be run. `why` is told the reasons of these.
    """
    counts: Counter[str] = Counter()
    for number in numbers:
        program, refused = scenario(seed, number, draw)
        verdict = (judged or judge)(program)
        counts.update([verdict])
        counts["could not be run"] += len(refused)
        for error in refused if why else ():
            why(f"could not be run: --only {number}: {type(error).__name__}: {error}")
        if verdict == "FAIL":
            report(f"FAIL: --seed {seed} --only {number}")
    return counts


def main(draw: Callable[[np.random.Generator], Scenario] = draw, judged: Callable[..., str] | None = None) -> int:
    """The command line; the exit code is 1 where a gradient is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="scenarios")
    parser.add_argument("--first", type=int, default=0, help="number of the first: to go on with a campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this one alone, in words")
    chosen = parser.parse_args()
    if chosen.only is not None:
        program, refused = scenario(chosen.seed, chosen.only, draw)
        for error in refused:
            print(f"could not be run, and drawn again: {type(error).__name__}: {error}")
        verdict = (judged or judge)(program, tell=True)
        print(verdict)
        return int(verdict == "FAIL")
    counts: Counter[str] = Counter()
    end = chosen.first + chosen.count
    for first in range(chosen.first, end, 50):
        to = min(first + 50, end)
        counts += campaign(chosen.seed, range(first, to), draw=draw, judged=judged, why=print)
        print(f"{chosen.first} to {to}: " + ", ".join(f"{n} {what}" for what, n in counts.items()), flush=True)
    return int(counts["FAIL"] > 0)


if __name__ == "__main__":
    sys.exit(main())
