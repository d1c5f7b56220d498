"""Parameters varied: on a grid, row by row of a list, or drawn at random."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gridcore.case import Instance, ValidCase, patterns_of
from gridcore.contract import Load, Node, Source
from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore_readers.sources import SCENARIOS

from .scenarios import Scenario, Value, matching

RANDOM, LATIN, SOBOL = "random", "latin hypercube", "sobol"
_RANGE = ("from", "to", "count")
_QUANTITY = re.compile(r"\s*([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*(\S.*?)\s*")
_ABOUT = ("distribution", "relative", "together")


class Space:
    """The parameters of a case, by address."""

    def __init__(self, valid: ValidCase):
        self.instances = {i.id: i for i in valid.records}
        self.parameters = [f"{i.id}.{name}" for i in valid.records for name in i.values]
        self.words = [f"{i.id}.{name}" for i in valid.records
                      for name in (*i.words, *([] if issubclass(i.device, Node) else ["status"]))]

    def find(self, pattern: str, numbers: bool = False) -> list[str]:
        """Addresses that a pattern matches; of words only what is written out, and none where numbers are wanted."""
        if pattern in self.words and not numbers:
            return [pattern]
        return matching([pattern], self.parameters, "parameter")

    def value(self, address: str) -> float:
        """The case's own value."""
        instance, name = self.place(address)
        return instance.values[name]

    def place(self, address: str) -> tuple[Instance, str]:
        """The device of an address, and the name on it."""
        device, _, name = address.rpartition(".")
        return self.instances[device], name


def _relative(spec: Mapping[str, Any], where: str) -> bool:
    relative = spec.get("relative", False)
    if not isinstance(relative, bool):
        raise CaseError(f"{where}: relative = {relative!r} must be true or false")
    return relative


def grid(space: Space, vary: Mapping[str, Any]) -> list[list[Scenario]]:
    """For each pattern its scenarios: all that it matches are given one value after the other.

    A value of `vary` is a list; or a table with ``values``, or ``from``, ``to`` and ``count``, and perhaps
    ``relative = true``: factors of the case's own values.
    """
    if not isinstance(vary, Mapping):
        raise CaseError(f"vary = {vary!r} must be a table: {{'GEN2.H': [4.0, 6.0]}}")
    out = []
    for pattern, given in zip(patterns_of(vary), vary.values(), strict=True):
        spec = given if isinstance(given, Mapping) else {"values": given}
        known = ("values", *_RANGE, "relative")
        for key in spec:
            if key not in known:
                raise CaseError(f"vary '{pattern}': unknown field '{key}'{suggest(key, known)}")
        relative = _relative(spec, f"vary '{pattern}'")
        values = _values(pattern, spec)
        addresses = space.find(pattern, numbers=relative)
        if relative and not all(_is_number(v) for v in values):
            raise CaseError(f"vary '{pattern}': factors must be numbers")
        out.append([Scenario({pattern: v}, {a: space.value(a) * v if relative else v for a in addresses})
                    for v in values])
    return out


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_count(what: str, count: int) -> None:
    if count > SCENARIOS:
        raise CaseError(f"{what} = {count:,} must be at most {SCENARIOS:,}")


def _ends(start: Any, stop: Any) -> tuple[Any, Any, str]:
    """The ends of a range as numbers, and the unit that both have, if they have one: ``"80 ms"``."""
    found = [_QUANTITY.fullmatch(end) if isinstance(end, str) else None for end in (start, stop)]
    if found[0] and found[1] and found[0][2] == found[1][2]:
        return float(found[0][1]), float(found[1][1]), found[0][2]
    return start, stop, ""


def _values(pattern: str, spec: Mapping[str, Any]) -> list[Any]:
    if "values" in spec:
        values = spec["values"]
        if any(key in spec for key in _RANGE):
            raise CaseError(f"vary '{pattern}': give values, or from, to and count")
    else:
        missing = [key for key in _RANGE if key not in spec]
        if missing:
            raise CaseError(f"vary '{pattern}': missing: {', '.join(missing)}")
        start, stop, count = (spec[key] for key in _RANGE)
        start, stop, unit = _ends(start, stop)
        if not (_is_number(start) and _is_number(stop) and isinstance(count, int) and count > 1):
            raise CaseError(f"vary '{pattern}': from and to must be numbers, or both with one unit, count an "
                            "integer above 1")
        _check_count(f"vary '{pattern}': count", count)
        values = [f"{value!r} {unit}" if unit else value for value in np.linspace(start, stop, count).tolist()]
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
        raise CaseError(f"vary '{pattern}': {values!r} must be a list of values")
    values = _plain(f"vary '{pattern}'", values)
    if len(set(values)) < len(values):
        raise CaseError(f"vary '{pattern}': a value stands twice")
    return values


