"""More than one slack in an island."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from gridcore.case import Instance
from gridcore.equilibrium import Equilibrium
from gridcore.system import System


def several_slacks(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """Islands in which the voltage angles of several buses are held."""
    layout, islands = system.layout, system.islands
    place = {number: k for k, number in enumerate(islands.nodes)}
    _, island = islands.components(Z)
    slacks: dict[int, dict[int, Instance]] = defaultdict(dict)
    for number, instance in enumerate(layout.instances):
        slack = instance.device.regulates and instance.words["control"] == "slack"
        if slack and Z[layout.index(number, instance.device, "status")] == 1:
            bus = layout.ports[number][instance.device.bus_ports()[0]]
            slacks[island[place[bus]]][bus] = instance
    for at in slacks.values():
        if len(at) > 1:
            *others, last = at.values()
            names = f"{', '.join(instance.id for instance in others)} and {last.id}"
            yield str(last.record.error(f"{names} are slack in one island: what they inject follows from their angles, "
                                        "not from P0; plausible is one", "control"))
