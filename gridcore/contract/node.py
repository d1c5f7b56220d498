"""Nodes, and the ports by which devices attach to them.

A *node* is a device whose variables are potentials. What the devices attached to it inject, their flows, is summed
into its rows: Kirchhoff's current law at an electric node. The rows are the framework's business, the author of a node
declares only its potentials. :class:`Bus`, with two voltages in rectangular coordinates, is one node among others; the
AC power flow is solved for nodes of that class, and the potentials of all others are found by initialisation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import numerics
from ..errors import DeviceError
from .device import Algebraic, Device, Field, Mode, Param, PerUnit, quantity


class Node(Device):
    """Base of every node. Each :class:`Algebraic` without ``equals`` is a potential: its row is the sum of the flows
    into the node, or the potential itself, which is then zero, while the node is not energised.

    A subclass may have ``start(s)`` for initial guesses, and quantities for results, but no ``residuals``.

    Attributes
    ----------
    naming : str
        What a node given by a number is called: ``"DC{id}"`` makes 3 ``DC3``.
    kind : str
        What such a node is called in messages and results.
    shown : tuple of str
        Quantities that results show beside the potentials unless others are asked for.
    """

    naming = "NODE{id}"
    kind: ClassVar[str] = "node"
    shown: ClassVar[tuple[str, ...]] = ()
    residuals: ClassVar[Callable[..., Any]]
    position = Field("", doc="where it is drawn: two numbers, \"3.5 2\"")
    energised = Mode(1.0, doc="0 in an island that was taken out of service")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "residuals" in vars(cls):
            raise DeviceError(f"{cls.__name__}.residuals: a node has none, its rows are sums of flows; what is stored "
                              "or drawn there is a device that attaches to it")
        potentials = cls.potentials()

        def residuals(s: Any) -> Any:
            return tuple(np.where(s.energised, 0.0, getattr(s, name)) for name in potentials)

        cls.residuals = residuals  # without energy the potentials are zero

    @classmethod
    def potentials(cls) -> tuple[str, ...]:
        """Names of the variables into whose rows flows are summed, in the order of the flows."""
        return tuple(name for name, item in cls.declares.algebraics.items() if item.equation is None)

    @classmethod
    def id_of(cls, value: Any) -> str:
        """The id of a node given by number or name: bus 7 is ``BUS7``."""
        number = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return cls.naming.format(id=value) if number else str(value)

    @classmethod
    def short(cls, value: Any) -> Any:
        """The number in an id that was made of one, as text; anything else as it is: ``BUS7`` is 7."""
        before, _, after = cls.naming.partition("{id}")
        found = re.fullmatch(re.escape(before) + r"(\d+)" + re.escape(after), value) if isinstance(value, str) else None
        return found.group(1) if found else value


def plural(kind: str) -> str:
    """Several of what a node is called."""
    return kind + ("es" if kind.endswith("s") else "s")


class Bus(Node):
    """A node of the AC network: two voltages in rectangular coordinates, and the balance of the currents injected."""

    naming = "BUS{id}"
    kind = "bus"
    shown = ("Vm", "Va")
    plausible: ClassVar = {"Vm0": (0.5, 1.5)}
    label = Field("", doc="its name, for people: not unique")
    kv = Param("kV", 1.0, gt=0, doc="nominal voltage")
    Vm0 = Param(PerUnit("kV"), 1.0, ge=0, doc="voltage magnitude at t0 (found by the power flow; before it, its start)")
    Va0 = Param("rad", 0.0, doc="voltage angle at t0 (found by the power flow; before it, its start)")
    Vr = Algebraic(PerUnit("kV"), init=1.0, doc="real part of the voltage")
    Vi = Algebraic(PerUnit("kV"), doc="imaginary part of the voltage")

    @quantity("pu", "squared voltage magnitude, never exactly zero, so that it may be divided by")
    def V2(s: Any) -> Any:
        return s.Vr * s.Vr + s.Vi * s.Vi + numerics.ZERO_SQUARE

    @quantity(PerUnit("kV"), "voltage magnitude")
    def Vm(s: Any) -> Any:
        return np.sqrt(s.V2)

    @quantity("rad", "voltage angle")
    def Va(s: Any) -> Any:
        return np.arctan2(s.Vi, s.Vr)

    def start(s: Any) -> Any:
        return {"Vr": s.Vm0 * np.cos(s.Va0), "Vi": s.Vm0 * np.sin(s.Va0)}


class Port(str):
    """A port of a device: its name, which it is, and the class of what stands there.

    Parameters
    ----------
    name : str
        The argument by which the device's functions ask for it, and the field of a record that says what is there.
    node : type, optional
        A class of nodes; or of devices, for one to hang on. Without it any device, but no node.

    Attributes
    ----------
    at_node, at_bus : bool
        Whether a node stands there, and whether that is an AC bus.

    Raises
    ------
    DeviceError
        If `node` is no class of nodes or devices.

    Examples
    --------
    >>> class Converter(gc.Device):
    ...     attaches = ("bus", gc.Port("dc", node=DCNode))
    """

    node: Any
    at_node: bool
    at_bus: bool

    def __new__(cls, name: str, node: type[Device] | None = None) -> Port:
        if node is not None and not (isinstance(node, type) and issubclass(node, Device)):
            raise DeviceError(f"port '{name}': {getattr(node, '__name__', repr(node))} is no Node and no Device; a "
                              "port is declared with the class of what stands there, as Port(\"bus\", node=Bus)")
        port = super().__new__(cls, name)
        port.node = node
        port.at_node, port.at_bus = (node is not None and issubclass(node, kind) for kind in (Node, Bus))
        return port

    @property
    def kind(self) -> str:
        """What is wanted there, in a word for messages."""
        return self.node.kind if self.at_node else self.node.__name__ if self.node else "device"

    def accepts(self, device: type[Device]) -> bool:
        """Whether a device of this class may stand there."""
        return not issubclass(device, Node) if self.node is None else issubclass(device, self.node)

    def id_of(self, value: Any) -> Any:
        """The id of what a record gives: a node may be given by its number."""
        return self.node.id_of(value) if self.at_node else value

    def short(self, value: Any) -> Any:
        """What the record could have given in place of an id: see :meth:`Node.short`."""
        return self.node.short(value) if self.at_node else value


def ports_of(cls: type[Device]) -> tuple[Port, ...]:
    """What a class attaches to, as ports; a name alone is an AC bus where it begins with ``bus``, else a device."""
    given = (cls.attaches,) if isinstance(cls.attaches, str) else tuple(cls.attaches)
    for item in given:
        if not isinstance(item, str):
            raise DeviceError(f"{cls.__name__}: attaches has {getattr(item, '__name__', repr(item))}, which is neither "
                              "the name of a port nor a Port")
    if len(set(given)) < len(given):
        raise DeviceError(f"{cls.__name__}: two of its ports have one name: {', '.join(given)}")
    if cls.function("flows") and cls.function("currents"):
        raise DeviceError(f"{cls.__name__} has both flows() and currents(): the first gives what it injects at all "
                          "its nodes, the second where all of them are AC buses")
    return tuple(item if isinstance(item, Port) else Port(item, Bus if item.startswith("bus") else None)
                 for item in given)
