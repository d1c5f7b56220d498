"""The equations of a device class, line by line, in LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gridcore.contract import Device, Node

from .formula import Leaf, Writer, call, number, symbol


@dataclass(frozen=True)
class Line:
    """``left = right``; `right` is an expression, `aside` what stands beside it."""

    left: str
    right: Any
    aside: str = ""


def sections(cls: type[Device]) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """(heading, lines) of a class; a line is what stands left and right of the equals sign, and beside it."""
    found = {"States": list(_states(cls)), "Algebraic equations": list(_algebraics(cls)),
             "Quantities": list(_quantities(cls)), "Set-points at t0": list(_setpoints(cls)),
             "In the power flow": list(_scheduled(cls)), "Injected": list(_flows(cls))}
    write = Writer(line.right for lines in found.values() for line in lines)
    for heading, lines in found.items():
        if lines:
            yield heading, [(line.left, write(line.right), line.aside) for line in lines]
    if write.named:
        yield "Where", [(name, text, "") for name, text in write.named]


def _listed(cls: type[Device], name: str, table: str) -> dict[str, Any]:
    """What ``rates`` or ``residuals`` give, by the variables without an equation of their own."""
    own = [key for key, item in getattr(cls.declares, table).items() if item.equation is None]
    function = cls.function(name)
    if function is None or not own or (table == "algebraics" and issubclass(cls, Node)):
        return {}
    values = call(function)
    return dict(zip(own, values if isinstance(values, tuple | list) else (values,), strict=True))


def _states(cls: type[Device]) -> Iterator[Line]:
    listed = _listed(cls, "rates", "states")
    for name, state in cls.declares.states.items():
        rate = call(state.equation) if state.equation else listed[name]
        left = rf"\frac{{d}}{{dt}}\, {symbol(name)}"
        aside = ""
        if state.limits is not None:
            low, high = (None if bound is None else symbol(bound) if isinstance(bound, str) else number(bound)[0]
                         for bound in state.limits)
            aside = (rf"{low} \le " if low else "") + symbol(name) + (rf" \le {high}" if high else "")
        yield Line(f"{symbol(state.T)} {left}" if state.T else left, rate, aside)


def _algebraics(cls: type[Device]) -> Iterator[Line]:
    listed = _listed(cls, "residuals", "algebraics")
    for name, item in cls.declares.algebraics.items():
        if item.equation is not None:
            yield Line(symbol(name), call(item.equation))
        elif name in listed:
            yield Line("0", listed[name])
        else:
            yield Line("0", Leaf(f"sum of the flows into {name}"))


def _quantities(cls: type[Device]) -> Iterator[Line]:
    for name, item in cls.declares.quantities.items():
        yield Line(symbol(name), call(item.function))


def _setpoints(cls: type[Device]) -> Iterator[Line]:
    for name, item in cls.declares.setpoints.items():
        if item.equals is not None:
            yield Line(symbol(name), call(item.equals))


def _scheduled(cls: type[Device]) -> Iterator[Line]:
    function = cls.function("scheduled")
    if function is not None:
        for left, value in zip("PQ", call(function), strict=True):
            yield Line(left, value)


def _flows(cls: type[Device]) -> Iterator[Line]:
    ports = cls.node_ports() if cls.function("flows") else cls.bus_ports()
    function = cls.function("flows") or cls.function("currents")
    if function is None:
        return
    values = call(function)
    for port, each in zip(ports, (values,) if len(ports) == 1 else values, strict=True):
        parts = each if isinstance(each, tuple | list) else (each,)
        names = [name.replace("V", "I") for name in port.node.potentials()] if port.at_node else []
        for n, value in enumerate(parts):
            yield Line(symbol(f"{port}.{names[n]}" if n < len(names) else f"{port}.{n}"), value)
