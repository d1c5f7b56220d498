"""Device equations to symbolic expressions: one trace for each shape of device.

Tracing calls the author's functions once on CasADi symbols. What comes out is flat: the list of
symbols that were really read (each to be gathered from the system's buffer), and expressions for the
rows of the system, the guards, the actions, the set-points and the quantities.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ..contract import GLOBALS, Path, Scope, Shape, kind_of
from ..errors import DeviceError

Symbol = tuple[Path, str]


def _number(expression: ca.SX) -> float:
    """CasADi's own is nan for a symbol, which would be taken for a number."""
    if expression.is_constant():
        return float(_float(expression))
    raise TypeError("a number is asked for, by float or math, where there is an expression: use functions of numpy")


_float, ca.SX.__float__ = ca.SX.__float__, _number
_alone = threading.RLock()  # the setting is the process's, and a trace grows with what is asked of it


@contextlib.contextmanager
def numpy_on_symbols() -> Iterator[None]:
    """Let numpy functions on CasADi symbols give CasADi symbols, whatever the session has set; one thread at once."""
    with _alone:
        before = ca.GlobalOptions.getNumpyMode()
        ca.GlobalOptions.setNumpyMode(-1)
        try:
            yield
        finally:
            ca.GlobalOptions.setNumpyMode(before)


