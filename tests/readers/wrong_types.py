"""Sweep and objective files whose fields have other types, values or names: they are understood, or refused in words.

``python -m tests.readers.wrong_types 2000`` reads 2000 of them and prints what became of them.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gridcore as gc
from gridcore.case import load_case
from gridcore.errors import GridcoreError
from gridcore_sweep.files import load_sweep
from gridcore_sweep.study import study

SWEEP = {
    "case": "smib", "set": {"GEN1.H": 6.0}, "t_end": 1.0, "step": 0.01, "options": {"theta": 0.5},
    "contingencies": {"faults": ["BUS1"], "line_faults": "all", "trips": [], "at": 0.1, "clear": 0.1, "longest": 1.0,
                      "within": 0.001, "r": 0.0, "x": 1e-4},
    "vary": {"GEN1.H": [5, 6.4], "CCT1.x": {"from": 1.0, "to": 2.0, "count": 2, "relative": True}},
    "random": {"samples": 2, "seed": 1, "sampling": "random", "draw": {
        "GEN1.Xdp": {"distribution": "norm", "loc": 1, "scale": 0.05, "relative": True, "together": True},
        "TRANSFORMER1-2.x": {"distribution": "beta", "a": 2.0, "b": 3.0}}},
    "measures": {"dip": "min BUS1.Vm"}, "keep": "none", "record": ["GEN1.omega"], "own_events": False}
OBJECTIVES = {"title": "x", "objective": [
    {"name": "H_{device}", "kind": "integral", "of": "GEN*.omega", "shape": "band violation", "low": "59.5 Hz",
     "high": 1.01, "sigma": 3600, "power": 2},
    {"kind": "sampled", "of": "BUS1.Vm", "data": "d.csv", "sigma": 1.0, "time": "time", "column": "v"},
    {"kind": "terminal", "of": "GEN1.omega", "shape": "square", "reference": 1.0}]}
WILD = [
    True, False, 0, -1, 1, 2, 10**12, -10**12, 2**63 - 1, 1e300, 1e-320, -1e300, float("nan"), float("inf"), -0.0, 1.5,
    "", "x", "all", "*", "[", "GEN1.H", "GEN1.*", "1e400", "inf", "nan", "a\0b", "../x", "/dev/zero", "critical",
    "x" * 3000, "studentized_range", "levy_stable", "zipf", "poisson", "ksone", [], [1], ["x"], [[1, 2]], [[]], {},
    {"a": 1}, {"a": {}}, [{}], [{"GEN1.H": 5}]]


def toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything in it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, below in inner for place in ((*above, key), *places(below, (*above, key)))]


def mutant(rng: random.Random, document: dict[str, Any]) -> str:
    """The text of a document in which something is missing, has another name or is something else."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        ways = places(document)
        if not ways:
            break
        *way, last = rng.choice(ways)
        at: Any = document
        for key in way:
            at = at[key]
        what = rng.random()
        if what < 0.15:
            del at[last]
        elif what < 0.25 and isinstance(at, dict):
            at[str(rng.choice(WILD))] = at.pop(last)
        else:
            at[last] = copy.deepcopy(rng.choice(WILD))
    return "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in document.items())


def outcomes(number: int, seed: int) -> Iterator[tuple[str, str]]:
    """(kind of file, "read", or the name of the error with its text) of one mutant after another."""
    with tempfile.TemporaryDirectory() as folder:
        system, path = gc.build("smib"), Path(folder, "mutant.toml")
        Path(folder, "d.csv").write_text("time,v\n0,1\n0.1,1\n")
        for n in range(seed, seed + number):
            kind, document = ("sweep", SWEEP) if n % 2 else ("objectives", OBJECTIVES)
            path.write_text(mutant(random.Random(n), document), encoding="utf-8")
            try:
                if kind == "objectives":
                    gc.analyses.load_objectives(path, system)
                else:
                    asked = load_sweep(path)
                    case = load_case(asked.pop("case"))
                    for address, value in asked.pop("set", {}).items():
                        case.set(address, value)
                    study(case, **asked)
                outcome = "read"
            except GridcoreError as error:
                outcome = f"{type(error).__name__}: {error}"
            except Exception as error:
                outcome = f"TRACEBACK (mutant {n}): {type(error).__name__}: {error}"
            yield kind, outcome


def main(number: int, seed: int = 0) -> int:
    """Read that many; the answer is 1 if any ended in a traceback."""
    found = list(outcomes(number, seed))
    count = Counter((kind, outcome.partition(":")[0].partition(" (")[0]) for kind, outcome in found)
    for (kind, what), n in sorted(count.items()):
        print(f"{kind:<10} {what:<12} {n:>6}")
    bad = [f"{kind}: {outcome}" for kind, outcome in found if outcome.startswith("TRACEBACK")]
    print(*bad[:20], sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
