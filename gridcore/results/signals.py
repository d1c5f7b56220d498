"""Results by name: which devices have which quantity, and its values along a run, all devices at once.

A *signal* is one quantity of every device that has it: ``omega`` of all machines, whatever their
models. Devices that share a base class below :class:`~gridcore.contract.device.Device` are of one kind, and so are
all branches; a name that several kinds have (``Vm`` of buses and of exciters) is one signal for each.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..case import Base
from ..contract import Declarations, Device, Node
from ..equations import evaluate, function_of
from ..errors import CaseError, NotRecorded
from ..suggest import suggest
from ..tape import Recorded

if TYPE_CHECKING:
    from ..equations import Group, Trace
    from ..equilibrium import Equilibrium
    from .run import Run, Stretch

# Columns evaluated at once: keeps the memory of a quantity of a large system bounded.
_CHUNK = 200_000


@dataclass(frozen=True)
class Signal:
    """One quantity of several devices.

    Attributes
    ----------
    name : str
        What it is called among all signals: the quantity's name, followed by the kind of device where
        another kind has it already (``Vm``, ``Vm_DC1``). Nodes come first, sources next.
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


def signals(system: Equilibrium, names: Iterable[str] | None = None, run: Run | None = None) -> list[Signal]:
    """What a run of the system has to show.

    Parameters
    ----------
    names : iterable of str, optional
        Quantities (variables, derived quantities, inputs, modes) wanted. By default all states and
        algebraic variables, what nodes show (voltage magnitude and angle of buses), and all quantities of sources.
    run : Run, optional
        Only what this run kept.

    Raises
    ------
    CaseError
        If no device has one of the names; the nearest are offered.
    NotRecorded
        If the run kept a quantity of no device.
    """
    wanted = None if names is None else list(dict.fromkeys(names))
    owners: dict[tuple[str, str], list[int]] = {}
    for number, instance in enumerate(system.layout.instances):
        cls = instance.device
        for name in _offered(cls, wanted):
            owners.setdefault((_kind(cls), name), []).append(number)
    if wanted is not None:
        missing = set(wanted) - {name for _, name in owners}
        if missing:
            known = {n for g in system.layout.groups for n in _known(g.shape.cls.declares)}
            raise CaseError(f"no device has a quantity '{min(missing)}'{suggest(min(missing), known)}")
    if run is not None and isinstance(run.tape.states, Recorded):
        ids = [instance.id for instance in system.layout.instances]
        owners = {key: found for key, numbers in owners.items() if (found := [
            i for i, there in zip(numbers, kept(run, [ids[i] for i in numbers], key[1]), strict=True) if there])}
        lost = set(wanted or ()) - {name for _, name in owners}
        if lost:
            raise NotRecorded(f"'{min(lost)}' was not recorded of any device")
    return _label(system, owners)


def _known(declared: Declarations) -> list[str]:
    return [*declared.variables(), *declared.quantities, *declared.inputs, *declared.modes]


def _offered(cls: type[Device], wanted: list[str] | None) -> list[str]:
    declared = cls.declares
    if wanted is not None:
        known = set(_known(declared))
        return [name for name in wanted if name in known]
    derived: Iterable[str] = declared.quantities if cls.source or cls.regulates else ()
    if issubclass(cls, Node):
        derived = cls.shown
    return [*declared.variables(), *derived]


def _kind(cls: type[Device]) -> str:
    """What a node is called, ``"branch"``, or its base right below Device: Source, Load, or a class on its own."""
    if issubclass(cls, Node):
        return cls.kind.replace(" ", "_")
    return "branch" if len(cls.node_ports()) > 1 else cls.__mro__[cls.__mro__.index(Device) - 1].__name__


def _common(classes: Sequence[type[Device]]) -> type:
    return next(base for base in classes[0].__mro__ if all(issubclass(c, base) for c in classes))


def _label(system: Equilibrium, owners: dict[tuple[str, str], list[int]]) -> list[Signal]:
    instances = system.layout.instances

    def rank(item: tuple[tuple[str, str], list[int]]) -> int:
        cls = instances[item[1][0]].device
        return 0 if issubclass(cls, Node) else 1 if cls.source or cls.regulates else 2

    taken: set[str] = set()
    dimensions: dict[str, list[int]] = {}
    out = []
    for (kind, quantity), numbers in sorted(owners.items(), key=rank):
        name = quantity if quantity not in taken else f"{quantity}_{kind}"
        taken.add(name)
        classes = [instances[i].device for i in numbers]
        common = _common(classes)
        dimension = kind if issubclass(common, Node) or common is Device else common.__name__
        if dimensions.setdefault(dimension, numbers) != numbers:  # only some of them have it
            dimension = f"{dimension}_{name}"
            dimensions[dimension] = numbers
        units = {c.declares.unit(quantity) for c in classes}
        out.append(Signal(name, quantity, dimension, tuple(instances[i].id for i in numbers),
                          units.pop() if len(units) == 1 else "", _doc(classes[0].declares, quantity)))
    return out


