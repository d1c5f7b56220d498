"""Where everything is: one buffer ``Z = [X; p; modes; t]``, and indices into it for every name.

Variables of an instance are contiguous, so are its parameters and its modes. A signal that one device
drives and another reads is not an unknown: the reader's index points at the driver's.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..contract import GLOBALS, Device, Path, Shape, kind_of
from ..errors import CaseError, GridcoreError
from ..network import Network
from ..suggest import suggest

# What the whole system has in common is addressed as if it were a device: base.omega_b, base.base_mva.
BASE = "base"


@dataclass
class Group:
    """All instances of one shape, with the instance numbers at the end of every path."""

    shape: Shape
    members: np.ndarray
    at: dict[Path, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.members)


class Layout:
    """Offsets and names.

    Parameters
    ----------
    network : Network

    Attributes
    ----------
    instances : list of Instance
        In the order of the case. Those of a system are structure, and their ``values`` are empty: the values of its
        parameters are in the ``instances`` of an :class:`~gridcore.equilibrium.Equilibrium`.
    groups : list of Group
    n, n_p, n_m : int
        Numbers of variables, parameters (set-points and inputs among them) and modes.
    source : (size,) int32 array
        What to read in place of each entry of Z: itself, except for driven inputs, references and shared times.
    shared : dict of int to int
        Times of events that are another event's: position in Z, and that of the other.
    """

    def __init__(self, network: Network):
        self.network, self.instances = network, network.instances
        self.number = {instance.id: i for i, instance in enumerate(self.instances)}
        self._locals = {cls: _local_positions(cls) for cls in {i.device for i in self.instances}}
        self.ports = [{port: self.number[host] for port, host in i.ports.items()} for i in self.instances]
        counts = np.array([[len(part) for part in self._locals[i.device]] for i in self.instances]).reshape(-1, 3)
        starts = np.vstack([np.zeros((1, 3), dtype=int), np.cumsum(counts, axis=0)])
        self.n, own_p, self.n_m = (int(v) for v in starts[-1])
        self.n_p = own_p + 2  # the frequency and the power base of the system come first
        offsets = np.array([0, self.n + 2, self.n + self.n_p])
        self._base = starts[:-1] + offsets
        self.t = self.n + self.n_p + self.n_m
        self.size = self.t + 1
        self.globals = {"omega_b": self.n, "base_mva": self.n + 1, "time": self.t}
        self.groups = self._group()
        self.source = np.arange(self.size, dtype=np.int32)
        self.driven: dict[int, str] = {}
        self.shared: dict[int, int] = {}
        self._replaced: dict[tuple[int, str], int] = {}
        self._replacing: dict[tuple[int, str], int] = {}
        self._gathered: dict[tuple[int, Path, str], np.ndarray] = {}
        self._connect()

    def index(self, members: np.ndarray, cls: type[Device], name: str) -> np.ndarray:
        """Positions in Z of `name` of the given instances, all of class `cls`."""
        for table, positions in enumerate(self._locals[cls]):
            if name in positions:
                return self._base[members, table] + positions[name]
        raise CaseError(f"{cls.__name__} has no variable, parameter or mode '{name}'")

    def positions(self, members: Iterable[int], name: str) -> np.ndarray:
        """Positions in Z of `name` of instances of any class."""
        at = ((i, table, positions[name]) for i in members
              for table, positions in enumerate(self._locals[self.instances[i].device]) if name in positions)
        return np.array([self._base[i, table] + position for i, table, position in at], dtype=int)

    def gather(self, group: Group, path: Path, name: str) -> np.ndarray:
        """Positions in Z from which every instance of the group reads `name` of the device at `path`."""
        key = (id(group), path, name)
        if key not in self._gathered:
            self._gathered[key] = self._gather(group, path, name)
        return self._gathered[key]

    def _gather(self, group: Group, path: Path, name: str) -> np.ndarray:
        if not path and name in GLOBALS:
            return np.full(len(group), self.globals[name], dtype=np.int32)
        if not path and name in group.shape.cls.declares.references:
            return np.array([self._replaced.get((i, name), at) for i, at in
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
        device, _, name = address.rpartition(".")
        if device == BASE and name in self.globals:
            return self.globals[name]
        instance = self.instances[self.find(device)]
        for table, positions in enumerate(self._locals[instance.device]):
            if name in positions:
                return int(self._base[self.number[device], table] + positions[name])
        known = [n for positions in self._locals[instance.device] for n in positions]
        raise CaseError(f"{device} ({instance.device.__name__}) has no '{name}'{suggest(name, known)}")

    def find(self, device: str) -> int:
        """Number of the instance called `device`."""
        if device not in self.number:
            raise CaseError(f"no device '{device}'{suggest(device, self.number)}")
        return self.number[device]

    def parameters(self, patterns: str | Iterable[str]) -> dict[str, int]:
        """Addresses that match the shell-style patterns, and their positions in Z.

        Raises
        ------
        CaseError
            If a pattern matches nothing; the nearest addresses are offered.
        """
        names = self.parameter_names
        out: dict[str, int] = {}
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            found = fnmatch.filter(names, pattern)
            if not found:
                raise CaseError(f"no parameter matches '{pattern}'{suggest(pattern, names)}")
            out.update((name, names[name]) for name in found)
        return out

    @functools.cached_property
    def parameter_names(self) -> dict[str, int]:
        """Position in Z of every address ``device.param`` that means something (not of driven inputs)."""
        names = {f"{BASE}.{name}": self.globals[name] for name in ("omega_b", "base_mva")}
        for i, instance in enumerate(self.instances):
            for name, position in self._locals[instance.device][1].items():
                at = int(self._base[i, 1] + position)
                if at not in self.driven and at not in self.shared:
                    names[f"{instance.id}.{name}"] = at
        return names

    def variable_names(self) -> list[tuple[str, str]]:
        """(device, variable) of each entry of X."""
        return [(i.id, name) for i in self.instances for name in self._locals[i.device][0]]

    def replaced(self) -> list[tuple[int, int]]:
        """(driving variable, what it replaces) of every reference that is driven, in the order of the chain."""
        return [(driver, self._replaced[key]) for key, driver in self._replacing.items()]

    def label(self, column: int) -> str:
        """``device.name`` of an entry of Z."""
        for table, positions in ((0, 0), (1, 1), (2, 2)):
            base = self._base[:, table]
            at = int(np.searchsorted(base, column, side="right")) - 1
            while at >= 0:
                local = column - base[at]
                names = list(self._locals[self.instances[at].device][positions])
                if 0 <= local < len(names):
                    return f"{self.instances[at].id}.{names[local]}"
                if local > 0:
                    break
                at -= 1
        return next((f"{BASE}.{name}" for name, at in self.globals.items() if at == column), f"entry {column}")

    def dependants(self, number: int) -> list[int]:
        """Instances that hang on instance `number`, directly or not (not counting nodes)."""
        return [self.number[id] for id in self.network.dependants(self.instances[number].id)]

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
        for group in self.groups:
            declared = group.shape.cls.declares
            for name, item in (*declared.variables().items(), *declared.params.items()):
                if item.drives is None:
                    continue
                port, _, target = item.drives.rpartition(".")
                path: Path = (port,) if port else ()
                host = group.shape.at(path).cls
                if kind_of(group.shape.at(path), target) != "u":
                    continue  # the host has no such input: what this drives is not used there
                driver = self.index(group.members, group.shape.cls, name)
                for member, at, by in zip(group.members, self.target(group, path, target), driver, strict=True):
                    instance = self.instances[member]
                    if not path:  # a ramp reads what it replaces: the parameter, or the ramp before it
                        self._replaced[int(member), target] = int(self.source[at])
                        self._replacing[int(member), target] = int(by)
                    elif int(at) in self.driven:
                        raise GridcoreError(f"{instance.id} and {self.driven[int(at)]} both drive "
                                            f"{self.label(int(at))} ({host.__name__})")
                    if path:
                        self.driven[int(at)] = instance.id
                    self.source[at] = by
        self.source = self.source[self.source]
        for instance in self.instances:
            for name, other in instance.words.items():
                if name in instance.device.declares.params:
                    at, by = self.address(f"{instance.id}.{name}"), self.address(other)
                    self.source[at], self.shared[at] = by, by


def _local_positions(cls: type[Device]) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Positions of variables, of parameters with set-points and inputs, and of modes, in an instance."""
    d = cls.declares

    def enumerated(*tables: Iterable[str]) -> dict[str, int]:
        return {name: k for k, name in enumerate(n for table in tables for n in table)}

    return enumerated(d.states, d.algebraics), enumerated(d.params, d.setpoints, d.inputs), enumerated(d.modes)
