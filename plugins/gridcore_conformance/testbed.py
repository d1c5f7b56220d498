"""A place to examine a device in: plausible parameters, something to hang on, and a small grid.

Nothing here knows a device by name: what a port asks for is looked up among the registered devices.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from gridcore.case import Case
from gridcore.contract import REQUIRED, Bus, Device, Node, Param, PerUnit, Port, Record, Setpoint, Shape, Source
from gridcore.equations import Trace
from gridcore.errors import DeviceError
from gridcore.registry import devices, registered

_TRIES = 200
_DEEPEST = 4


class GridSource(Source):
    """A voltage behind a small reactance: the rest of the grid."""

    E = Setpoint("pu", init=1.0, doc="voltage magnitude behind the reactance")
    angle = Setpoint("rad", doc="its angle")
    X = Param("pu", 0.05, gt=0, doc="reactance")

    def currents(s: Any, bus: Any) -> Any:
        return (s.E * np.sin(s.angle) - bus.Vi) / s.X, (bus.Vr - s.E * np.cos(s.angle)) / s.X


class GridLink(Device):
    """A reactance between two buses."""

    attaches = ("bus1", "bus2")
    x = Param(PerUnit("ohm"), 0.1, gt=0, doc="reactance")

    def currents(s: Any, bus1: Any, bus2: Any) -> Any:
        re, im = (bus1.Vi - bus2.Vi) / s.x, (bus2.Vr - bus1.Vr) / s.x
        return (-re, -im), (re, im)


def holder(node: type[Node]) -> type[Device]:
    """What holds the potentials of a node near their first guesses: the rest of the grid, where it is no AC grid."""
    levels = [(name, node.declares.algebraics[name].init) for name in node.potentials()]

    def flows(s: Any, node: Any) -> Any:
        return tuple(s.g * (level - getattr(node, name)) for name, level in levels)

    return type(_holds(node), (Device,), {
        "attaches": Port("node", node=node), "source": True, "flows": flows,
        "g": Param("pu", 20.0, gt=0, doc="conductance")})


def _holds(node: type[Device]) -> str:
    """The model of what holds a node."""
    return f"Grid{node.__name__}"


class GridNumber(Device):
    """A parameter for a device to refer to."""

    number = Param("", 1.5, doc="the number")


def testbed(*classes: type[Device]) -> AbstractContextManager[None]:
    """These classes, and those of the grid, can be used in a case under their names."""
    nodes: set[Any] = {port.node for cls in classes for port in cls.node_ports() if port.node is not None} | {
        devices[name] for name in devices if issubclass(devices[name], Node)}
    return registered(*dict.fromkeys((GridSource, GridLink, GridNumber, *classes, *nodes, *map(holder, nodes))))


def plausible(cls: type[Device], rng: np.random.Generator) -> dict[str, float]:
    """Random parameters that keep their bounds, and together pass the device's own check.

    Defaults are varied a little, where the check allows it, and values are plausible, where any are found.
    """
    for attempt in range(_TRIES):
        vary = attempt < _TRIES // 2
        values = {name: _draw(cls, name, param, rng, vary) for name, param in cls.declares.params.items()}
        if issubclass(cls, Source):
            values.update(P0=rng.uniform(0.2, 0.6), V0=rng.uniform(0.99, 1.02), Q0=0.0)
        bounds = [(name, low, high) for name, (low, high) in cls.plausible.items() if name in values]
        for name, low, high in bounds if attempt > _TRIES // 4 else ():  # where luck does not do; each by itself
            least, most = values.get(low, low), values.get(high, high)
            if not least <= values[name] <= most and math.isfinite(most - least):
                values[name] = rng.uniform(*sorted((least, most)))
        wrong = cls.check(values)
        beyond = any(not values.get(low, low) <= values[name] <= values.get(high, high) for name, low, high in bounds)
        if wrong is None and (not beyond or attempt > 0.9 * _TRIES):
            return values
    raise DeviceError(f"{cls.__name__}: no random parameters pass its check(): {wrong}")


def _draw(cls: type[Device], name: str, param: Param, rng: np.random.Generator, vary: bool) -> float:
    limits = [state.limits for state in cls.declares.states.values() if state.limits]
    if param.default is not REQUIRED:
        value = 100.0 if param.default == "base_mva" else float(param.default)
        if not vary or not math.isfinite(value):
            return value
        value += rng.uniform(0.0, 0.1) * (abs(value) or 1.0)
    elif any(name == low for low, _ in limits):
        value = -5.0 - rng.uniform()
    elif any(name == high for _, high in limits):
        value = 5.0 + rng.uniform()
    elif param.unit == "Hz":
        value = rng.uniform(55.0, 59.0)
    else:
        value = rng.uniform(0.2, 1.2)
    low = max(param.bounds.get("gt", -math.inf), param.bounds.get("ge", -math.inf))
    high = min(param.bounds.get("lt", math.inf), param.bounds.get("le", math.inf))
    if low < value < high:
        return value
    if math.isfinite(low) and math.isfinite(high):
        return low + (high - low) * rng.uniform(0.1, 0.9)
    return low + rng.uniform(0.1, 1.0) if value <= low else high - rng.uniform(0.1, 1.0)


def shape_of(cls: type[Device], depth: int = 0) -> Shape:
    """The device on buses, and on the first registered devices that have what its ports are asked for."""
    ports = [port for port in cls.attaches if not port.at_node]
    trouble: DeviceError | None = None
    for hosts in _hosts(cls, ports, depth):
        shape = Shape(cls, tuple((port, Shape(port.node) if port.at_node else hosts[port]) for port in cls.attaches))
        if not ports:
            return shape
        try:
            trace = Trace(shape)
            for item in (*cls.declares.guards, *cls.declares.timers):
                trace.actions(item)
        except DeviceError as error:
            trouble = trouble or error
            continue
        return trace.shape
    raise trouble or DeviceError(
        f"{cls.__name__}: no registered device has the inputs that it drives: "
        + "; ".join(f"{port}: {', '.join(sorted(_driven(cls, port))) or 'any'}" for port in ports))


def _driven(cls: type[Device], port: str) -> set[str]:
    """The inputs that a device drives at a port."""
    declared = cls.declares
    drives = [item.drives or "" for item in (*declared.params.values(), *declared.variables().values())]
    return {target for at, _, target in (d.partition(".") for d in drives) if at == port}


def _hosts(cls: type[Device], ports: list[Port], depth: int) -> Iterator[dict[str, Shape]]:
    """What these ports could hang on: the same device for all of them, or else one for each."""
    if not ports:
        yield {}
    elif depth < _DEEPEST:
        for host in _able(cls, ports, depth):
            yield dict.fromkeys(ports, host)
        if len(ports) > 1:
            for hosts in itertools.product(*(list(_able(cls, [port], depth)) for port in ports)):
                yield dict(zip(ports, hosts))


def _able(cls: type[Device], ports: list[Port], depth: int) -> Iterator[Shape]:
    """Devices that could stand at all of these ports, those that hang on least first."""
    driven = set().union(*(_driven(cls, port) for port in ports))
    classes = [devices[name] for name in devices]
    classes = [c for c in classes if c is not cls and c.attaches and all(port.accepts(c) for port in ports)
               and driven <= set(c.declares.inputs)]
    for host in sorted(classes, key=lambda c: len(c.attaches) - len(c.node_ports())):
        with contextlib.suppress(DeviceError):
            yield shape_of(host, depth + 1)


def case_of(shape: Shape, draws: Sequence[dict[tuple[str, ...], dict[str, float]]], order: Sequence[int]) -> Case:
    """A grid with one instance of the shape for each of `draws`, its records in the given order.

    The instances are called ``X0``, ``X1``, ...; each has a bus of its own, linked to the grid's, and other
    nodes of its own that the rest of their grid holds.
    """
    case = Case("doctor")
    case.add(Record("Bus", {"id": "GRID"}))
    case.add(Record("GridSource", {"id": "SOURCE", "bus": "GRID", "control": "slack"}))
    for k in order:
        _add(case, shape, (), f"X{k}", draws[k])
    return case


def _add(case: Case, shape: Shape, path: tuple[str, ...], id: str,
         values: dict[tuple[str, ...], dict[str, float]]) -> None:
    fields: dict[str, Any] = {"id": id, **values[path]}
    several = len(shape.cls.bus_ports()) > 1
    for number, (port, below) in enumerate(shape.ports):
        fields[port] = f"{id}_{port}"
        if not issubclass(below.cls, Node):
            _add(case, below, (*path, port), fields[port], values)
        elif not issubclass(below.cls, Bus):
            case.add(Record(below.cls.__name__, {"id": fields[port]}))
            case.add(Record(_holds(below.cls), {"id": f"{fields[port]}_grid", "node": fields[port]}))
        elif several and number == 0:
            fields[port] = "GRID"
        else:
            case.add(Record("Bus", {"id": fields[port]}))
            case.add(Record("GridLink", {"id": f"{id}_{port}_link", "bus1": "GRID", "bus2": fields[port]}))
    for name, item in shape.cls.declares.fields.items():
        if item.default is REQUIRED:
            fields[name] = item.choices[0] if item.choices else "any"
    for name in shape.cls.declares.references:
        case.add(Record("GridNumber", {"id": f"{id}_{name}"}))
        fields[name] = f"{id}_{name}.number"
    case.add(Record(shape.cls.__name__, fields))
