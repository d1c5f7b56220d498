"""The two bit adding unit of the Test Set for IVP Solvers: a circuit of 39 transistors, index 1.

F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4, University of Bari, 2008. There the
unknowns are charges and potentials; here states are the voltages of the capacitances of each transistor, and algebraic
variables the potentials of the wires between them.

Voltages in V; time, resistances, capacitances and currents in units of the test set (its CTIME and STIFF).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gridcore as gc

VDD, VBB = 5.0, -2.5
# At 320: S0, S1, and what C is not. All methods here, and other programs, tend to 4.9972424 for S1: it has six digits.
REFERENCE = {"W49": 0.2040419147264534, "W130": 4.997238455712048, "W148": 0.2038985905095614}


class Wire(gc.Node):
    """A node of a circuit."""

    u = gc.Algebraic("V")


class Mosfet(gc.Device):
    """A MOSFET between its terminals, behind resistances, with a capacitance at each.

    H. Shichman, D. A. Hodges, IEEE J. Solid-State Circuits 3, 1968. `vs`, `vd` are voltages from the gate to source and
    drain behind their resistances, `bs`, `bd` those of the junctions from the bulk, which is behind resistances at
    -2.5 V, to the terminals. What goes into a capacitance of the gate comes through the resistance or the channel, so
    that the current of the channel need not be known at the terminals.
    """

    VT0, cgamma, phi, beta = (gc.Param("", value) for value in (0.2, 0.035, 1.01, 8.74))
    r, rb, c, cb, leak = (gc.Param("", value) for value in (8e-4, 2e-3, 0.6, 0.24, 5e-11))
    vs_0, vd_0, bs_0, bd_0 = (gc.Param("V") for _ in range(4))
    vs, vd, bs, bd = (gc.State("V", start_at=f"{name}_0") for name in ("vs", "vd", "bs", "bd"))

    @gc.quantity("", "current of the channel from drain to source")
    def channel(s: Any) -> Any:
        ahead = s.vs > s.vd  # the drain is above the source
        high, low = np.where(ahead, s.vs, s.vd), np.where(ahead, s.vd, s.vs)
        threshold = s.VT0 + s.cgamma * (np.sqrt(s.phi - np.minimum(np.where(ahead, s.bs, s.bd), 0.0)) - np.sqrt(s.phi))
        over, v = high - threshold, high - low
        square = np.where(over <= v, over * over, v * (2 * over - v))
        return np.where(ahead, 1.0, -1.0) * np.where(over > 0, s.beta * square * (1 + 0.02 * v), 0.0)


def _rates(s: Any, gate: Any, drain: Any, source: Any) -> Any:
    """Of a MOSFET, with the potentials of its terminals."""
    def junction(v: Any, at: Any) -> Any:
        """Speed of the voltage of a junction, always reverse, of the charge ``cb v / sqrt(1 - v / 0.87)``."""
        part = 1 - np.minimum(v, 0.0) / 0.87
        current = (VBB - v - at) / s.rb - s.leak * (np.exp(v / 25.85) - 1)
        return current * part**1.5 / (s.cb * (part + v / 1.74))

    return (((gate - s.vs - source) / s.r - s.channel) / s.c, ((gate - s.vd - drain) / s.r + s.channel) / s.c,
            junction(s.bs, source), junction(s.bd, drain))


def _flows(s: Any, gate: Any, drain: Any, source: Any) -> Any:
    """Of a MOSFET into the wires at gate, drain and source."""
    from_source, from_drain = (gate - s.vs - source) / s.r, (gate - s.vd - drain) / s.r
    return (-from_source - from_drain, from_drain + (VBB - s.bd - drain) / s.rb,
            from_source + (VBB - s.bs - source) / s.rb)


class Transistor(Mosfet):
    """One of the enhancement type."""

    attaches = (gc.Port("gate", node=Wire), gc.Port("drain", node=Wire), gc.Port("source", node=Wire))

    def rates(s: Any, gate: Any, drain: Any, source: Any) -> Any:
        return _rates(s, gate.u, drain.u, source.u)

    def flows(s: Any, gate: Any, drain: Any, source: Any) -> Any:
        return tuple((flow,) for flow in _flows(s, gate.u, drain.u, source.u))


class Pullup(Mosfet):
    """One of the depletion type, from the supply to its source, to which its gate is tied."""

    attaches = (gc.Port("drain", node=Wire), gc.Port("source", node=Wire))
    VT0, cgamma, phi, beta = (gc.Param("", value) for value in (-2.43, 0.2, 1.28, 2.675))

    def rates(s: Any, drain: Any, source: Any) -> Any:
        return _rates(s, source.u, drain.u, source.u)

    def flows(s: Any, drain: Any, source: Any) -> Any:
        at_gate, at_drain, at_source = _flows(s, source.u, drain.u, source.u)
        return (at_drain,), (at_gate + at_source,)


class Output(gc.Device):
    """A capacitance to ground."""

    attaches = gc.Port("wire", node=Wire)
    c = gc.Param("", 2.0)
    v_0 = gc.Param("V")
    v = gc.State("V", start_at="v_0")
    i = gc.Algebraic("")

    def rates(s: Any, wire: Any) -> Any:
        return s.i / s.c

    def residuals(s: Any, wire: Any) -> Any:
        return wire.u - s.v

    def flows(s: Any, wire: Any) -> Any:
        return (-s.i,)


class Pulse(gc.Device):
    """A wire at 0 V, up to 5 V and down again within 5 each, once in a period; `low` adds a constant."""

    attaches = gc.Port("wire", node=Wire)
    source = True
    rises, high, period, up, low = (gc.Param("", value) for value in (0.0, 5.0, 20.0, 5.0, 0.0))
    i = gc.Algebraic("")

    def residuals(s: Any, wire: Any) -> Any:
        t = s.time - s.period * np.floor(s.time / s.period) - s.rises
        return wire.u - s.low - s.up * np.clip(np.minimum(t, 10.0 + s.high - t) / 5.0, 0.0, 1.0)

    def flows(s: Any, wire: Any) -> Any:
        return (s.i,)


DEVICES = (Wire, Transistor, Pullup, Output, Pulse)
# Pulses: rises at, is high for, period.
INPUTS = {"v1": (0, 5, 20), "v2": (10, 15, 40), "v3": (30, 35, 80), "v4": (70, 75, 160), "cin": (150, 155, 320)}
# Chains of transistors to ground: the wire that each begins at, then size and gate of a transistor, the next wire, ...
CHAINS: tuple[tuple[Any, ...], ...] = (
    ("5", (1, "v1")), ("5", (1, "v2")), ("36", (1, "18")), ("36", (1, "cin")), ("85", (1, "v3")), ("85", (1, "v4")),
    ("18", (1, "5")), ("18", (2, "v2"), "27", (2, "v1")), ("49", (1, "36")), ("49", (2, "cin"), "58", (2, "18")),
    ("67", (1, "5")), ("67", (2, "cin"), "76", (2, "18")), ("98", (1, "85")), ("98", (2, "v4"), "107", (2, "v3")),
    ("116", (2, "67"), "121", (2, "98")), ("130", (2, "116"), "135", (2, "67")), ("135", (2, "98")),
    ("148", (1, "85")), ("148", (2, "5"), "157", (2, "98")), ("148", (3, "98"), "166", (3, "18"), "171", (3, "cin")))
# At rest, all inputs at 0 V: potentials, and what is lost at each resistance where a transistor holds an output down.
# Wires between transistors that do not conduct are where their leakage has brought them in the end.
START = {"0": 0.0, "vdd": VDD, **dict.fromkeys(INPUTS, 0.0), **dict.fromkeys(("5", "36", "85", "116", "130"), 5.0),
         **dict.fromkeys(("18", "49", "67", "98", "148", "157"), 0.204040693), "27": -0.228160952, "58": -0.026041072,
         "76": -0.026041072, "107": 4.734672533, "121": -0.025968303, "135": 4.744923533, "166": -0.026017362,
         "171": -0.026017590}
LOST = 0.011817791748
PULLED_UP = ("5", "18", "36", "49", "67", "85", "98", "116", "130", "148")


def circuit() -> gc.Case:
    """The unit: ``2 A1 + A0 + 2 B1 + B0 + Cin = 4 C + 2 S1 + S0``; v1 to v4 are what A0, B0, A1 and B1 are not."""
    def at(gate: str, drain: str, source: str, lost: float) -> dict[str, float]:
        """The states of a transistor at rest between these wires."""
        g, d, s = START[gate], START[drain], START[source]
        return {"vs_0": g - s - lost, "vd_0": g - d + lost, "bs_0": VBB - s, "bd_0": VBB - d}

    case = gc.Case("two_bit_adder")
    for chain in CHAINS:
        ends = [*chain[::2], "0"]
        for (size, gate), drain, source in zip(chain[1::2], ends, ends[1:]):
            lost = LOST * (size == 1 and START[gate] == 5.0)
            case.add("Transistor", gate=f"W{gate}", drain=f"W{drain}", source=f"W{source}", beta=8.74 * size,
                     **at(gate, drain, source, lost))
    for wire in PULLED_UP:
        case.add("Pullup", drain="Wvdd", source=f"W{wire}", **at(wire, "vdd", wire, LOST * (START[wire] < 1.0)))
    for wire in START:
        case.add("Wire", id=f"W{wire}")
    case.add("Pulse", id="ground", wire="W0", up=0.0)
    case.add("Pulse", id="supply", wire="Wvdd", up=0.0, low=VDD)
    for name, (rises, high, period) in INPUTS.items():
        case.add("Pulse", id=f"pulse_{name}", wire=f"W{name}", rises=rises, high=high, period=period)
    for wire in REFERENCE:
        case.add("Output", id=f"at_{wire}", wire=wire, v_0=START[wire.removeprefix("W")])
    return case
