"""What a device function sees: attribute access to its own names and to those of its ports.

The same functions run on CasADi symbols (tracing), on arrays (starting values) and on complex
arrays (the test oracle): a view only knows how to ask a `lookup` for the value of a name.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import DeviceError
from ..suggest import suggest
from .device import Device
from .node import Node

Path = tuple[str, ...]
Lookup = Callable[[Path, str], Any]
GLOBALS = ("time", "omega_b", "base_mva")


@dataclass(frozen=True)
class Shape:
    """The class of a device and the shapes of what it hangs on: one kernel for each shape."""

    cls: type[Device]
    ports: tuple[tuple[str, Shape], ...] = ()

    def find(self, name: str) -> Path | None:
        """Path to port `name`: one of its own, or of what it hangs on, the nearest."""
        return min((path for path, _ in self.walk() if path[-1:] == (name,)), key=len, default=None)

    def at(self, path: Path) -> Shape:
        """The shape at the end of `path`."""
        shape = self
        for name in path:
            ports = dict(shape.ports)
            if name not in ports:
                raise DeviceError(f"{self.cls.__name__} has no port {name!r}")
            shape = ports[name]
        return shape

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, Shape]]:
        """Itself and all ports below it, with their paths."""
        yield path, self
        for name, shape in self.ports:
            yield from shape.walk((*path, name))


@dataclass
class Scope:
    """One evaluation of a device's functions: where values come from, and what was computed."""

    shape: Shape
    lookup: Lookup
    computed: dict[tuple[Path, str], Any] = field(default_factory=dict)
    _begun: set[tuple[Path, str]] = field(default_factory=set)

    def call(self, function: Callable[..., Any], path: Path = (), **extra: Any) -> Any:
        """Call a device function on the views that its arguments name."""
        shape = self.shape.at(path)
        views = []
        for name in _arguments(function)[1:]:
            if name in extra:
                views.append(extra[name])
                continue
            found = shape.find(name)
            if found is None:
                raise DeviceError(f"{shape.cls.__name__}.{getattr(function, '__name__', function)} asks for port "
                                  f"{name!r}; there are: {', '.join('.'.join(p) for p, _ in shape.walk() if p)}")
            views.append(View(self, (*path, *found)))
        return function(View(self, path), *views)

    def value(self, path: Path, name: str) -> Any:
        """Value of `name` of the device at `path`: a declared name, a quantity, or a global."""
        key = (path, name)
        if key not in self.computed:
            if key in self._begun:
                raise DeviceError(f"{self.shape.at(path).cls.__name__}: '{name}' depends on itself without a state in "
                                  "between: make it Algebraic")
            self._begun.add(key)
            self.computed[key] = self._value(path, name)
        return self.computed[key]

    def _value(self, path: Path, name: str) -> Any:
        shape = self.shape.at(path)
        declared = shape.cls.declares
        if name in GLOBALS:
            return self.lookup((), name)
        if kind_of(shape, name):
            return self.lookup(path, name)
        if name in declared.quantities:
            return self.call(declared.quantities[name].function, path)
        if name.endswith("_rate") and name[:-5] in declared.states:
            return self._rate(path, name[:-5])
        port = shape.find(name)
        if port is not None:
            return View(self, (*path, *port))
        known = [*declared.variables(), *declared.params, *declared.inputs, *declared.setpoints,
                 *declared.modes, *declared.quantities]
        raise DeviceError(f"{shape.cls.__name__} has no '{name}'{suggest(name, known)}")

    def rates(self) -> tuple[Any, ...]:
        """The rate of each state, in order: before limits and time constants."""
        return tuple(self.value((), f"{name}_rate") for name in self.shape.cls.declares.states)

    def _rate(self, path: Path, name: str) -> Any:
        equation = self.shape.at(path).cls.declares.states[name].equation
        return self._listed(path, "rates", "states")[name] if equation is None else self.call(equation, path)

    def residuals(self) -> tuple[Any, ...]:
        """What must be zero, one for each algebraic variable."""
        listed = self._listed((), "residuals", "algebraics")
        return tuple(listed[name] if item.equation is None else self.call(item.equation) - self.value((), name)
                     for name, item in self.shape.cls.declares.algebraics.items())

    def _listed(self, path: Path, name: str, table: str) -> dict[str, Any]:
        """What a function of the contract returns, by the names of the variables without an equation of their own."""
        cls = self.shape.at(path).cls
        expected = [key for key, item in getattr(cls.declares, table).items() if item.equation is None]
        function = cls.function(name)
        if function is None:
            if expected:
                raise DeviceError(f"{cls.__name__} declares {', '.join(expected)} but has no function {name}()")
            return {}
        key = (path, f"{name}()")
        if key not in self.computed:
            values = self.call(function, path)
            self.computed[key] = tuple(values) if isinstance(values, tuple | list) else (values,)
        if len(self.computed[key]) != len(expected):
            raise DeviceError(f"{cls.__name__}.{name}() returns {len(self.computed[key])} values for "
                              f"{len(expected)} declared: {', '.join(expected)}")
        return dict(zip(expected, self.computed[key], strict=True))

    def flows(self) -> dict[str, tuple[Any, ...]]:
        """What is injected at each node port, one entry a potential, before ``status`` and rating; empty without any.

        ``flows`` of a device gives it for all its nodes, ``currents`` for its AC buses.
        """
        cls = self.shape.cls
        name, ports = ("flows", cls.node_ports()) if cls.function("flows") else ("currents", cls.bus_ports())
        function = cls.function(name)
        if function is None:
            return {}
        values = self.call(function)
        injected = (values,) if len(ports) == 1 else values
        wanted: dict[str, tuple[str, ...]] = {port: self.potentials(port) for port in ports}
        given: dict[str, tuple[Any, ...]] = {}
        with contextlib.suppress(TypeError, ValueError):  # what cannot be taken apart is refused below
            given = {port: tuple(each) if isinstance(each, tuple | list) or len(wanted[port]) > 1 else (each,)
                     for port, each in zip(ports, injected, strict=True)}
        if not given or any(len(given[port]) != len(names)
                            or any(isinstance(part, tuple | list) for part in given[port])
                            for port, names in wanted.items()):
            what = (f"(re, im) for each of {', '.join(wanted) or 'its bus ports (it has none)'}" if name == "currents"
                    else "one tuple for each of its nodes, with one entry for each potential there: " + (", ".join(
                        f"{len(names)} at {port}" for port, names in wanted.items()) or "it has no node port"))
            raise DeviceError(f"{cls.__name__}.{name}() must return {what}")
        return given

    def potentials(self, port: str) -> tuple[str, ...]:
        """The potentials of the node at a port of its own; none where no node is."""
        found = self.shape.at((port,)).cls
        return found.potentials() if issubclass(found, Node) else ()


def _arguments(function: Callable[..., Any]) -> Sequence[str]:
    """Names of the arguments; of a plain function without the inspection, which costs as much as a short equation."""
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__"):
        return list(inspect.signature(function).parameters)
    names: tuple[str, ...] = code.co_varnames
    return names[: code.co_argcount + code.co_kwonlyargcount]


def kind_of(shape: Shape, name: str) -> str:
    """What a declared name is: ``x`` variable, ``u`` input or reference, ``p`` parameter, ``m`` mode, or ``""``."""
    declared = shape.cls.declares
    if name in declared.states or name in declared.algebraics:
        return "x"
    if name in declared.inputs or name in declared.references:
        return "u"
    if name in declared.params or name in declared.setpoints:
        return "p"
    return "m" if name in declared.modes else ""


class View:
    """Attribute access to one device, or to a port of it."""

    __slots__ = ("_path", "_scope")

    def __init__(self, scope: Scope, path: Path):
        self._scope, self._path = scope, path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._scope.value(self._path, name)
