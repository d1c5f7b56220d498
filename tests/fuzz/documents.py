"""Documents whose fields have other types, values or names."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

WILD = [
    True, False, 0, -1, 1, 2, 10**12, -10**12, 2**63 - 1, 1e300, 1e308, 1e-320, -1e300, float("nan"), float("inf"),
    -0.0, 1.5, "", "x", "all", "*", "[", "GEN1.H", "GEN1.*", "1e400", "inf", "nan", "a\0b", "../x", "/dev/zero",
    "critical",
    "x" * 3000, "studentized_range", "levy_stable", "zipf", "poisson", "ksone", [], [1], ["x"], [[1, 2]], [[]], {},
    {"a": 1}, {"a": {}}, [{}], [{"GEN1.H": 5}]]


def toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value) if isinstance(value, str | bool) else repr(value)


def written(document: dict[str, Any]) -> bytes:
    """A document as a TOML file."""
    return "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in document.items()).encode()


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything in it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, below in inner for place in ((*above, key), *places(below, (*above, key)))]


def mutant(rng: random.Random, document: Any) -> Any:
    """A document in which something is missing, has another name or is something else."""
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
    return document
