"""Lists of contingencies: faults at buses, faults on branches cleared by opening them, and trips."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from gridcore.case import Base, Instance, ValidCase, convert
from gridcore.contract import Bus, Node, Record
from gridcore.errors import CaseError
from gridcore.results import patterns_of

from .scenarios import ALL, CONTINGENCY, Scenario, Search, is_event, matching

CRITICAL = "critical"
Patterns = str | Sequence[str]


def contingencies(valid: ValidCase, *, faults: Patterns = (), line_faults: Patterns = (), trips: Patterns = (),
                  at: float | str = 0.1, clear: float | str = 0.1, longest: float | str = 1.0,
                  within: float | str = 1e-3, r: float = 0.0, x: float = 1e-4, t_end: float = math.inf
                  ) -> list[Scenario]:
    """One scenario for each contingency, of what is in service at t0.

    Parameters
    ----------
    valid : ValidCase
    faults : str or sequence of str
        Buses, by id, number or pattern, or ``"all"``: a three-phase fault that goes by itself.
    line_faults : str or sequence of str
        Branches: a fault at either end, cleared by opening the branch.
    trips : str or sequence of str
        Devices that go out of service; ``"all"`` is every branch.
    at : float or str
        When it happens (s, or text with a unit: ``"100 ms"``).
    clear : float or str or "critical"
        How long a fault lasts (s), or ``"critical"`` to find how long it may last.
    longest, within : float or str
        Longest duration to try, and how closely to find the critical one (s).
    r, x : float
        Impedance of the fault (pu, system base).
    t_end : float
        When a run ends (s): before that all of them happen, and faults are gone.

    Raises
    ------
    CaseError
        If a pattern matches nothing (the nearest names are offered), or a time is not one, or not within a run.
    """
    base = Base(frequency=valid.frequency)
    at = _time("at", at, base, zero=True)
    longest, within = _time("longest", longest, base), _time("within", within, base)
    if clear != CRITICAL:
        clear = _time("clear", clear, base, other=f", or '{CRITICAL}'")
    if not within < longest:
        raise CaseError(f"within = {within:g} s must be less than longest = {longest:g} s")
    make = _Maker({i.id for i in valid.records}, at, clear, longest, within, {"r": r, "x": x})
    buses = [i.id for i in valid.records if issubclass(i.device, Bus)]
    others = {i.id: i for i in valid.records if not issubclass(i.device, Node) and not is_event(i) and i.in_service}
    branches = {id: i for id, i in others.items() if len(i.device.node_ports()) > 1}
    out = [make.fault(bus) for bus in matching(_buses(faults), buses, "bus")]
    for id in matching(line_faults, list(branches), "branch"):
        out += [make.line_fault(id, branches[id].ports[port]) for port in branches[id].device.bus_ports()]
    asked = patterns_of(list(trips) if isinstance(trips, tuple) else trips)  # two ids are no address
    names = [b for p in asked for b in (list(branches) if p == ALL else [p])]
    limit, lasts = ("longest", longest) if isinstance(clear, str) else ("clear", clear)
    times = {"at": at} | ({f"at + {limit}": at + lasts} if out else {})
    for name, time in times.items():
        if time >= t_end:
            raise CaseError(f"{name} = {time:g} s must be before a run ends, t_end = {t_end:g} s: what comes later is "
                            "not in it")
    return out + [make.trip(others[id]) for id in matching(names, list(others), "device")]


def _time(name: str, value: Any, base: Base, zero: bool = False, other: str = "") -> float:
    """Seconds, of a number or of text with a unit."""
    try:
        number = convert(value, "s", base) if isinstance(value, str) else value
    except CaseError:
        number = math.nan
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf \
            or (number == 0 and not zero):
        raise CaseError(f"{name} = {value!r} must be a number of seconds {'from' if zero else 'above'} 0{other}")
    return float(number)


def _buses(patterns: Any) -> list[Any]:
    """Buses by number, too."""
    given = patterns if isinstance(patterns, list | tuple) else [patterns]
    return [Bus.id_of(int(p)) if isinstance(p, int) or re.fullmatch(r"\d{1,18}", str(p)) else p for p in given]


class _Maker:
    """Makes scenarios, with ids of events that the case does not have."""

    def __init__(self, taken: set[str], at: float, clear: float | str, longest: float, within: float,
                 impedance: dict[str, float]):
        self.taken, self.at, self.clear, self.impedance = taken, at, clear, impedance
        self.longest, self.within = longest, within

    def _id(self, wanted: str) -> str:
        while wanted in self.taken:
            wanted += "_"
        return wanted

    def _scenario(self, label: str, events: tuple[Record, ...], cleared: tuple[str, ...]) -> Scenario:
        search = Search(cleared, self.at, self.longest, self.within) if self.clear == CRITICAL and cleared else None
        return Scenario({CONTINGENCY: label}, {}, events, search)

    @property
    def _cleared(self) -> float:
        return self.at + (self.longest if isinstance(self.clear, str) else self.clear)

    def _fault(self, bus: str) -> Record:
        return Record("BusFault", {"id": self._id(f"fault_{bus}"), "bus": bus, "t": self.at, "clear": self._cleared,
                                   **self.impedance})

    def fault(self, bus: str) -> Scenario:
        """At a bus, and gone after its time."""
        event = self._fault(bus)
        return self._scenario(f"fault {bus}", (event,), (f"{event.fields['id']}.clear",))

    def line_fault(self, branch: str, bus: str) -> Scenario:
        """On a branch at one of its ends, cleared by opening the branch."""
        event = self._fault(bus)
        trip = Record("BranchTrip", {"id": self._id(f"trip_{branch}"), "branch": branch, "t": self._cleared})
        return self._scenario(f"fault {bus}, {branch} opens", (event, trip),
                              (f"{event.fields['id']}.clear", f"{trip.fields['id']}.t"))

    def trip(self, device: Instance) -> Scenario:
        """A device goes out of service."""
        branch = len(device.device.node_ports()) > 1
        model, port = ("BranchTrip", "branch") if branch else ("Trip", "device")
        event = Record(model, {"id": self._id(f"trip_{device.id}"), port: device.id, "t": self.at})
        return self._scenario(f"{device.id} {'opens' if branch else 'trips'}", (event,), ())
