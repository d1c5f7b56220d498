"""Lines for direct current of a PSS/E power-flow file: constant power at their terminals, as their controls have it.

Siemens PTI, PSS/E Program Application Guide, "DC lines" (line-commutated: angles follow from the tap and the voltage
in the file) and Data Formats Reference Manual, "VSC DC line data". P. Kundur, Power System Stability and Control, 10.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .psse import Row

ROUNDS = 50  # of finding the current together with the losses that depend on it
BRIDGE = 3 * math.sqrt(2) / math.pi  # no-load direct voltage of a bridge, of its line-to-line voltage


@dataclass
class Terminal:
    """What a converter injects at its bus (MVA), and the voltage that it holds (None: its Q is given).

    That is the voltage of its bus, or of another one (`regulates`, 0 for its own).
    """

    row: Row
    bus: int
    power: complex
    V0: float | None = None
    Q: tuple[float, float] = (0.0, 0.0)
    rating: float = 0.0
    regulates: int = 0


def two_terminal(row: Row, ends: list[Row], Vm: Mapping[int, float]) -> list[Terminal]:
    """A line-commutated line: nothing where it is blocked."""
    mode, buses = row.integer("MDC"), [end.integer("IP") for end in ends]
    if mode == 0:
        return []
    current = _current(row, mode)
    inverter = row.number("VSCHD") - current * row.number("RCOMP")
    volts = inverter + current * row.number("RDC"), inverter
    out = []
    for end, bus, Vdc, sign in zip(ends, buses, volts, (-1.0, 1.0)):
        P = Vdc * current
        out.append(Terminal(end, bus, complex(sign * P, -P * tangent(end, Vdc, current, Vm[bus])), rating=abs(P)))
    return out


def _current(row: Row, mode: int) -> float:
    """Direct current (kA) of a set-point in MW (at the rectifier, below zero at the inverter) or A."""
    setting, V, r = row.number("SETVL"), row.number("VSCHD"), row.number("RCOMP")
    if mode != 1:
        return setting / 1000
    if V <= 0:
        raise row.error("must be above 0", "VSCHD")
    r = row.number("RDC") - r if setting > 0 else -r
    square = V * V + 4 * r * abs(setting)
    if square < 0:
        raise row.error("the line cannot carry this power", "SETVL")
    return 2 * abs(setting) / (V + math.sqrt(square))


def tangent(end: Row, Vdc: float, current: float, Vm: float) -> float:
    """Tangent of the angle between alternating current and voltage, of a line-commutated converter (kV, kA)."""
    bridges, tap = end.integer("NB"), end.number("TAP")
    if bridges <= 0 or tap <= 0:
        raise end.error("must be above 0", "NB" if bridges <= 0 else "TAP")
    E, x = Vm * end.number("EBAS") * end.number("TR") / tap, end.number("XC")
    if E <= 0 or current <= 0 or x == 0:  # without commutation PSS/E has no reactive power either
        return 0.0
    most = math.cos(math.radians(end.number("ANMN")))  # beyond ANMX it is where the tap is at its limit
    cosine = min((Vdc / bridges + 3 / math.pi * x * current) / (BRIDGE * E), most)
    alpha = math.acos(min(max(cosine, -1.0), 1.0))
    delta = math.acos(min(max(cosine - math.sqrt(2) * x * current / E, -1.0), 1.0))
    below = math.cos(2 * alpha) - math.cos(2 * delta)
    if below <= 0:
        raise end.error("the converter commutates at no angle", "XC")
    return (2 * (delta - alpha) + math.sin(2 * alpha) - math.sin(2 * delta)) / below


def voltage_source(row: Row, ends: list[Row], Vm: Mapping[int, float]) -> list[Terminal]:
    """A line with voltage-source converters: one holds the direct voltage, the other a power; both have losses."""
    types = [end.integer("TYPE") for end in ends]
    if row.integer("MDC") == 0 or not any(types):
        return []
    if types.count(1) != 1:
        raise row.error("one converter of a line holds the direct voltage (TYPE = 1)")
    holds = types.index(1)
    first, second = ends[holds], ends[1 - holds]
    V, r = first.number("DCSET"), row.number("RDC")
    if V <= 0:
        raise first.error("must be above 0", "DCSET")
    setting = second.number("DCSET") if types[1 - holds] else 0.0
    current = 0.0  # kA, towards the second
    for _ in range(ROUNDS if types[1 - holds] else 0):
        power = setting + _loss(second, current)
        square = V * V - 4 * r * power
        if square < 0:
            raise row.error("the line cannot carry this power")
        current = 2 * power / (V + math.sqrt(square))
    out = [_converter(first, -V * current - _loss(first, current))]
    return [*out, _converter(second, setting)] if types[1 - holds] else out


def _loss(end: Row, current: float) -> float:
    """MW, of constants in kW and kW/A."""
    loss = end.number("ALOSS") + end.number("BLOSS") * abs(current) * 1000
    return max(loss, end.number("MINLOSS")) / 1000


def _converter(end: Row, P: float) -> Terminal:
    rating, setting = max(end.number("SMAX"), abs(P)), end.number("ACSET")
    if end.integer("MODE") == 1:
        limits = end.number("MINQ"), end.number("MAXQ")
        return Terminal(end, end.integer("IBUS"), complex(P, 0.0), setting, limits, rating, end.integer("REMOT"))
    if not 0 < abs(setting) <= 1:
        raise end.error("a power factor is from -1 to 1, and not 0", "ACSET")
    Q = P * math.tan(math.acos(abs(setting))) * math.copysign(1.0, setting)
    return Terminal(end, end.integer("IBUS"), complex(P, Q), rating=rating)
