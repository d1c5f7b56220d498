"""Dynamic data files of PSS/E (``.dyr``) from a case: the records of every device whose class says their order."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from gridcore.case import Base, Case, Instance, convert, validate
from gridcore.contract import Field, Load, Node, Port, Source
from gridcore.errors import CaseError
from gridcore.registry import devices

from . import dc_lines, transfer
from .dyr import hangs, order
from .inverse import inverse
from .monitored import named
from .raw_write import at_own_buses, identifiers, numbers_of_buses
from .tap_changers import windings

WIDTH = 110  # characters of a line
STATIC = {Source: "StaticGenerator", Load: "ZIP"}  # what a RAW file has in place of a machine or a load
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

    Devices without an order of values are left out, with what hangs on them; remarks in the file name both.
    """
    valid = validate(case)
    records = [at_own_buses(instance) for instance in valid.records]
    by_id, number = {instance.id: instance for instance in records}, numbers_of_buses(records)
    called = identifiers(case)
    lines: list[str] = []
    trips, without = transfer.of_relays(by_id)
    taken: set[tuple[str, int]] = set()

    def place(id: str) -> tuple[int, str]:
        """Bus number and identifier of what a device stands on."""
        if id in number:
            return number[id], ""
        host = _host(by_id[id], by_id)
        bus, kind = number[host.ports["bus"]], "LOAD" if issubclass(host.device, Load) else "GEN"
        return bus, called.get(host.id) or _identifier(host.id, f"{kind}{bus}")

    def branch(id: str, end: int) -> dict[str, str]:
        return named(by_id[id], number, end, called.get(id, ""))

    def said(instance: Instance, port: str, what: str) -> str:
        """What a record says of what stands at a port, or of what it trips."""
        if port not in instance.ports:
            return transfer.written(trips.get(instance.id, ()), port, what, place, branch)
        if what in ("from", "to", "circuit"):
            return branch(instance.ports[port], int(instance.values["end"]))[what]
        bus, identifier = place(instance.ports[port])
        return str(bus) if what == "bus" else f"'{identifier}'"

    def head(instance: Instance) -> list[str]:
        """What a record begins with: a number of its own, or the bus of what the device hangs on and its identifier.

        Nothing for a device that no record can be of.
        """
        model = f"'{getattr(instance.device, 'dyr_record', instance.model)}'"
        if windings(instance.device):
            of = by_id[instance.ports["transformer"]]
            ends, name = [of.ports["bus1"], of.ports["bus2"]], of.id
            if windings(instance.device) > len(ends):
                legs = [f"{name[:-1]}{k}" for k in (1, 2, 3)]
                if name not in legs or any(leg not in by_id for leg in legs):
                    return []
                ends, name = [by_id[leg].ports["bus1"] for leg in legs], name[:-len("_w1")]
            buses = [str(number[end]) for end in ends]
            circuit = called.get(of.id) or called.get(of.ports["bus2"])  # of the star point, where there are three
            return [buses[0], model, *buses[1:], f"'{circuit or _identifier(name, 'TRANSFORMER' + '-'.join(buses))}'"]
        if hasattr(instance.device, "dyr_line"):
            return [f"'{dc_lines.name(instance)}'", model]
        if own := _own_number(instance, taken):
            return [str(own), model]
        bus, identifier = place(instance.id)
        return [str(bus), model, f"'{identifier}'"]

    heads = {instance.id: head(instance) for instance in records if order(instance.device)}

    @functools.cache
    def recorded(id: str) -> bool:
        """Whether a reader finds a place for a device: it has a record, and so has what it hangs on, if it must."""
        instance = by_id[id]
        return bool(heads.get(id)) and all(port.at_node or stands(instance, port) for port in instance.device.attaches)

    def stands(instance: Instance, port: Port) -> bool:
        """Whether what a device hangs on is there when the files are read, be it as the RAW file has it."""
        host = by_id[instance.ports[port]]
        plain = next((cls for kind, cls in STATIC.items() if issubclass(host.device, kind)), None)
        return recorded(host.id) or len(host.device.bus_ports()) > 1 or (
            port.node is not None and plain is not None and hangs(instance.device, port, devices[plain]))

    ends = dc_lines.ends({instance.device for instance in records})
    lost: list[str] = []
    for instance in records:
        if recorded(instance.id):
            lines += _record(instance, heads[instance.id], said, valid.frequency)
        elif heads.get(instance.id):
            lost.append(instance.id)
        elif order(instance.device) or (instance.device.declares.variables() and instance.model not in ends
                                        and not issubclass(instance.device, Node)):
            without.append(instance.id)
    if without:
        lines.append(f"// without a record of PSS/E, left out: {', '.join(without)}")
    if lost:
        lines.append(f"// on such devices, and left out with them: {', '.join(lost)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _host(instance: Instance, by_id: dict[str, Instance]) -> Instance:
    """The machine or load that a device hangs on, over others perhaps; itself, if it is one."""
    while not instance.device.attaches[0].at_bus:
        instance = by_id[next(iter(instance.ports.values()))]
    return instance


def _identifier(id: str, naming: str) -> str:
    return re.sub(r"[\s/'\",]", "-", id.removeprefix(naming).lstrip("_")) or "1"


def _own_number(instance: Instance, taken: set[tuple[str, int]]) -> int:
    """What a record begins with that does not begin with a bus: the number in its name, or the next; 0 for others."""
    if not hasattr(instance.device, "dyr_numbered"):
        return 0
    own = int(re.sub(r".*?(\d{0,9})$", r"\1", instance.id) or 0)
    while own == 0 or (instance.model, own) in taken:
        own += 1
    taken.add((instance.model, own))
    return own


def _record(instance: Instance, head: list[str], said: Callable[[Instance, str, str], str], frequency: float
            ) -> list[str]:
    """The lines of a record."""
    lines = [head[0]]
    for word in (*head[1:], *(_value(instance, entry, said, frequency) for entry in order(instance.device)), "/"):
        if len(lines[-1]) + len(word) >= WIDTH:
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines


def _value(instance: Instance, entry: str | None, said: Callable[[Instance, str, str], str], frequency: float) -> str:
    """A value as the record has it; zero for one that the model does not use."""
    name, _, unit = (entry or "").partition(" ")
    port, at, what = name.partition("@")
    if at:
        return said(instance, port, what)
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
