"""Powers that no device of a network has by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gridcore.equilibrium import Equilibrium
from gridcore.system import System

_MOST = 1e4  # MW; of what is more, a system has several


def large_powers(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """A power beyond 10 GW that is given, not found, and is more than all others of the system together."""
    layout = system.layout
    given = [(instance, layout.index(number, instance.device, "P0"))
             for number, instance in enumerate(layout.instances)
             if "P0" in instance.device.declares.params and instance.words.get("control") != "slack"
             and Z[layout.index(number, instance.device, "status")] == 1]
    powers = Z[[at for _, at in given]]
    base = float(Z[layout.globals["base_mva"]])
    for k in np.flatnonzero((np.abs(powers) * base > _MOST) & (2 * np.abs(powers) > np.abs(powers).sum())):
        yield str(given[k][0].record.error(f"{powers[k]:g} pu, {powers[k] * base:.6g} MW, is hardly meant: plausible "
                                           "is less than all others together", "P0"))
