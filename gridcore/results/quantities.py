"""Results by name: the values of a quantity along a run, all devices at once."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Address, Base, matching, patterns_of
from ..contract import Node, Source
from ..equations import evaluate, function_of
from ..errors import NotRecorded

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium
    from .run import Points

# Columns evaluated at once: keeps the memory of a quantity of a large system bounded.
_CHUNK = 200_000


def values(run: Points, devices: Sequence[str], name: str) -> np.ndarray:
    """(points, devices) one quantity of several devices, whatever their models."""
    out = np.empty((len(run.t), len(devices)))
    for function, at, columns in _sources(run.system, devices, name):
        try:
            if function is None:
                out[:, columns] = run.read(at[:, 0])
                continue
            step = max(1, _CHUNK // len(run.t))
            for first in range(0, len(at), step):
                part = at[first: first + step]
                arguments = run.read(part.ravel()).reshape(len(run.t) * len(part), part.shape[1])
                out[:, columns[first: first + step]] = evaluate(function, arguments.T).reshape(len(run.t), len(part))
        except NotRecorded as error:
            raise NotRecorded(f"{devices[columns[0]]}.{name} was not recorded: {error}") from None
    return out


def _sources(system: Equilibrium, devices: Sequence[str], name: str) -> Iterator[tuple[Any, np.ndarray, list[int]]]:
    """What a quantity follows from, for the devices of each group: the function that gives it (None for a variable
    itself), the positions in Z that this reads, (members, k), and the places of the devices among all.
    """
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for place, device in enumerate(devices):
        number, member = system.system.locate(device)
        members, places = groups.setdefault(number, ([], []))
        members.append(member)
        places.append(place)
    for number, (members, places) in groups.items():
        group, cls = system.layout.groups[number], system.layout.groups[number].shape.cls
        if name in cls.declares.variables():
            yield None, system.layout.index(group.members[members], cls, name)[:, None], places
        else:
            function, gather = function_of("quantity", system.layout, group, group.trace.quantity(name))
            yield function, gather[members], places


def recorded(run: Points, devices: Iterable[str], name: str) -> list[str]:
    """Those of some devices of which a run recorded a quantity.

    Raises
    ------
    CaseError, DeviceError
        If there is no such device, or it has no such name; the nearest are offered.
    """
    devices, columns = list(devices), run.states.recorded
    if columns is None:
        return devices
    there = np.zeros(len(devices), dtype=bool)
    for _, at, places in _sources(run.system, devices, name):
        there[places] = ((at >= run.system.n) | np.isin(at, columns)).all(axis=1)
    return [devices[place] for place in np.flatnonzero(there)]


def needed(system: Equilibrium, patterns: str | Iterable[Address]) -> np.ndarray:
    """The variables that quantities follow from, by address or shell-style pattern; positions in X, sorted.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    by_name: dict[str, list[str]] = {}
    for device, name in select(system, patterns):
        by_name.setdefault(name, []).append(device)
    at = [at.ravel() for name, devices in by_name.items() for _, at, _ in _sources(system, devices, name)]
    return np.flatnonzero(np.bincount(np.concatenate([np.zeros(0, dtype=int), *at]))[:system.n])


def base_of(system: Equilibrium, device: str, name: str = "") -> Base:
    """What per unit refers to in a quantity of a device: as in a case its rating, or that of what it hangs on, but for
    the dispatch of a source; what hangs on a bus has its voltage, if the case gives it.
    """
    instances, number = system.instances, system.layout.number
    hosts = [instances[number[device]]]
    for host in hosts:  # which grows
        hosts += [instances[number[port]] for port in host.ports.values()]
    kv = next((i.values["kv"] for i in hosts if issubclass(i.device, Node) and "kv" in i.record.fields), None)
    rated = (i.values["Sn"] for i in hosts if "Sn" in i.values and name not in Source.declares.params)
    return Base(next(rated, float(system.case.base_mva)), kv, float(system.case.frequency))


def select(system: Equilibrium, patterns: str | Iterable[Address], parameters: bool = False) -> list[tuple[str, str]]:
    """(device, quantity) of everything that the shell-style patterns ``"GEN*.omega"`` match, in their order.

    Parameters
    ----------
    system : Equilibrium
    patterns : str or iterable of str or (device, name)
    parameters : bool
        Of a pattern that matches no quantity, the parameters and set-points that it matches.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    instances = system.layout.instances
    known = {f"{i.id}.{name}": (i.id, name) for i in instances for name in i.device.declares.readable()}
    others = {f"{i.id}.{name}": (i.id, name) for i in instances if parameters
              for name in (*i.device.declares.params, *i.device.declares.setpoints)}
    named, out = {**others, **known}, dict[tuple[str, str], None]()
    for each in patterns_of(patterns):
        found = [each] if each in named else fnmatch.filter(known, each) or matching(each, named, "quantity")
        out.update((named[address], None) for address in found)
    return list(out)
