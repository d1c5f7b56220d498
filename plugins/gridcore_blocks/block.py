"""What blocks of control diagrams are made of; they are declared on a device as states are.

A block is a :class:`~gridcore.contract.Composite`: it stands for states with rates of their own, quantities,
modes and guards, all of which could have been written out. Its name is its output, ``s.VR`` in equations and
``run["EXC1", "VR"]`` in results; ``VR_in`` is its input. What a block is given, input, gain, bound, is the name of a
parameter or of anything else that the device declares, a number, or a function of views ``f(s, *ports)``; a time
constant is the name of a parameter.

Wherever the equations of a block have a kink, a mode says on which side of it they are, and guards find the instant of
the change: the discretised system is smooth between events, and derivatives are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gridcore.contract import (
    Bound,
    Composite,
    Declaration,
    Guard,
    Mode,
    Quantity,
    Reached,
    State,
    bound_of,
    labels,
    sides,
)

# The name of something declared, a number, or a function of views.
Signal = str | float | Callable[..., Any]
Limits = tuple[Signal | None, Signal | None]


class Block(Composite):
    """Base of the blocks: names what it is given, so that every part can ask for it by name."""

    def __init__(self, unit: str = "pu", doc: str = ""):
        self.unit, self.doc = unit, doc
        self._parts: dict[str, Declaration] = {}

    def parts(self) -> Mapping[str, Declaration]:
        self._parts = {}
        self.expand()
        return self._parts

    def expand(self) -> None:
        """Add the parts that the block stands for."""
        raise NotImplementedError

    @property
    def words(self) -> str:
        """What the block is, for the docs of its parts."""
        return self.doc or self.name

    def named(self, given: Signal, suffix: str, doc: str) -> str | float:
        """A name for what was given (a function becomes the quantity ``<block>_<suffix>``), or the number."""
        if not callable(given):
            return given
        return self.quantity(f"{self.name}_{suffix}", given, doc)

    def reader(self, given: Signal, suffix: str, doc: str) -> Callable[[Any], Any]:
        """A function of the device's own view that reads what was given."""
        return self.value(self.named(given, suffix, doc))

    @staticmethod
    def value(name: str | float) -> Callable[[Any], Any]:
        """A function of the device's own view that reads what is called so, or the number."""
        return lambda s: bound_of(s, name)

    def input(self, given: Signal) -> Callable[[Any], Any]:
        """A function of the device's own view that reads the input."""
        return self.reader(given, "in", f"input: {self.words}")

    def bounds(self, limits: Limits | None) -> tuple[Bound, Bound]:
        """Names or numbers of the bounds."""
        low, high = limits or (None, None)
        return (None if low is None else self.named(low, "min", f"lower limit: {self.words}"),
                None if high is None else self.named(high, "max", f"upper limit: {self.words}"))

    def quantity(self, name: str, function: Callable[..., Any], doc: str) -> str:
        """Add a quantity; returns its name."""
        self._parts[name] = Quantity(self.unit, function, doc)
        return name

    def output(self, function: Callable[[Any], Any]) -> None:
        """Add the quantity with the block's own name."""
        self.quantity(self.name, function, self.words)

    def state(self, name: str, rate: Callable[[Any], Any], *, limits: Limits | None = None, doc: str = "",
              **fields: Any) -> None:
        """Add a state."""
        bounds = self.bounds(limits)
        self._parts[name] = State(self.unit, rate=rate, limits=None if bounds == (None, None) else bounds,
                                  doc=doc or self.words, **fields)

    def block(self, suffix: str, block: Block) -> str:
        """Add the parts of another block, ``<block>_<suffix>``; returns its name."""
        block.name = f"{self.name}_{suffix}"
        self._parts |= block.parts()
        return block.name

    def mode(self, name: str, doc: str, initial: int = 0) -> None:
        """Add a mode that says which branch of an equation holds."""
        self._parts[name] = Mode(initial, doc=doc)

    def change(self, suffix: str, function: Callable[[Any], Any], direction: int, mode: str, before: int, after: int,
               doc: str, *, when: Mapping[str, float] | None = None, settles: bool = True,
               limit: Reached | None = None) -> None:
        """Add the guard ``<block>_<suffix>`` that changes a mode; `when` is what other modes must be meanwhile."""
        self._parts[f"{self.name}_{suffix}"] = Guard(function, direction, {mode: before, **(when or {})},
                                                     {mode: after}, doc=doc, settles=settles, limit=limit)

    def limited(self, x: str, rate: Callable[[Any], Any], limits: Limits | None, gain: Callable[[Any], Any],
                ahead: Callable[[Any], Any], *, at_limit: int, **fields: Any) -> None:
        """Add the limited state `x` and the output ``x + ahead`` between the same bounds.

        `ahead` is `gain` times what has the sign of the rate of x. So an output may reach its bound before the state,
        but where the state stands at the bound the output does, and they leave it together.
        """
        self.state(x, rate, limits=limits, clamp=f"{self.name}_limit", at_limit=at_limit, **fields)
        self.clamp(lambda s: getattr(s, x) + ahead(s), limits, settles=at_limit != 0, initial=at_limit, state=x,
                   gain=gain)

    def clamp(self, u: Callable[[Any], Any], limits: Limits | None, *, settles: bool = False, initial: int = 0,
              names: tuple[str, str] | None = None, state: str | None = None,
              gain: Callable[[Any], Any] | None = None) -> None:
        """Add the output ``u`` between bounds, the mode ``<block>_limit`` and its guards."""
        mode, bounds = f"{self.name}_limit", self.bounds(limits)
        called = labels(bounds, names)
        if bounds != (None, None):
            self.mode(mode, f"-1 at {called[0]}, 1 at {called[1]}, 0 between", initial)
        for side, bound, label, end in sides(bounds, called):
            excess = _excess(u, bound)
            reach = excess if gain is None else _unless_zero(gain, excess, -side)
            self.change(f"at_{end}", reach, side, mode, 0, side, f"{self.name} reaches {label}", settles=settles,
                        limit=Reached(u, bound, label, side))
            self.change(f"off_{end}", excess, -side, mode, side, 0, f"{self.name} leaves {label}", settles=settles,
                        when={f"{state}_limit": 0} if state else None)

        def output(s: Any) -> Any:
            value = u(s)
            for side, bound, *_ in sides(bounds, called):
                value = np.where(getattr(s, mode) == side, bound_of(s, bound), value)
            return value

        self.output(output)


def _unless_zero(gain: Callable[[Any], Any], function: Callable[[Any], Any], otherwise: float) -> Callable[[Any], Any]:
    return lambda s: np.where(gain(s) != 0, function(s), otherwise)


def _excess(u: Callable[[Any], Any], bound: str | float) -> Callable[[Any], Any]:
    return lambda s: u(s) - bound_of(s, bound)
