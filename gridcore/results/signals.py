"""Results by name: which devices have which quantity, and its values along a run, all devices at once.

A *signal* is one quantity of every device that has it: ``omega`` of all machines, whatever their
models. Devices that share a base class below :class:`~gridcore.contract.device.Device` are of one kind, and so are
all branches; a name that several kinds have (``Vm`` of buses and of exciters) is one signal for each.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Address, Base, Instance, matching, patterns_of
from ..contract import Declarations, Device, Node
from ..equations import evaluate, function_of
from ..errors import CaseError, NotRecorded
from ..suggest import suggest

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium
    from .run import Points

# Columns evaluated at once: keeps the memory of a quantity of a large system bounded.
_CHUNK = 200_000


@dataclass(frozen=True)
class Signal:
    """One quantity of several devices.

    Attributes
    ----------
    name : str
        What it is called among all signals: the quantity's name, followed by the kind of device where
        another kind has it already (``Vm``, ``Vm_Exciter``). Nodes come first, sources next.
    quantity : str
        Its name on the devices.
    dimension : str
        What the devices have in common: what such nodes are called (``"bus"``), the nearest base class of all of
        them, or ``"branch"``.
    devices : tuple of str
    unit, doc : str
    """

    name: str
    quantity: str
    dimension: str
    devices: tuple[str, ...]
    unit: str
    doc: str


def signals(system: Equilibrium, names: Iterable[str] | None = None, run: Points | None = None) -> list[Signal]:
    """What a run of the system has to show.

    Parameters
    ----------
    system : Equilibrium
    names : iterable of str, optional
        Quantities (variables, derived quantities, inputs, modes) wanted. By default all states and
        algebraic variables, what nodes show (voltage magnitude and angle of buses), and all quantities of sources.
    run : Points, optional
        Only what this kept.

    Raises
    ------
    CaseError
        If no device has one of the names; the nearest are offered.
    NotRecorded
        If the run kept a quantity of no device.
    """
    names = None if names is None else list(dict.fromkeys(names))
    owners: dict[tuple[str, str], list[Instance]] = {}
    for instance in system.layout.instances:
        for name in _offered(instance.device, names):
            owners.setdefault((_kind(instance.device), name), []).append(instance)
    missing = set(names or ()) - {name for _, name in owners}
    if missing:
        known = {n for g in system.layout.groups for n in _quantities(g.shape.cls.declares)}
        raise CaseError(f"no device has a quantity '{min(missing)}'{suggest(min(missing), known)}")
    if run is not None and run.states.recorded is not None:
        for key, instances in list(owners.items()):
            there = set(recorded(run, [instance.id for instance in instances], key[1]))
            owners[key] = [instance for instance in instances if instance.id in there]
        lost = set(names or ()) - {name for (_, name), instances in owners.items() if instances}
        if lost:
            raise NotRecorded(f"'{min(lost)}' was not recorded of any device")
    return _label({key: instances for key, instances in owners.items() if instances})


def _quantities(declared: Declarations) -> dict[str, Any]:
    """What a device shows by name."""
    return {**declared.variables(), **declared.quantities, **declared.inputs, **declared.modes}


def _offered(cls: type[Device], names: list[str] | None) -> list[str]:
    """Which of these names a device has; without names, what it shows unasked."""
    declared = cls.declares
    if names is not None:
        return [name for name in names if name in _quantities(declared)]
    shown = cls.shown if issubclass(cls, Node) else declared.quantities if cls.source or cls.regulates else ()
    return [*declared.variables(), *shown]


def _kind(cls: type[Device]) -> str:
    """What a node is called, ``"branch"``, or its base right below Device: Source, Load, or a class on its own."""
    if issubclass(cls, Node):
        return cls.kind.replace(" ", "_")
    return "branch" if len(cls.node_ports()) > 1 else cls.__mro__[cls.__mro__.index(Device) - 1].__name__


def _label(owners: dict[tuple[str, str], list[Instance]]) -> list[Signal]:
    """A signal for each quantity of each kind of device, with names and dimensions of their own."""
    def rank(item: tuple[tuple[str, str], list[Instance]]) -> int:
        cls = item[1][0].device
        return 0 if issubclass(cls, Node) else 1 if cls.source or cls.regulates else 2

    taken: set[str] = set()
    dimensions: dict[str, tuple[str, ...]] = {}
    out = []
    for (kind, quantity), instances in sorted(owners.items(), key=rank):
        name = quantity if quantity not in taken else f"{quantity}_{kind}"
        taken.add(name)
        devices, classes = tuple(i.id for i in instances), [i.device for i in instances]
        common = next(base for base in classes[0].__mro__ if all(issubclass(c, base) for c in classes))
        dimension = kind if issubclass(common, Node) or common is Device else common.__name__
        if dimensions.setdefault(dimension, devices) != devices:  # only some of them have it
            dimension = f"{dimension}_{name}"
            dimensions[dimension] = devices
        units = {c.declares.unit(quantity) for c in classes}
        doc = str(_quantities(classes[0].declares)[quantity].doc).split("\n")[0]
        out.append(Signal(name, quantity, dimension, devices, units.pop() if len(units) == 1 else "", doc))
    return out


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
                arguments = run.read(part.ravel()).reshape(-1, part.shape[1])
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
    positions = np.unique(np.concatenate([np.zeros(0, dtype=int), *at]))
    return positions[positions < system.n]


def base_of(system: Equilibrium, device: str) -> Base:
    """What per unit refers to in quantities of a device: what hangs on a bus has its voltage."""
    instances, number = system.instances, system.layout.number
    own = instances[system.layout.find(device)]
    hosts = [own, *(instances[number[port]] for port in own.ports.values())]
    kv = next((host.values["kv"] for host in hosts if host.values.get("kv")), None)
    return Base(float(system.case.base_mva), kv, float(system.case.frequency))


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
    known = {f"{i.id}.{name}": (i.id, name) for i in instances for name in _quantities(i.device.declares)}
    others = {f"{i.id}.{name}": (i.id, name) for i in instances if parameters
              for name in (*i.device.declares.params, *i.device.declares.setpoints)}
    named, out = {**others, **known}, dict[tuple[str, str], None]()
    for pattern in patterns_of(patterns):
        found = fnmatch.filter(known, pattern) or matching(pattern, named, "quantity")
        out.update((named[address], None) for address in found)
    return list(out)
