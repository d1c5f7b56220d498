"""A scenario: how one run of a sweep differs from the case. Small, plain data: this is what workers are sent.

A scenario gives parameters other values and adds events. The events of all scenarios stand in one common case, their
times at infinity; a scenario then is nothing but other values of parameters, and a worker builds one system for all.
"""

from __future__ import annotations

import fnmatch
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gridcore.case import Case, Instance, ValidCase, validate
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore.results import patterns_of
from gridcore.suggest import suggest
from gridcore_provenance.fingerprint import case_digest, digest
from gridcore_readers.sources import SCENARIOS

Value = float | str
ALL = "all"


@dataclass(frozen=True)
class Search:
    """What to find in place of one run: the longest time after which a fault may be cleared.

    Attributes
    ----------
    addresses : tuple of str
        The parameters that are the clearing time (s).
    strikes : float
        Time of the fault (s).
    longest, within : float
        Longest duration to try, and how closely to find the critical one (s).
    """

    addresses: tuple[str, ...]
    strikes: float
    longest: float
    within: float


@dataclass(frozen=True)
class Scenario:
    """One row of the table.

    Attributes
    ----------
    labels : dict
        What tells it from the others: ``{"contingency": "fault BUS7", "GEN2.H": 6.0}``.
    values : dict
        Address to value, in the declared unit or as text with a unit.
    events : tuple of Record
        Each with an id, that stands for the same model at the same place in all scenarios.
    search : Search, optional
    """

    labels: Mapping[str, Value]
    values: Mapping[str, Value] = field(default_factory=dict)
    events: tuple[Record, ...] = ()
    search: Search | None = None

    @property
    def name(self) -> str:
        """Its labels on one line."""
        return ", ".join(str(v) if isinstance(v, str) and k == CONTINGENCY else f"{k} = {shown(v)}"
                         for k, v in self.labels.items()) or "base case"

    def key(self, study: str) -> str:
        """What it is found by in a store: a digest of the study, the changes and the search."""
        search = self.search and [self.search.addresses, self.search.strikes, self.search.longest, self.search.within]
        events = [[e.model, sorted(e.fields.items())] for e in self.events]
        return digest([study, sorted(self.values.items()), events, search])


CONTINGENCY = "contingency"


def shown(value: Value) -> str:
    """A value as in a label."""
    return value if isinstance(value, str) else f"{value:.6g}"


def is_event(instance: Instance) -> bool:
    """Whether it is an event of a study: a device with timers."""
    return bool(instance.device.declares.timers)


def matching(patterns: str | Iterable[str], names: Sequence[str], what: str) -> list[str]:
    """Names that shell-style patterns match, in their order; ``"all"`` is every one.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    out: dict[str, None] = {}
    for pattern in patterns_of(list(patterns) if isinstance(patterns, tuple) else patterns):
        found = list(names) if pattern == ALL else [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not found:
            raise CaseError(f"no {what} matches '{pattern}'{suggest(pattern, names)}")
        out.update(dict.fromkeys(found))
    return list(out)


def product(*factors: Sequence[Scenario]) -> list[Scenario]:
    """Every combination of one scenario of each factor that has any.

    Raises
    ------
    CaseError
        If two factors change one parameter, or there are too many combinations.
    """
    out: list[Scenario] = []
    count = math.prod(len(f) for f in factors if f)
    if count > SCENARIOS:
        raise CaseError(f"all combinations are {count:,} scenarios, of at most {SCENARIOS:,}")
    for combination in itertools.product(*(f for f in factors if f)):
        values: dict[str, Value] = {}
        for scenario in combination:
            both = values.keys() & scenario.values.keys()
            if both:
                raise CaseError(f"{min(both)} is varied twice in one sweep")
            values.update(scenario.values)
        out.append(Scenario({k: v for s in combination for k, v in s.labels.items()}, values,
                            tuple(e for s in combination for e in s.events),
                            next((s.search for s in combination if s.search), None)))
    return out


def without_events(case: Case, valid: ValidCase) -> Case:
    """A case without the events that it came with."""
    case = case.copy()
    case.records = [record for record, instance in zip(case.records, valid.records, strict=True)
                    if not is_event(instance)]
    return case


def standing(case: Case, scenarios: Iterable[Scenario]) -> tuple[Case, str, list[dict[str, Value]]]:
    """The case with all events of all scenarios in it, at no time; its digest; the values that each scenario sets."""
    case = case.copy()
    there: dict[str, Record] = {}
    out = []
    for scenario in scenarios:
        values = dict(scenario.values)
        for event in scenario.events:
            id, declared = event.fields["id"], event.device.declares
            if id not in there:
                never = {timer.at: math.inf for timer in declared.timers.values()}
                there[id] = case.add(Record(event.model, {**event.fields, **never}))
            values.update({f"{id}.{name}": value for name, value in event.fields.items()
                           if name in declared.params and there[id].fields.get(name) != value})
        out.append(values)
    return case, case_digest(validate(case)), out
