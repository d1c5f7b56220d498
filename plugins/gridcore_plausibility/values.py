"""Values outside of what a device class calls plausible, or far from what others of their unit are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gridcore.equations import Group
from gridcore.equilibrium import Equilibrium
from gridcore.system import System

from .orders import orders_of

# Of a case: the global that has it, its field, in which unit, how many of the global's, from, to.
_BASES = (("base_mva", "base_mva", "MVA", 1.0, 1e-4, 1e6), ("omega_b", "frequency", "Hz", 2 * np.pi, 10.0, 1e3))


def implausible(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """Values in Z that are hardly meant, of parameters only where no equilibrium was found; of each group the first."""
    layout = system.layout
    for group in layout.groups:
        cls = group.shape.cls
        on = Z[layout.of_group(group, "energised" if "energised" in cls.declares.modes else "status")] == 1
        for name, bounds in cls.plausible.items():
            values = Z[layout.gather(group, (), name)]
            low, high = (Z[layout.of_group(group, b)] if isinstance(b, str) else b for b in bounds)
            if found or name in cls.declares.params:
                yield from _told(system, group, name, values, on & ~((low <= values) & (values <= high)),
                                 f"{bounds[0]} to {bounds[1]}")
        for name, order in orders_of(cls).items():
            values = Z[layout.of_group(group, name)]
            size = np.abs(values)
            beyond = on & (size > 0) & np.isfinite(size) & ((size < order.least) | (size > order.most))
            yield from _told(system, group, name, values, beyond,
                             f"{'0, or ' * bool(order.least)}in size {order.least:g} to {order.most:g}")


def _told(system: System, group: Group, name: str, values: np.ndarray, beyond: np.ndarray,
          plausible: str) -> Iterator[str]:
    """The first of those that are beyond, and how many more there are."""
    at = np.flatnonzero(beyond)
    if len(at):
        more = f" (and {len(at) - 1} more)" if len(at) > 1 else ""
        yield str(system.layout.instances[group.members[at[0]]].record.error(
            f"{f'{values[at[0]]:g} {group.shape.cls.declares.unit(name)}'.strip()} is hardly meant: plausible is "
            f"{plausible}{more}", name))


def odd_bases(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """Bases of the whole case that no grid has."""
    for name, field, unit, scale, low, high in _BASES:
        value = float(Z[system.layout.globals[name]]) / scale
        if not low <= value <= high:
            yield f"{field} = {value:g} {unit} of the case is hardly meant: plausible is {low:g} to {high:g}"
