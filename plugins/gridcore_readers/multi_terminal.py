"""Lines for direct current with many terminals, of a PSS/E power-flow file: constant power at each converter.

Siemens PTI, PSS/E Data Formats Reference Manual, "Multi-terminal DC line data": one converter of a pole holds its
direct voltage, each of the others has its power or its current, and a network of resistances is between them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .direct_current import ROUNDS, Terminal, tangent
from .psse import Row
from .raw_tables import MULTI_TERMINAL

CLOSE = 1e-9  # of the power of a converter: what it may lack when the currents are found
SOLID = 1e-6  # ohm, from a bus on earth
POWER, BLOCKED = 1, 0  # MDC: what the set-points are, and that there is nothing


def multi_terminal(row: Row, further: list[Row], Vm: Mapping[int, float]) -> list[Terminal]:
    """A line with the rows of its converters, of its direct-current buses and of what connects them."""
    mode = row.integer("MDC")
    if mode == BLOCKED:
        return []
    counts = [row.integer(count) for count, _, _ in MULTI_TERMINAL]
    converters, nodes, links = (further[sum(counts[:k]):sum(counts[:k + 1])] for k in range(len(counts)))
    volts, currents = _flow(row, mode, converters, nodes, links)
    out = []
    for converter, Vdc, current in zip(converters, volts, currents):
        bus, P = converter.integer("IB"), Vdc * current
        Q = abs(P) * tangent(converter, abs(Vdc), abs(current), Vm[bus])
        out.append(Terminal(converter, bus, complex(-P, -Q), rating=abs(P)))
    return out


def _flow(row: Row, mode: int, converters: list[Row], nodes: list[Row], links: list[Row]
          ) -> tuple[np.ndarray, np.ndarray]:
    """Voltage across each converter (kV), and the current that it feeds in (kA), both below zero at a negative pole."""
    conductances, across = _network(row, converters, nodes, links)
    pole = np.array([-1.0 if converter.integer("CNVCOD") < 0 else 1.0 for converter in converters])
    setting = np.array([converter.number("SETVL") for converter in converters])
    holding = {row.integer("VCONV"), row.integer("VCONVN")}
    holds = np.array([converter.integer("IB") in holding for converter in converters], bool)
    if not holds.any():
        raise row.error("none of its converters is at this bus, and one has to hold the direct voltage", "VCONV")
    bordered = np.block([[conductances, -across[:, holds]], [across[:, holds].T, np.zeros((holds.sum(),) * 2)]])
    held, current = pole[holds] * abs(setting[holds]), pole * setting / 1000
    if (setting == 0).any():
        raise converters[int(np.argmin(abs(setting)))].error("must not be 0", "SETVL")
    volts = pole * abs(held).max()
    for _ in range(ROUNDS):
        if mode == POWER:
            current[~holds] = setting[~holds] / volts[~holds]
        try:
            found = np.linalg.solve(bordered, np.concatenate((across[:, ~holds] @ current[~holds], held)))
        except np.linalg.LinAlgError:
            raise row.error("its direct-current buses are not connected with a converter that holds the voltage"
                            ) from None
        volts = across.T @ found[:len(nodes)]
        if not (volts * pole > 0).all():
            raise row.error("the line cannot carry this power")
    current[holds] = found[len(nodes):]
    lacks = abs(volts * current - setting)[~holds] if mode == POWER else np.zeros(0)
    if not (lacks <= CLOSE * abs(setting[~holds][:len(lacks)])).all():
        raise row.error("the line cannot carry this power")
    return volts, current


def _network(row: Row, converters: list[Row], nodes: list[Row], links: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    """Conductances between the buses (1/ohm), and between which of them each converter is (1 and -1, or earth)."""
    place = {node.integer("IDC"): n for n, node in enumerate(nodes)}

    def at(row: Row, name: str) -> int:
        number = row.integer(name)
        if number not in place:
            raise row.error(f"there is no direct-current bus {number}", name)
        return place[number]

    conductances, across = np.zeros((len(nodes), len(nodes))), np.zeros((len(nodes), len(converters)))
    earth = np.zeros(len(nodes))
    for link in links:
        ends, resistance = np.array([at(link, "IDC"), at(link, "JDC")]), link.number("RDC")
        if resistance <= 0:
            raise link.error("must be above 0", "RDC")
        conductances[np.ix_(ends, ends)] += np.array([[1, -1], [-1, 1]]) / resistance
    stations = {node.integer("IB"): node for node in nodes if node.integer("IB")}
    for k, converter in enumerate(converters):
        node = stations.get(converter.integer("IB"))
        if node is None:
            raise converter.error("no direct-current bus of the line is that of this converter", "IB")
        across[at(node, "IDC"), k] = 1
        if node.integer("IDC2"):
            back = at(node, "IDC2")
            across[back, k] = -1
            earth[back] = 1 / max(nodes[back].number("RGRND"), SOLID)
    return conductances + np.diag(earth), across
