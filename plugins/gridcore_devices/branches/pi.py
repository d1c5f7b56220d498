"""The pi circuit: currents into its two ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Pair = tuple[Any, Any]


def admittance(r: Any, x: Any) -> Pair:
    """(g, b) of the series impedance ``r + j x``."""
    z2 = r * r + x * x
    return r / z2, -x / z2


def times(g: Any, b: Any, re: Any, im: Any) -> Pair:
    """``(g + j b)(re + j im)``."""
    return g * re - b * im, g * im + b * re


def pi_currents(series: Pair, shunt: Pair, V1: Pair, V2: Pair) -> tuple[Pair, Pair]:
    """((re, im), (re, im)) *into* the circuit at either end; half of the shunt admittance at each."""
    re, im = times(*series, V1[0] - V2[0], V1[1] - V2[1])
    half = shunt[0] / 2, shunt[1] / 2
    a, b = times(*half, *V1), times(*half, *V2)
    return (re + a[0], im + a[1]), (b[0] - re, b[1] - im)


def check_impedance(values: Mapping[str, float]) -> str | None:
    """A branch has an impedance: what :meth:`Device.check` says of one that has none."""
    if values["r"] == 0 and values["x"] == 0:
        return "r and x are both zero: join the two buses, or give a small x"
    return None
