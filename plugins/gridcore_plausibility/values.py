"""Values outside of what a device class calls plausible."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gridcore.equilibrium import Equilibrium
from gridcore.system import System


def implausible(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """Values in Z that are hardly meant, of parameters only where no equilibrium was found; of each group the first."""
    layout = system.layout
    for group in layout.groups:
        cls = group.shape.cls
        on = Z[layout.of_group(group, "energised" if "energised" in cls.declares.modes else "status")] == 1
        for name, bounds in cls.plausible.items():
            values = Z[layout.gather(group, (), name)]
            low, high = (Z[layout.of_group(group, b)] if isinstance(b, str) else b for b in bounds)
            beyond = np.flatnonzero(on & ~((low <= values) & (values <= high)))
            if len(beyond) and (found or name in cls.declares.params):
                first, more = beyond[0], f" (and {len(beyond) - 1} more)" if len(beyond) > 1 else ""
                yield str(layout.instances[group.members[first]].record.error(
                    f"{values[first]:g} {cls.declares.unit(name)} is hardly meant: plausible is {bounds[0]} to "
                    f"{bounds[1]}{more}", name))