def _plain(where: str, values: Iterable[Any]) -> list[Value]:
    """Numbers and texts; those of numpy as Python's, which a store can have."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in plain:
        if not isinstance(value, int | float | str):
            raise CaseError(f"{where}: {value!r} must be a number or a text")
    return plain


def rows(space: Space, table: Sequence[Mapping[str, Value]]) -> list[Scenario]:
    """One scenario for each row: address to value."""
    out = []
    for number, row in enumerate(table, 1):
        if not isinstance(row, Mapping):
            raise CaseError(f"row {number}: {row!r} must be a table: address to value")
        given = _plain(f"row {number}", row.values())
        values: dict[str, Value] = {}
        for pattern, value in zip(patterns_of(row), given, strict=True):
            found = space.find(pattern)
            if both := values.keys() & set(found):
                raise CaseError(f"row {number}: {min(both)} is given twice")
            values.update(dict.fromkeys(found, value))
        out.append(Scenario({"row": number}, values))
    return out


def draws(space: Space, spec: Mapping[str, Any]) -> list[Scenario]:
    """Scenarios drawn at random.

    Every drawn parameter has a stream of its own, from the seed and its address: a sample does not depend on how many
    there are, nor on what else is drawn. Latin hypercubes are made as a whole; a Sobol sequence depends on what is
    drawn, not on how many samples there are.

    Parameters
    ----------
    space : Space
    spec : mapping
        ``samples``, ``seed`` (0), ``sampling`` (``"random"``, ``"latin hypercube"`` or ``"sobol"``), ``draw``: for each
        pattern a table with ``distribution``, the name of one of scipy.stats, its parameters, and perhaps
        ``relative = true`` (factors of the case's own values) and ``together = true`` (one number for all that the
        pattern matches); and ``balance``: sources that make up for what was drawn of ``P0``, in proportion to theirs.

    Raises
    ------
    CaseError
    """
    known = ("samples", "seed", "sampling", "draw", "balance")
    for key in spec:
        if key not in known:
            raise CaseError(f"random: unknown field '{key}'{suggest(key, known)}")
    samples, seed, sampling = spec.get("samples"), spec.get("seed", 0), spec.get("sampling", RANDOM)
    for name, value, least in (("samples", samples, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise CaseError(f"random: {name} = {value!r} must be an integer of at least {least}")
    _check_count("random: samples", int(samples))  # type: ignore[arg-type]
    drawn = spec.get("draw")
    if not isinstance(drawn, Mapping) or not drawn:
        raise CaseError("random: nothing is drawn: write tables under draw, as 'LOAD*.P0' = {distribution = 'norm', "
                        "loc = 1, scale = 0.05, relative = true}")
    variables: list[tuple[str, Any, bool, list[str]]] = []  # (stream, distribution, relative, addresses)
    for pattern, about in zip(patterns_of(drawn), drawn.values(), strict=True):
        distribution, relative, together = _distribution(pattern, about)
        addresses = space.find(pattern, numbers=True)
        groups = [(pattern, addresses)] if together else [(a, [a]) for a in addresses]
        variables += [(stream, distribution, relative, part) for stream, part in groups]
    twice = [a for *_, part in variables for a in part]
    if len(set(twice)) < len(twice):
        raise CaseError(f"random: {next(a for a in twice if twice.count(a) > 1)} is drawn twice")
    numbers = _uniform([v[0] for v in variables], int(samples), int(seed), sampling)  # type: ignore[arg-type]
    columns = {}
    for (_, distribution, relative, addresses), u in zip(variables, numbers.T, strict=True):
        drawn_values = distribution.ppf(u)
        columns.update({a: drawn_values * (space.value(a) if relative else 1.0) for a in addresses})
    if "balance" in spec:
        columns.update(_balance(space, columns, spec["balance"]))
    return [Scenario({"sample": k + 1}, {a: float(column[k]) for a, column in columns.items()})
            for k in range(int(samples))]  # type: ignore[arg-type]


def _uniform(streams: Sequence[str], samples: int, seed: int, sampling: str) -> np.ndarray:
    """(samples, streams) numbers between 0 and 1."""
    if sampling == RANDOM:
        return np.column_stack([np.random.default_rng([seed, zlib.crc32(s.encode())]).random(samples)
                                for s in streams])
    from scipy.stats import qmc

    if sampling == LATIN:
        return qmc.LatinHypercube(len(streams), rng=np.random.default_rng(seed)).random(samples)
    if sampling == SOBOL:
        return qmc.Sobol(len(streams), rng=np.random.default_rng(seed)).random(samples)
    raise CaseError(f"random: sampling = {sampling!r} must be {RANDOM!r}, {LATIN!r} or {SOBOL!r}")


def _distribution(pattern: str, about: Any) -> tuple[Any, bool, bool]:
    """A frozen distribution of scipy.stats, whether it is of factors, and whether of all together."""
    from scipy import stats

    where = f"random '{pattern}'"
    names = sorted(n for n, made in vars(stats).items() if isinstance(made, stats.rv_continuous | stats.rv_discrete))
    if not isinstance(about, Mapping) or "distribution" not in about:
        raise CaseError(f"{where}: missing: distribution, the name of one of scipy.stats, as 'norm' or 'uniform'")
    name = about["distribution"]
    if name not in names:
        raise CaseError(f"{where}: scipy.stats has no distribution {name!r}{suggest(str(name), names)}")
    family = getattr(stats, name)
    if type(family)._ppf in (stats.rv_continuous._ppf, stats.rv_discrete._ppf):  # a search that may take any time
        raise CaseError(f"{where}: '{name}' has no quantile function of its own, and cannot be drawn from")
    shapes = [s.strip() for s in (family.shapes or "").split(",") if s.strip()]
    known = [*shapes, "loc", *(["scale"] if isinstance(family, stats.rv_continuous) else [])]
    arguments = {key: value for key, value in about.items() if key not in _ABOUT}
    for key, value in arguments.items():
        if key not in known:
            raise CaseError(f"{where}: '{name}' has no parameter '{key}'{suggest(key, known)}")
        if not _is_number(value):
            raise CaseError(f"{where}: {key} = {value!r} must be a number")
    missing = [s for s in shapes if s not in arguments]
    if missing:
        raise CaseError(f"{where}: '{name}' needs {', '.join(missing)}")
    frozen = family(**arguments)
    try:
        defined = math.isfinite(float(frozen.ppf(0.5)))
    except (ArithmeticError, ValueError, TypeError, RuntimeError):  # it has no errors of its own for its parameters
        defined = False
    if not defined:
        raise CaseError(f"{where}: '{name}' is not defined for {', '.join(f'{k} = {v}' for k, v in arguments.items())}")
    together = about.get("together", False)
    if not isinstance(together, bool):
        raise CaseError(f"{where}: together = {together!r} must be true or false")
    return frozen, _relative(about, where), together


def _balance(space: Space, columns: Mapping[str, np.ndarray], pattern: str) -> dict[str, np.ndarray]:
    """P0 of the sources that make up for what was drawn, in proportion to their P0."""
    wanted = np.zeros(len(next(iter(columns.values()))))
    for address, column in columns.items():
        instance, name = space.place(address)
        if not instance.in_service:
            continue
        if name == "P0" and issubclass(instance.device, Load):
            wanted = wanted + instance.values["k"] * (column - instance.values["P0"])
        elif name == "P0" and issubclass(instance.device, Source):
            wanted = wanted - (column - instance.values["P0"])
    sources = [i for i in space.instances.values() if issubclass(i.device, Source) and i.in_service]
    found = matching([pattern], [i.id for i in sources], "source")
    share = {i.id: i.values["P0"] for i in sources if i.id in found and i.words["control"] != "slack"
             and f"{i.id}.P0" not in columns and i.values["P0"] > 0}
    if not share:
        raise CaseError(f"random: balance = '{pattern}': none of these sources has a P0 above 0 that is neither drawn "
                        "nor found by the power flow (slack)")
    total = sum(share.values())
    return {f"{id}.P0": P0 + wanted * (P0 / total) for id, P0 in share.items()}
