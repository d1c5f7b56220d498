"""A run as a table of text, comma-separated."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gridcore.results import select, whole_file
from gridcore_provenance.beside import describe_table
from gridcore_tables.signals import signals

if TYPE_CHECKING:
    from gridcore.results import Run, Stretch


def write(run: Run, path: Path, *, columns: str | Iterable[str] | None = None) -> None:
    """Write the time, then one column for each ``device.quantity``, every digit kept; and, in ``x.csv-metadata.json``
    beside ``x.csv``, the units and what made it.

    Parameters
    ----------
    run : Run
    path : Path
    columns : str or iterable of str, optional
        Addresses or shell-style patterns: ``["GEN*.omega", "BUS7.Vm"]``. By default what ``run.to_xarray()`` has.

    Raises
    ------
    CaseError
        If an address matches nothing; the nearest are offered.
    """
    if columns is None:
        wanted = [(device, s.quantity) for s in signals(run.system, run=run) for device in s.devices]
    else:
        wanted = select(run.system, [columns] if isinstance(columns, str) else columns)
    by_name: dict[str, list[str]] = {}
    for device, name in wanted:
        by_name.setdefault(name, []).append(device)

    def table(part: Stretch) -> np.ndarray:
        found = {(device, name): column for name, devices in by_name.items()
                 for device, column in zip(devices, part.of(devices, name).T, strict=True)}
        return np.column_stack([part.t, *(found[key] for key in wanted)])

    with whole_file(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(f"{device}.{name}" for device, name in wanted)])
        # Python writes the shortest digits that read back exactly
        run.stretches(lambda part: writer.writerows(table(part).tolist()))
    by_id = {instance.id: instance.device.declares for instance in run.system.instances}
    units = {f"{device}.{name}": by_id[device].unit(name) for device, name in wanted}
    describe_table(path, {"time": "s", **units}, run.provenance)
