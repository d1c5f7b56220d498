"""Shapes of objective files: functions of a quantity v."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .files import Quantity, Table


@dataclass
class Density:
    """A shape of a quantity: a function of named quantities, ``lambda v: v["GEN2", "omega"]``, and its unit."""

    function: Callable[[Any], Any]
    unit: str


def value(table: Table, quantity: Quantity) -> Density:
    """The shape ``value``: the quantity."""
    sigma, key = table.number("sigma", default=1.0), (quantity.device, quantity.name)
    return Density(lambda v: sigma * v[key], quantity.unit)


def square(table: Table, quantity: Quantity) -> Density:
    """The shape ``square``: its squared difference to a reference."""
    sigma, key = table.number("sigma", default=1.0), (quantity.device, quantity.name)
    reference = table.number("reference", quantity)
    return Density(lambda v: sigma * (v[key] - reference) ** 2, to_power(quantity.unit, 2))


def band_violation(table: Table, quantity: Quantity) -> Density:
    """The shape ``band violation``: a power of how far it is outside a band."""
    low, high = (table.number(field, quantity, default=end)
                 for field, end in (("low", -math.inf), ("high", math.inf)))
    if not math.isfinite(low) and not math.isfinite(high):
        raise table.error("missing: give low, high or both", "high")
    if not low < high:
        raise table.error(f"{low:g} must be less than high = {high:g}", "low")
    power = table.number("power", default=2.0)
    if not 1 <= power < math.inf:
        raise table.error(f"{power:g} must be at least 1", "power")
    power = int(power) if power == int(power) else power
    sigma, key = table.number("sigma", default=1.0), (quantity.device, quantity.name)
    return Density(_violation(key, sigma, low, high, power), to_power(quantity.unit, power))


def _violation(key: tuple[str, str], sigma: float, low: float, high: float, power: float) -> Callable[[Any], Any]:
    if not math.isfinite(low):
        return lambda v: sigma * np.maximum(0.0, v[key] - high) ** power
    if not math.isfinite(high):
        return lambda v: sigma * np.maximum(0.0, low - v[key]) ** power
    return lambda v: sigma * np.maximum(0.0, np.maximum(v[key] - high, low - v[key])) ** power


def to_power(unit: str, power: float) -> str:
    """The unit of a power: ``pu^2``, ``(rad/s)^2``."""
    if not unit or power == 1:
        return unit
    return f"({unit})^{power:g}" if "/" in unit else f"{unit}^{power:g}"
