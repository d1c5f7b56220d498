"""Where everything is: one buffer ``Z = [X; p; modes; t]``, and indices into it for every name.

Variables of an instance are contiguous, so are its parameters and its modes. A signal that one device
drives and another reads is not an unknown: the reader's index points at the driver's.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..case import Named, split
from ..contract import GLOBALS, Device, Path, Shape, kind_of
from ..errors import CaseError, GridcoreError
from ..network import Network
from ..suggest import suggest
from .trace import Trace

# What the whole system has in common is addressed as if it were a device: base.omega_b, base.base_mva.
BASE = "base"


@dataclass(eq=False)
class Group:
    """All instances of one shape, with the instance numbers at the end of every path."""

    shape: Shape
    members: np.ndarray
    at: dict[Path, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.members)

    @functools.cached_property
    def trace(self) -> Trace:
        """The equations of the shape."""
        return Trace(self.shape)


class Layout:
    """Offsets and names of what the instances of a network have.

    Attributes
    ----------
    instances : list of Instance
        In the order of the case. Those of a system refuse to give ``values``: these are in the ``instances`` of an
        :class:`~gridcore.equilibrium.Equilibrium`.
    number : dict
        Number of an instance by its id.
    groups : list of Group
    n, n_p, n_m : int
        Numbers of variables, parameters (set-points and inputs among them) and modes.
    source : (size,) int32 array
        What to read in place of each entry of Z: itself, except for driven inputs, references and shared times.
    shared : dict of int to int
        Times of events that are another event's: position in Z, and that of the other.
    driven : dict
        Which device drives an input, by the position of the input in Z.
    t, size : int
        Position of the time in Z, the last one, and the number of entries of Z.
    """

    def __init__(self, network: Network):
        self.network, self.instances = network, network.instances
        self.number = Named("device", {instance.id: i for i, instance in enumerate(self.instances)})
        tables = {cls: _tables(cls) for cls in {i.device for i in self.instances}}
        self._local = {cls: {name: (table, k) for table, names in enumerate(of) for k, name in enumerate(names)}
                       for cls, of in tables.items()}
        self.ports = [{port: self.number[host] for port, host in i.ports.items()} for i in self.instances]
        counts = np.array([[len(names) for names in tables[i.device]] for i in self.instances]).reshape(-1, 3)
        starts = np.vstack([np.zeros((1, 3), dtype=int), np.cumsum(counts, axis=0)])
        self.n, own_p, self.n_m = (int(v) for v in starts[-1])
        self.n_p = own_p + 2  # the frequency and the power base of the system come first
        self._starts = np.add(starts[:-1], [0, self.n + 2, self.n + self.n_p])
        self.t = self.n + self.n_p + self.n_m
        self.size = self.t + 1
        self.globals = {"omega_b": self.n, "base_mva": self.n + 1, "time": self.t}
        self.groups = self._group()
        self.source = np.arange(self.size, dtype=np.int32)
        self.driven: dict[int, str] = {}
        self.shared: dict[int, int] = {}
        self._replaced: dict[tuple[int, str], tuple[int, int]] = {}  # (device, reference): driving variable, replaced
        self._gathered: dict[tuple[Group, Path, str], np.ndarray] = {}
        self._connect()

    def index(self, members: int | np.ndarray, cls: type[Device], name: str) -> np.ndarray:
        """Positions in Z of `name` of the given instances, all of class `cls`."""
        if name not in self._local[cls]:
            raise CaseError(f"{cls.__name__} has no variable, parameter or mode '{name}'")
        table, position = self._local[cls][name]
        return self._starts[members, table] + position

    def of_group(self, group: Group, name: str) -> np.ndarray:
        """Positions in Z of `name` of every instance of a group."""
        return self.index(group.members, group.shape.cls, name)

    def positions(self, members: Iterable[int], name: str) -> np.ndarray:
        """Positions in Z of `name` of instances of any class that have it."""
        has = [(i, *at) for i in members if (at := self._local[self.instances[i].device].get(name))]
        member, table, position = np.array(has, dtype=int).reshape(-1, 3).T
        return np.asarray(self._starts[member, table] + position)

    def gather(self, group: Group, path: Path, name: str) -> np.ndarray:
        """Positions in Z from which every instance of the group reads `name` of the device at `path`."""
        key = (group, path, name)
        if key not in self._gathered:
            self._gathered[key] = self._gather(group, path, name)
        return self._gathered[key]

    def _gather(self, group: Group, path: Path, name: str) -> np.ndarray:
        if not path and name in GLOBALS:
            return np.full(len(group), self.globals[name], dtype=np.int32)
        if not path and name in group.shape.cls.declares.references:
            return np.array([self._replaced.get((i, name), (-1, at))[1] for i, at in
                             zip(group.members, self.target(group, path, name), strict=True)], dtype=np.int32)
        return self.source[self.target(group, path, name)]

    def target(self, group: Group, path: Path, name: str) -> np.ndarray:
        """Positions in Z that an event changes when it sets `name` of the device at `path`."""
        shape = group.shape.at(path)
        members = group.at[path]
        if name in shape.cls.declares.references:
            return np.array([self.address(self.instances[i].words[name]) for i in members], dtype=np.int32)
        return self.index(members, shape.cls, name).astype(np.int32)

    def address(self, address: str) -> int:
        """Position in Z of ``"device.name"``.

        Raises
        ------
        CaseError
            If there is no such device or name; the nearest ones are offered.
        """
        device, name = split(address, "quantity", "GEN2.omega")
        if device == BASE and name in self.globals:
            return self.globals[name]
        number = self.find(device)
        cls = self.instances[number].device
        if name not in self._local[cls]:
            raise CaseError(f"{device} ({cls.__name__}) has no '{name}'{suggest(name, self._local[cls])}")
        return int(self.index(number, cls, name))

    def find(self, device: str) -> int:
        """Number of the instance called `device`."""
        return self.number[device]

    @functools.cached_property
    def parameter_names(self) -> dict[str, int]:
        """Position in Z of every address ``device.param`` that means something (not of driven inputs)."""
        names = [*(f"{BASE}.{name}" for name in ("omega_b", "base_mva")),
                 *(f"{i.id}.{name}" for i in self.instances for name in _tables(i.device)[1])]
        return {name: at for at, name in enumerate(names, self.n) if at not in self.driven and at not in self.shared}

    def replaced(self) -> list[tuple[int, int]]:
        """(driving variable, what it replaces) of every reference that is driven, in the order of the chain."""
        return list(self._replaced.values())

    def label(self, column: int) -> str:
        """``device.name`` of an entry of Z."""
        for table in range(3):
            number = int(np.searchsorted(self._starts[:, table], column, side="right")) - 1
            names = _tables(self.instances[number].device)[table]
            if number >= 0 and column - self._starts[number, table] < len(names):
                return f"{self.instances[number].id}.{names[column - self._starts[number, table]]}"
        return next((f"{BASE}.{name}" for name, at in self.globals.items() if at == column), f"entry {column}")

    def set_status(self, Z: np.ndarray, device: str, status: float) -> None:
        """Put a device into or out of service in Z, and all that hang on it."""
        for id in (device, *self.network.dependants(device)):
            Z[self.address(f"{id}.status")] = status

    def _group(self) -> list[Group]:
        shapes: dict[int, Shape] = {}

        def shape(i: int) -> Shape:
            if i not in shapes:
                instance = self.instances[i]
                shapes[i] = Shape(instance.device, tuple((port, shape(host)) for port, host in self.ports[i].items()))
            return shapes[i]

        members: dict[Shape, list[int]] = {}
        for i in range(len(self.instances)):
            members.setdefault(shape(i), []).append(i)
        groups = [Group(s, np.array(m)) for s, m in members.items()]
        for group in groups:
            for path, _ in group.shape.walk():
                numbers = group.members
                for port in path:
                    numbers = np.array([self.ports[i][port] for i in numbers])
                group.at[path] = numbers
        return groups

    def _connect(self) -> None:
        """Point driven inputs and references at what drives them."""
        drivers = [(group, name, item.drives.rpartition(".")) for group in self.groups
                   for table in (group.shape.cls.declares.variables(), group.shape.cls.declares.params)
                   for name, item in table.items() if item.drives is not None]
        links: list[tuple[bool, int, int, int, str, str]] = []  # references last, all in the order of the case
        for group, name, (port, _, target) in drivers:
            path: Path = (port,) if port else ()
            host = group.shape.at(path)
            if kind_of(host, target) == "u":  # or the host has no such input: what this drives is not used there
                links += [(not path, member, at, by, target, host.cls.__name__) for member, at, by in zip(
                    group.members.tolist(), self.target(group, path, target).tolist(),
                    self.of_group(group, name).tolist(), strict=True)]
        for is_reference, member, at, by, target, host_class in sorted(links):
            id = self.instances[member].id
            if is_reference:  # a ramp reads what it replaces: the parameter, what drives it, or the ramp before it
                self._replaced[member, target] = by, int(self.source[at])
            elif at in self.driven:
                raise GridcoreError(f"{id} and {self.driven[at]} both drive {self.label(at)} ({host_class})")
            else:
                self.driven[at] = id
            self.source[at] = by
        self.source = self.source[self.source]
        for i, instance in enumerate(self.instances):
            for name in instance.device.declares.references:
                driver = self.driven.get(self.address(instance.words[name]))
                if driver is not None and (i, name) not in self._replaced:
                    raise instance.record.error(f"{instance.words[name]} is driven by {driver} and is no parameter: "
                                                f"name one of {driver}", name)
            for name, other in instance.words.items():
                if name in instance.device.declares.params:
                    at, by = self.address(f"{instance.id}.{name}"), self.address(other)
                    self.source[at], self.shared[at] = by, by


def _tables(cls: type[Device]) -> tuple[list[str], list[str], list[str]]:
    """Names of the variables of an instance, of its parameters with set-points and inputs, and of its modes."""
    d = cls.declares
    return [*d.states, *d.algebraics], [*d.params, *d.setpoints, *d.inputs], [*d.modes]
