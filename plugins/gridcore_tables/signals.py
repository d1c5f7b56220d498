"""Signals: which devices have which quantity.

A *signal* is one quantity of every device that has it: ``omega`` of all machines, whatever their
models. Devices that share a base class below :class:`~gridcore.contract.Device` are of one kind, and so are
all branches; a name that several kinds have (``Vm`` of buses and of exciters) is one signal for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gridcore.case import Instance
from gridcore.contract import Device, Node
from gridcore.errors import CaseError, NotRecorded
from gridcore.results import recorded
from gridcore.suggest import suggest

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Points

QUANTITY = "gridcore_quantity"


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

    @property
    def attributes(self) -> dict[str, str]:
        """Of the variable of a dataset: NetCDF's conventions, and the quantity, where it is called otherwise."""
        own = {QUANTITY: self.quantity} if self.quantity != self.name else {}
        return {"units": self.unit, "long_name": self.doc or self.quantity, **own}


def signals(system: Equilibrium, names: str | Iterable[str] | None = None, run: Points | None = None) -> list[Signal]:
    """What a run of the system has to show.

    Parameters
    ----------
    system : Equilibrium
    names : str or iterable of str, optional
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
    names = None if names is None else list(dict.fromkeys([names] if isinstance(names, str) else names))
    owners: dict[tuple[str, str], list[Instance]] = {}
    for instance in system.layout.instances:
        for name in _offered(instance.device, names):
            owners.setdefault((_kind(instance.device), name), []).append(instance)
    missing = set(names or ()) - {name for _, name in owners}
    if missing:
        known = {n for g in system.layout.groups for n in g.shape.cls.declares.readable()}
        raise CaseError(f"no device has a quantity '{min(missing)}'{suggest(min(missing), known)}")
    if run is not None and run.states.recorded is not None:
        for key, instances in list(owners.items()):
            there = set(recorded(run, [instance.id for instance in instances], key[1]))
            owners[key] = [instance for instance in instances if instance.id in there]
        lost = set(names or ()) - {name for (_, name), instances in owners.items() if instances}
        if lost:
            raise NotRecorded(f"'{min(lost)}' was not recorded of any device")
    return _label({key: instances for key, instances in owners.items() if instances})


def _offered(cls: type[Device], names: list[str] | None) -> list[str]:
    """Which of these names a device has; without names, what it shows unasked."""
    declared = cls.declares
    if names is not None:
        return [name for name in names if name in declared.readable()]
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
        units = {str(c.declares.unit(quantity)) for c in classes}
        doc = str(classes[0].declares.readable()[quantity].doc).split("\n")[0]
        out.append(Signal(name, quantity, dimension, devices, units.pop() if len(units) == 1 else "", doc))
    return out
