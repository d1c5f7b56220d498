"""Cases: the records of devices that make up a system; edited, named and validated.

A :class:`Case` holds rows as they were written: a value may still be ``"163 MW"``, a name may be missing.
:func:`.validation.validate` makes instances of them. Nothing in a case is ever executed.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from ..contract import Device, Node, Param, Port, Record
from ..errors import CaseError
from ..registry import registries as plugins
from ..suggest import suggest
from .addresses import Address, is_pattern, matching, patterns_of, split

_ID = re.compile(r"[^\s.*?\[\]]+")


@dataclass(repr=False)
class Case:
    """A system as data: base quantities and a list of records.

    Parameters
    ----------
    name, title : str
    base_mva : float
        Power base of the system (MVA).
    frequency : float
        Nominal frequency (Hz).
    about : dict
        Free text by heading: source, licence, remarks.
    records : list of Record
    notes : list of str
        What the reader of a file left out or decided, one sentence each; kept as text in ``about["notes"]``.
    """

    name: str
    title: str = ""
    base_mva: float = 100.0
    frequency: float = 60.0
    about: dict[str, str] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    notes: list[str] = field(default_factory=list, compare=False)

    def note(self, text: str) -> None:
        """Add to the notes."""
        self.notes.append(text)
        self.about["notes"] = "\n".join(filter(None, (self.about.get("notes"), text)))

    def add(self, record: Record | str, /, **fields: Any) -> Record:
        """Append a record, and return it: ``case.add("Line", bus1=1, bus2=2, x=0.1)``, or a Record as it is."""
        if isinstance(record, str):
            record = Record(record, fields)
        elif fields or not isinstance(record, Record):
            raise CaseError(f"{record!r} is no model: write add('Line', bus1=1, bus2=2, x=0.1)")
        self.records.append(record)
        return record

    add_event = add
    table = plugins.AsMethod("table")
    buses = property(lambda self: self.table("Bus"), doc="The buses, as a table of pandas.")

    def of(self, model: str) -> list[Record]:
        """The records of one model."""
        found = [record for record in self.records if record.model == model]
        if not found:
            plugins.devices[model]  # a name that no device has is an error, not an empty list
        return found

    def ids(self) -> list[str]:
        """The id of every record, given or by its model's naming, in the order of `records`."""
        return identify(self.records)

    _ipython_key_completions_ = ids
    _repr_html_ = plugins.AsMethod("html")

    def __getitem__(self, id: str) -> Record:
        ids = self.ids()
        if id not in ids:
            raise CaseError(f"case '{self.name}' has no '{id}'{suggest(id, ids)}")
        return self.records[ids.index(id)]

    def __contains__(self, id: object) -> bool:
        return id in self.ids()

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def remove(self, id: str) -> None:
        """Take a record out. What refers to it is then found by :func:`validate`."""
        gone = self[id]
        self.records = [record for record in self.records if record is not gone]

    def set(self, name: Address, value: Any) -> None:
        """Give one field a value: ``case.set("GEN2.H", 6.4)``, or ``"6400 ms"``; of a pattern all that it matches."""
        address, = patterns_of([name])
        if is_pattern(address):
            fields = {f"{id}.{key}": (record, key) for id, record in zip(self.ids(), self.records, strict=True)
                      for key in fields_of(record.device)[1:]}
            for record, key in map(fields.__getitem__, matching(address, fields, "field")):
                record.fields[key] = value
            return
        id, key = split(address, "field")
        record = self[id]
        known = fields_of(record.device)
        if key not in known:
            raise record.error(f"a {record.model} has no such field{suggest(key, known)}", key)
        record.fields[key] = value

    def copy(self) -> Case:
        """An independent copy."""
        return Case(self.name, self.title, self.base_mva, self.frequency, dict(self.about),
                    [Record(r.model, dict(r.fields), r.file, r.row) for r in self.records], list(self.notes))

    def __repr__(self) -> str:
        count = Counter(record.model for record in self.records)
        what = ", ".join(f"{n} {model}" for model, n in count.items()) or "empty"
        return f"<Case '{self.name}': {what}; {self.base_mva:g} MVA, {self.frequency:g} Hz>"


def device_of(record: Record) -> type[Device]:
    """The class of a record; no more than a device, if no plugin has it: that is told at its own turn."""
    return record.device if record.model in plugins.devices else Device


def identify(records: list[Record]) -> list[str]:
    """The id of every record: the one that it gives, or by the device's ``naming``, where a name that is taken already
    gets ``_2``, ``_3``, ... in order of the records.

    It is a CaseError if two records give one id (both rows are named), or an id is not a word.
    """
    given: dict[str, Record] = {}
    ids: list[str] = []
    for record in records:
        id = _given_id(record)
        if id in given:
            raise record.error(f"'{id}' is already the id of {given[id].row or repr(given[id])}; "
                               "ids are unique in a case", "id")
        if id:
            given[id] = record
        ids.append(id)
    taken = dict.fromkeys(given, 1)
    for n, record in enumerate(records):
        if ids[n]:
            continue
        name = id = _default_id(record)
        while id in taken:
            taken[name] += 1
            id = f"{name}_{taken[name]}"
        taken[id] = 1
        ids[n] = id
    return ids


def _given_id(record: Record) -> str:
    id, device = record.fields.get("id", ""), device_of(record)
    if issubclass(device, Node):
        id = device.id_of(id)
    elif not isinstance(id, str):
        raise record.error(f"{id!r} is not a name: write it in quotes", "id")
    if id and not _ID.fullmatch(id):
        raise record.error(f"{id!r} must be one word without dots, spaces, * ? [ ]", "id")
    if not id and issubclass(device, Node):
        raise record.error(f"missing: a {device.kind} needs a number or a name", "id")
    return id


def _default_id(record: Record) -> str:
    device, fields = record.device, dict(record.fields)
    naming = device.naming or record.model
    for port in device.node_ports():
        if port in fields:  # bus = "BUS7" names as bus = 7 does
            fields[port] = port.short(fields[port])
    for key in _named(naming):
        if key not in fields:
            raise record.error(missing(device, key), key)
    return naming.format(**fields)


@functools.cache
def _named(naming: str) -> tuple[str, ...]:
    return tuple(key for _, key, _, _ in Formatter().parse(naming) if key)


def fields_of(device: type[Device]) -> list[str]:
    """The fields that a row of this device may have."""
    declared = device.declares
    status = [] if issubclass(device, Node) else ["status"]
    return ["id", *device.attaches, *declared.references, *declared.fields, *declared.params, *status]


def missing(device: type[Device], key: str) -> str:
    """What to say of a required field that is not there."""
    declared = device.declares.params.get(key) or device.declares.fields.get(key)
    if key in device.declares.references:
        return "missing: a parameter is wanted, as 'GEN1.P0'"
    if declared is None:
        port = next((port for port in device.attaches if port == key), Port(key))
        return f"missing: {'a' if port.at_node else 'the id of a'} {port.kind} is wanted"
    what = declared.doc or ("a number" if isinstance(declared, Param) else "a word")
    return f"missing: {what}" + (f" ({declared.unit})" if declared.unit else "")
