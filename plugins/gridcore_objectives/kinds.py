"""Kinds of objective files."""

from __future__ import annotations

from gridcore.sensitivity import Integral, Objective, Sampled, Terminal

from .files import Quantity, Table
from .shapes import to_power


def terminal(table: Table, quantity: Quantity) -> Objective:
    """The kind ``terminal``: a shape at the end of the run."""
    density = table.density(quantity)
    return Terminal(density.function, unit=density.unit)


def integral(table: Table, quantity: Quantity) -> Objective:
    """The kind ``integral``: a shape over time."""
    density = table.density(quantity)
    return Integral(density.function, unit=f"{density.unit} s".lstrip())


def sampled(table: Table, quantity: Quantity) -> Objective:
    """The kind ``sampled``: the sum of squared differences to a column of a CSV file."""
    key = (quantity.device, quantity.name)
    column = quantity.fill(table.text("column", quantity.address))
    times, values = table.columns(table.file("data"), table.text("time", "time"), column)
    return Sampled(times, lambda v: 1.0 * v[key], values, table.number("sigma", default=1.0),
                   unit=to_power(quantity.unit, 2))