def _doc(declared: Declarations, name: str) -> str:
    for table in (declared.variables(), declared.quantities, declared.inputs, declared.modes):
        if name in table:
            return str(table[name].doc).split("\n")[0]
    return ""


def values(run: Run | Stretch, devices: Sequence[str], name: str) -> np.ndarray:
    """(points, devices) one quantity of several devices, whatever their models.

    Raises
    ------
    CaseError, DeviceError
        If there is no such device, or it has no such name; the nearest are offered.
    NotRecorded
        If the run did not keep it.
    """
    out = np.empty((len(run.t), len(devices)))
    for group, trace, members, columns in _grouped(run.system, devices):
        try:
            out[:, columns] = _of_group(run, group, trace, members, name)
        except NotRecorded as error:
            of = run.system.layout.instances[group.members[members[0]]].id
            raise NotRecorded(f"{of}.{name} was not recorded: {error}") from None
    return out


def _grouped(system: Equilibrium, devices: Sequence[str]) -> Iterator[tuple[Group, Trace, list[int], list[int]]]:
    """Group, trace, members and columns of the devices of each group."""
    places: dict[int, list[tuple[int, int]]] = {}
    for column, device in enumerate(devices):
        number, member = system.system.locate(device)
        places.setdefault(number, []).append((member, column))
    for number, found in sorted(places.items()):
        members, columns = zip(*sorted(found), strict=True)
        yield system.layout.groups[number], system.traces[number], list(members), list(columns)


def read_by(system: Equilibrium, group: Group, trace: Trace, members: list[int], name: str) -> np.ndarray:
    """(members, k) positions in Z that a quantity of these members of a group follows from."""
    cls = group.shape.cls
    if name in cls.declares.variables():
        return system.layout.index(group.members[members], cls, name)[:, None]
    return function_of("quantity", system.layout, group, trace.quantity(name))[1][members]


def kept(run: Run, devices: Sequence[str], name: str) -> np.ndarray:
    """(devices,) bool: of which of these devices a run kept a quantity.

    Raises
    ------
    CaseError, DeviceError
        If there is no such device, or it has no such name; the nearest are offered.
    """
    states, n = run.tape.states, run.system.n
    out = np.ones(len(devices), dtype=bool)
    if isinstance(states, Recorded):
        for group, trace, members, columns in _grouped(run.system, devices):
            at = read_by(run.system, group, trace, members, name)
            out[columns] = ((at >= n) | np.isin(at, states.at)).all(axis=1)
    return out


def needed(system: Equilibrium, patterns: Iterable[str]) -> np.ndarray:
    """The variables that quantities follow from, by address or shell-style pattern; positions in X, sorted.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    by_name: dict[str, list[str]] = {}
    for device, name in select(system, [patterns] if isinstance(patterns, str) else patterns):
        by_name.setdefault(name, []).append(device)
    at = [read_by(system, group, trace, members, name).ravel() for name, devices in by_name.items()
          for group, trace, members, _ in _grouped(system, devices)]
    positions = np.unique(np.concatenate(at)) if at else np.zeros(0, dtype=int)
    return positions[positions < system.n]


def _of_group(run: Run | Stretch, group: Group, trace: Trace, members: list[int], name: str) -> np.ndarray:
    cls = group.shape.cls
    if name in cls.declares.variables():
        return run.read(run.system.layout.index(group.members[members], cls, name))
    function, gather = function_of("quantity", run.system.layout, group, trace.quantity(name))
    out = np.empty((len(run.t), len(members)))
    step = max(1, _CHUNK // len(run.t))
    for first in range(0, len(members), step):
        part = members[first: first + step]
        arguments = run.read(gather[part].ravel()).reshape(-1, gather.shape[1])
        out[:, first: first + len(part)] = evaluate(function, arguments.T).reshape(len(run.t), len(part))
    return out


def base_of(system: Equilibrium, device: str) -> Base:
    """What per unit refers to in quantities of a device: what hangs on a bus has its voltage."""
    instances, number = system.instances, system.layout.number
    own = instances[system.layout.find(device)]
    hosts = [own, *(instances[number[port]] for port in own.ports.values())]
    kv = next((host.values["kv"] for host in hosts if host.values.get("kv")), None)
    return Base(float(system.case.base_mva), kv, float(system.case.frequency))


def select(system: Equilibrium, patterns: Iterable[str]) -> list[tuple[str, str]]:
    """(device, quantity) of everything that the shell-style patterns ``"GEN*.omega"`` match, in their order.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    known = {f"{i.id}.{name}": (i.id, name)
             for i in system.layout.instances for name in _known(i.device.declares)}
    out: dict[tuple[str, str], None] = {}
    for pattern in patterns:
        found = [pattern] if pattern in known else fnmatch.filter(known, pattern)
        if not found:
            raise CaseError(f"no quantity matches '{pattern}'{suggest(pattern, known)}")
        out.update((known[address], None) for address in found)
    return list(out)
