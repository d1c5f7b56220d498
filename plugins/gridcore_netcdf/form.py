"""What the writer and the reader of a run must agree on."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from gridcore.tape import Record

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium

FORMAT = "gridcore run"
VERSION = 6
CASE = "case.toml"  # the format in which a file has its case
BLOCK = 1 << 24  # bytes of a run that are looked at together
ROWS = 1 << 13  # of a table
RECORDS: dict[str, type] = {cls.__name__: cls for cls in typing.get_args(Record)}


def declarations(system: Equilibrium) -> dict[str, list[list[str]]]:
    """What stands in Z for each device class: the meaning of every number in the file."""
    classes = {instance.device.__name__: instance.device.declares for instance in system.layout.instances}
    return {name: [[*d.variables()], [*d.params, *d.setpoints, *d.inputs], [*d.modes]] for name, d in classes.items()}
