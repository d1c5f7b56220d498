"""Dynamic data files of PSS/E (``.dyr``) from a case: the records of every device whose class says their order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

from gridcore.case import Base, Case, Instance, convert, validate
from gridcore.contract import Field, Load, Node
from gridcore.errors import CaseError

from .dyr import order
from .inverse import inverse
from .raw_write import bus_numbers
from .tap_changers import MODELS

WIDTH = 110  # characters of a line
_NUMBER = re.compile(r"[-+\d.eE]+")


def read(path: Path) -> NoReturn:
    """A DYR file is no case.

    Raises
    ------
    CaseError
    """
    raise CaseError("adds to a case and is none by itself: name the case first, then this file", file=str(path))


def write(case: Case, path: Path) -> None:
    """Write the dynamic data, for the RAW file that is written of the same case.

    Devices without an order of values are left out; a remark in the file names them.
    """
    valid = validate(case)
    by_id = {instance.id: instance for instance in valid.records}
    number = bus_numbers([instance.id for instance in valid.of("Bus")])
    lines, without = [], []
    for instance in valid.records:
        if order(instance.device) and instance.model in MODELS:
            branch = by_id[instance.ports["transformer"]]
            ends = [number[branch.ports[port]] for port in ("bus1", "bus2")]
            circuit = _identifier(branch, f"TRANSFORMER{ends[0]}-{ends[1]}")
            lines += _record(instance, ends[0], f"{ends[1]} '{circuit}'", valid.frequency)
        elif order(instance.device):
            host = _host(instance, by_id)
            bus = number[host.ports["bus"]]
            naming = f"{'LOAD' if issubclass(host.device, Load) else 'GEN'}{bus}"
            lines += _record(instance, bus, f"'{_identifier(host, naming)}'", valid.frequency)
        elif instance.device.declares.variables() and not issubclass(instance.device, Node):
            without.append(instance.id)
    if without:
        lines.append(f"// without a record of PSS/E, left out: {', '.join(without)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _host(instance: Instance, by_id: dict[str, Instance]) -> Instance:
    """The machine or load that a device hangs on, over others perhaps; itself, if it is one."""
    while "bus" not in instance.ports:
        instance = by_id[next(iter(instance.ports.values()))]
    return instance


def _identifier(host: Instance, naming: str) -> str:
    return re.sub(r"[\s/'\",]", "-", host.id.removeprefix(naming).lstrip("_")) or "1"


def _record(instance: Instance, bus: int, place: str, frequency: float) -> list[str]:
    """The lines of a record; `place` identifies what is meant at the bus."""
    words = [str(bus), f"'{instance.model}'", place, *(
        _value(instance, entry, frequency) for entry in order(instance.device)), "/"]
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) >= WIDTH:
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines


def _value(instance: Instance, entry: str | None, frequency: float) -> str:
    """A value as the record has it; zero for one that the model does not use."""
    name, _, unit = (entry or "").partition(" ")
    if not name:
        return "0"
    if isinstance(instance.device.declares.fields.get(name), Field):
        word = instance.words[name]
        return word if _NUMBER.fullmatch(word) else f"'{word}'"
    value = instance.values[name]
    given: Any = instance.record.fields.get(name)
    if not unit:
        return repr(value)
    if isinstance(given, str) and given.endswith(f" {unit}"):
        return given.removesuffix(f" {unit}")
    declared, base = instance.device.declares.params[name].unit, Base(instance.values.get("Sn", 1.0), None, frequency)
    one = convert(f"1 {unit}", declared, base)
    return repr(inverse(lambda x: convert(f"{x!r} {unit}", declared, base), value, value / one))