@dataclass
class Trace:
    """The equations of one shape of device, as expressions of `symbols`.

    Attributes
    ----------
    symbols : dict
        (path, name) to the CasADi symbol, in the order in which they were first read.
    rows : list of (Symbol, expression)
        What is added to the row of the variable `Symbol`: rates, residuals, flows into nodes.
    guards : list of (name, expression)
        Guard functions; a guard with its own cancellation function has a second row ``name:cancel``.
    setpoints : list of (name, expression)
        ``s.name - equals`` for the set-points that declare ``equals``.
    scheduled : tuple of expressions, or None
    """

    shape: Shape
    symbols: dict[Symbol, ca.SX] = field(default_factory=dict)
    rows: list[tuple[Symbol, ca.SX]] = field(default_factory=list)
    guards: list[tuple[str, ca.SX]] = field(default_factory=list)
    setpoints: list[tuple[str, ca.SX]] = field(default_factory=list)
    scheduled: tuple[ca.SX, ca.SX] | None = None

    def __post_init__(self) -> None:
        self._scope = Scope(self.shape, self._symbol)
        with _tracing(self.shape):
            self._trace()

    def _symbol(self, path: Path, name: str) -> ca.SX:
        if (path, name) not in self.symbols:
            self.symbols[path, name] = ca.SX.sym(".".join((*path, name)))
        return self.symbols[path, name]

    def _trace(self) -> None:
        cls, scope = self.shape.cls, self._scope
        declared = cls.declares
        for (name, state), rate in zip(declared.states.items(), scope.rates(), strict=True):
            self.rows.append((((), name), self._row(name, state, rate)))
        for name, residual in zip(declared.algebraics, scope.residuals(), strict=True):
            self.rows.append((((), name), ca.SX(residual)))
        for port, flows in scope.flows().items():
            rating = scope.value((), "Sn") / scope.value((), "base_mva") if "Sn" in declared.params else 1.0
            for potential, value in zip(self.potentials(port), flows, strict=True):
                self.rows.append((((port,), potential), np.where(scope.value((), "status"), value * rating, 0.0)))
        for guard in declared.guards.values():
            self.guards.append((guard.name, ca.SX(scope.call(guard.function))))
            if callable(guard.cancel):
                self.guards.append((f"{guard.name}:cancel", ca.SX(scope.call(guard.cancel))))
        for name, setpoint in declared.setpoints.items():
            if setpoint.equals is not None:
                self.setpoints.append((name, self._symbol((), name) - scope.call(setpoint.equals)))
        scheduled = cls.function("scheduled")
        if scheduled is not None:
            p, q = scope.call(scheduled)
            status = scope.value((), "status")
            self.scheduled = (np.where(status, p, 0.0), np.where(status, q, 0.0))

    def _row(self, name: str, state: Any, rate: Any) -> ca.SX:
        """The row of a state: its rate, frozen out of service; at a limit, ``0 = x - limit``."""
        value = self._scope.value
        row = np.where(value((), "status"), ca.SX(rate), 0.0)
        if state.T is not None:
            T = value((), state.T)
            row = np.where(T == 0, rate, row / np.where(T == 0, 1.0, T))
        if state.limits is not None:
            mode, x = value((), f"{name}_limit"), value((), name)
            low, high = (x if bound is None else value((), bound) if isinstance(bound, str) else bound
                         for bound in state.limits)
            row = np.where(mode == 0, row, x - np.where(mode > 0, high, low))
        return row

    def actions(self, item: str) -> list[tuple[Symbol, ca.SX]]:
        """The changes that guard or timer `item` makes: what is set, and to what. Modes have no derivatives."""
        declared = self.shape.cls.declares
        then = (declared.guards.get(item) or declared.timers[item]).then
        out = []
        with _tracing(self.shape):
            for target, value in then.items():
                path, name = self.resolve(target)
                kind = kind_of(self.shape.at(path), name)
                new = ca.SX(self._scope.call(value) if callable(value) else value)
                if not kind:
                    raise DeviceError(f"{item}: {target!r} is not a mode, parameter, input or state")
                varies = ca.vertcat(*(symbol for key, symbol in self.symbols.items() if self.kind(key) != "m"))
                if kind == "m" and not ca.jacobian(new, varies).is_zero():
                    raise DeviceError(f"{item}: the mode {target!r} is set to {new}, which varies, and modes have no "
                                      "derivatives: keep it in a parameter or a state")
                out.append(((path, name), new))
        return out

    def quantity(self, name: str) -> ca.SX:
        """Expression of a quantity, variable, parameter, input or mode of the device."""
        with _tracing(self.shape):
            return ca.SX(self._scope.value((), name))

    def symbols_of(self, expression: ca.SX) -> list[Symbol]:
        """The symbols that an expression reads."""
        read = {symbol.element_hash() for symbol in ca.symvar(expression)}
        return [key for key, symbol in [*self.symbols.items()] if symbol.element_hash() in read]

    def expression(self, function: Callable[..., Any]) -> Any:
        """What a function of views gives on the symbols."""
        with _tracing(self.shape):
            return self._scope.call(function)

    def resolve(self, address: str) -> Symbol:
        """``"port.name"`` or ``"name"`` to (path, name)."""
        port, _, name = address.rpartition(".")
        if not port:
            return (), name
        path: Path = ()
        for part in port.split("."):
            found = self.shape.at(path).find(part)
            if found is None:
                raise DeviceError(f"{self.shape.cls.__name__}: {address!r}: no port {part!r}")
            path = (*path, *found)
        return path, name

    def potentials(self, port: str) -> tuple[str, ...]:
        """The potentials of the node at a port."""
        return self._scope.potentials(port)

    def kind(self, symbol: Symbol) -> str:
        """``x``, ``u``, ``p``, ``m`` or ``t`` for one of the symbols."""
        path, name = symbol
        return kind_of(self.shape.at(path), name) if path or name not in GLOBALS else "t" if name == "time" else "p"


@contextlib.contextmanager
def _tracing(shape: Shape) -> Iterator[None]:
    """Calls of device functions on symbols: errors say which class they come from, and what is not allowed there."""
    try:
        with numpy_on_symbols():
            yield
    except DeviceError as error:
        if str(error).startswith(shape.cls.__name__):
            raise
        raise DeviceError(f"{shape.cls.__name__}: {error}") from None
    except Exception as error:
        hint = ""
        if "truth value" in str(error):
            hint = " (no Python `if`, `and`, `or`, `min` or `max` on states or parameters: use np.where)"
        raise DeviceError(f"{shape.cls.__name__}: its equations cannot be traced: "
                          f"{type(error).__name__}: {error}{hint}") from error
