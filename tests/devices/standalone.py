"""One device by itself: its functions on numbers, real or complex, with what it hangs on given as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gridcore.contract import Bus, Device, Path, Scope, Shape

GLOBALS = {"time": 0.0, "omega_b": 120 * np.pi, "base_mva": 100.0}


def shape_of(cls: type[Device], **hosts: type[Device]) -> Shape:
    """The device on buses, and on the devices given by port name."""
    return Shape(cls, tuple((port, Shape(Bus) if port.at_bus else shape_of(hosts[port], **hosts))
                            for port in cls.attaches))


class Alone:
    """``Alone(TwoAxis, H=3, ..., bus=V)``: names take numbers, ``"machine.omega"`` those of a port.

    A port ``bus`` may be given as a complex voltage.
    """

    def __init__(self, cls: type[Device], hosts: dict[str, type[Device]] | None = None, **values: Any):
        self.cls, self.shape, self.values = cls, shape_of(cls, **(hosts or {})), {}
        for name, value in values.items():
            if name.rpartition(".")[2].startswith("bus"):
                self.values[f"{name}.Vr"], self.values[f"{name}.Vi"] = np.real(value), np.imag(value)
            else:
                self.values[name] = value

    def lookup(self, path: Path, name: str) -> Any:
        address = ".".join((*path, name))
        if address in self.values:
            return np.asarray(self.values[address])[()]  # numpy orders complex numbers, Python refuses to
        if name in GLOBALS:
            return GLOBALS[name]
        declared = self.shape.at(path).cls.declares
        for table, default in ((declared.params, "default"), (declared.inputs, "default"),
                               (declared.modes, "initial")):
            if name in table and isinstance(getattr(table[name], default), float):
                return getattr(table[name], default)
        raise KeyError(f"the test gives no value for {address}")

    @property
    def scope(self) -> Scope:
        return Scope(self.shape, self.lookup)

    def __getitem__(self, name: str) -> Any:
        """A variable or a quantity."""
        return self.scope.value((), name)

    def rates(self) -> np.ndarray:
        """dx/dt of the states: right-hand sides over time constants, as they are where one is zero."""
        T = [self[s.T] if s.T else 1.0 for s in self.cls.declares.states.values()]
        return np.array(self.scope.rates()) / [value if value > 0 else 1.0 for value in T]

    def residuals(self) -> np.ndarray:
        return np.array(self.scope.residuals())

    def current(self, port: str = "bus") -> complex:
        re, im = self.scope.flows()[port]
        return re + 1j * im

    def guard(self, name: str) -> Any:
        return self.scope.call(self.cls.declares.guards[name].function)

    def target(self, item: str, target: str) -> Any:
        """The value that a guard or timer would set."""
        value = self.cls.declares.guards[item].then[target]
        return self.scope.call(value) if callable(value) else value

    def start(self, **extra: Any) -> dict[str, Any]:
        function = self.cls.function("start")
        assert function is not None
        return self.scope.call(function, **extra)

    def but(self, **values: Any) -> Alone:
        """The same with other numbers."""
        other = object.__new__(Alone)
        other.cls, other.shape = self.cls, self.shape
        other.values = {**self.values, **values}
        return other

    def jacobian(self, inputs: list[str], of: Callable[[Alone], np.ndarray] | None = None) -> np.ndarray:
        """Derivative of the rates (or of `of`) in `inputs`, by the complex step."""
        of = of or Alone.rates
        columns = [np.imag(of(self.but(**{name: self.lookup(tuple(name.split(".")[:-1]), name.split(".")[-1])
                                          + 1e-30j}))) / 1e-30 for name in inputs]
        return np.stack(columns, axis=1)
