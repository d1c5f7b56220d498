"""The campaign with coincidences drawn on purpose: events of one instant, events on points of the grid, units alike.

From the root of the repository, a long campaign, and one scenario of it again, in words::

    python -m tests.sensitivity.coincident_campaign --count 5000 --seed 1
    python -m tests.sensitivity.coincident_campaign --seed 1 --only 137

A third of the scenarios has a coincidence. There each derivative must be a one-sided one of the program, to the left or
to the right, and where the two differ there must have been a warning. Sides are told apart by differences that stay on
one of them, extrapolated to a length of zero. A side on which the runs go through different events, or where one has no
solution, is none, whatever longer differences found there: two events near each other change their order somewhere
beyond the shorter ones.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore.sensitivity import CoincidenceWarning

sys.path.insert(0, str(Path(__file__).parent))
import campaign
from campaign import SYSTEMS, Program, Scenario, main

SHARE = 1 / 3
RELATIVE = 1e-5  # of the largest derivative of an objective: what the extrapolation leaves
APART = 1e-3  # sides that differ by more are told
LENGTHS = 0.5 ** np.arange(3)
STEPS = (1e-3, 1e-4, 1e-5)
LAST = 1e-6  # where there are other events than at the shortest of these, or these have not settled
NOISE = {part: 100 * campaign.NOISE for part in STEPS} | {LAST: 3 * campaign.NOISE}  # or the last would tell nothing


def draw(rng: np.random.Generator) -> Scenario:
    """A scenario of the campaign; a third of them with a coincidence."""
    scenario = campaign.draw(rng)
    if rng.random() < SHARE:
        KINDS[str(rng.choice(sorted(KINDS)))](rng, scenario)
    return scenario


def _trip_at_the_clearing(rng: np.random.Generator, s: Scenario) -> None:
    if "trip" in s.case:
        s.case.remove("trip")
    branch = str(rng.choice(SYSTEMS[s.case.name]["branches"]))
    s.case.add(gc.BranchTrip(id="trip", branch=branch, t=s.case["fault"].fields["clear"]))
    s.wrt = [str(rng.choice(["trip.t", "fault.clear"])), *s.wrt[:1]]


def _step_at_the_fault(rng: np.random.Generator, s: Scenario) -> None:
    if "more" in s.case:
        s.case.remove("more")
    load = f"LOAD{rng.choice(SYSTEMS[s.case.name]['loads'])}.P0"
    s.case.add(gc.ParameterStep(id="more", parameter=load, t=s.case["fault"].fields["t"], scale=rng.uniform(0.8, 1.2)))
    s.wrt = [str(rng.choice(["more.t", "fault.t"])), *s.wrt[:1]]


def _on_the_grid(rng: np.random.Generator, s: Scenario) -> None:
    event = str(rng.choice(["t", "clear"]))
    at = s.case["fault"].fields[event]
    s.how["step"] = at / round(at / s.how["step"])
    s.wrt = [f"fault.{event}", *s.wrt[:1]]


def _relay_at_the_clearing(rng: np.random.Generator, s: Scenario) -> None:
    """Its delay is what is left of the fault when it starts; where it does not start in the fault it stays."""
    if "relay" not in s.case:
        return
    relay = s.case["relay"].fields
    before, relay["delay"] = relay["delay"], 10.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = [e.t for e in Program(s).run().events if e.device == "relay" and e.kind == "delay started"]
    left = s.case["fault"].fields["clear"] - started[0] if started else -1.0
    relay["delay"] = left if left > 0 else before
    s.wrt = [str(rng.choice(["relay.delay", "relay.threshold", "fault.clear"])), *s.wrt[:1]]


def _units_alike(rng: np.random.Generator, s: Scenario) -> None:
    if "shed" not in s.case:
        return
    s.case.add(gc.Record("UnderVoltageLoadShedding", {**s.case["shed"].fields, "id": "again"}))
    s.wrt = [str(rng.choice(["shed.delay", "again.delay", "shed.threshold", "again.shed"])), *s.wrt[:1]]


KINDS: dict[str, Callable[[np.random.Generator, Scenario], None]] = {
    "trip": _trip_at_the_clearing, "step": _step_at_the_fault, "grid": _on_the_grid, "relay": _relay_at_the_clearing,
    "alike": _units_alike}


def sides(program: Program, name: str) -> Iterator[tuple[float, dict[float, np.ndarray | None]]]:
    """The derivatives on either side by differences of smaller and smaller lengths: which part of the parameter these
    are, and by length, positive to the right.

    None for a side on which the runs of one length go through different events, or one of them has no solution. The
    last length is asked of a side only if its events are others there, or if the shorter of two lengths still told more
    than is allowed (near a graze derivatives bend quickly), for it leaves the fewest digits.
    """
    at, events, told = program.value(name), dict[bool, object](), dict[bool, np.ndarray]()
    settled = dict.fromkeys((False, True), True)
    for part in (*STEPS, LAST):
        found = {}
        for h in (part * max(abs(at), 0.01), -part * max(abs(at), 0.01)):
            try:
                runs = [program.results({name: at + length * h}) for length in LENGTHS]
            except GridcoreError:
                found[h] = events[h > 0] = None
                continue
            fit = np.vander(LENGTHS, len(LENGTHS), increasing=True)
            slope = np.linalg.solve(fit, np.array([value for value, _ in runs]))[1] / h
            same = runs[0][1] if all(signature == runs[0][1] for _, signature in runs) else None
            if part > LAST or same != events[h > 0] or not settled[h > 0]:
                found[h] = slope if same is not None else None
            settled[h > 0] = not (np.abs(slope - told.get(h > 0, slope)) > 9 * RELATIVE * np.abs(slope)).any()
            events[h > 0], told[h > 0] = same, slope
        yield part, found


def differ(left: np.ndarray, right: np.ndarray, noise: np.ndarray) -> bool:
    """Whether two sides are two, and not one with that noise."""
    return bool((np.abs(left - right) > APART * np.maximum(np.abs(left), np.abs(right)) + noise).any())


def judge(program: Program, tell: bool = False) -> str:
    """One of the verdicts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, table = campaign.differentiated(program, tell)
    if table is None:
        return "grazing"
    warned = any(issubclass(w.category, CoincidenceWarning) for w in caught)
    verdict = "agree"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, found in zip(table.parameter.values.tolist(), table.values.T, strict=True):
            silent, known, agree, noise = False, {}, {}, {}
            for part, both in sides(program, name):
                for h, expected in both.items():
                    side = h > 0
                    if expected is None:
                        known.pop(side, None)
                        agree.pop(side, None)
                        continue
                    size = np.maximum(np.abs(expected), np.abs(table.values).max(axis=1) * 1e-6)
                    noise[side] = NOISE[part] * (1 + np.abs(table.value.values)) / abs(h)
                    allowed = RELATIVE * size + noise[side]
                    known[side], agree[side] = expected, bool((np.abs(found - expected) <= allowed).all())
                    if tell:
                        print(f"  {name} = {program.value(name):.6g}, {h:+.1e}: {agree[side]}",
                              f"    gradient  {found}", f"    this side {expected}", sep="\n")
                silent = (not warned and len(known) == 2
                          and differ(*known.values(), np.maximum(1e-6, sum(noise.values()))))
                if len(known) == 2 and any(agree.values()) and not silent:
                    break
            one = "agree" if any(agree.values()) else "FAIL" if agree else "changed"
            if silent:
                one = "FAIL"
                if tell:
                    print(f"  {name}: the sides differ, and nobody was warned")
            verdict = max(verdict, one, key=campaign.VERDICTS.index)
    return verdict


if __name__ == "__main__":
    sys.exit(main(draw, judge))
