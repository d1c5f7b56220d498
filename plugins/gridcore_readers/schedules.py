"""What devices that are neither sources nor loads inject in the power flow, for files that know no such devices."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gridcore.case import Case, Instance
from gridcore.contract import Load
from gridcore.equations import Batch, function_of
from gridcore.equilibrium import build


def scheduled(case: Case, records: Iterable[Instance]) -> dict[str, complex]:
    """What each of these with one bus is to inject (pu), in service or not, by ids: without sources and loads."""
    asked = {instance.id for instance in records
             if instance.device.function("scheduled") and len(instance.device.bus_ports()) == 1
             and not instance.device.regulates and not issubclass(instance.device, Load)}
    if not asked:
        return {}
    built = build(case, initialise=False, deenergise=True)
    layout, Z = built.layout, built.Z0.copy()
    found: dict[str, complex] = {}
    for group in layout.groups:
        ids = [layout.instances[i].id for i in group.members]
        if asked.isdisjoint(ids):
            continue
        Z[layout.of_group(group, "status")] = 1
        batch = Batch(*function_of("scheduled", layout, group, group.trace.scheduled), np.zeros((len(group), 2)))
        found |= dict(zip(ids, (complex(*power) for power in batch.values(Z))))
    return found
