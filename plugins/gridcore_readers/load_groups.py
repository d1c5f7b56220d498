"""Records of load models that are for all loads of an owner, a zone, an area or the system.

Siemens PTI, PSS/E Program Application Guide, volume 2, "Load characteristic models": a model for one load, whose name
ends in BL, has others with the same values that end in OW, ZN, AR and AL, and begin with the number of an owner, a zone
or an area. What is said of fewer goes before what is said of more, in this order.
"""

from __future__ import annotations

from gridcore.contract import Device, Record

from .power_flow_files import PowerFlowFiles

#: The column of a load's record that a suffix is for; none for one bus and for all.
SUFFIXES = {"BL": "", "OW": "OWNER", "ZN": "ZONE", "AR": "AREA", "AL": ""}


def family(name: str, cls: type[Device]) -> dict[str, type[Device]]:
    """The models that are read as a class is, by its own name: itself alone, unless the class says ``dyr_family``."""
    if not hasattr(cls, "dyr_family"):
        return {name: cls}
    return {name.removesuffix("BL") + suffix: cls for suffix in SUFFIXES}


def breadth(name: str, cls: type[Device]) -> int:
    """0 for a model of one bus, more the more loads it is for."""
    return list(family(cls.__name__.upper(), cls)).index(name) if hasattr(cls, "dyr_family") else 0


def holds(files: PowerFlowFiles, name: str, cls: type[Device], number: int, bus: int, load: Record,
          id: str) -> bool:
    """Whether a record that begins with a number is for a load at a bus.

    Raises
    ------
    CaseError
        If it is for an owner, a zone or an area, and the load is from a file that does not say of which it is.
    """
    level = breadth(name, cls)
    column = list(SUFFIXES.values())[level]
    if column:
        return files.row(load, id, "load", "owner, zone and area of a load stand").integer(column) == number
    return level > 0 or bus == number
