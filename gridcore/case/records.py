"""Cases: the records of devices that make up a system; edited, named and validated.

A :class:`Case` holds rows as they were written: a value may still be ``"163 MW"``, a name may be
missing. :func:`validate` turns it into a :class:`ValidCase`, where every row is an
:class:`Instance` with its device class, its id, numbers in the declared units, and ports that
lead somewhere. Nothing in a case is ever executed.
"""

from __future__ import annotations

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from string import Formatter
from typing import Any

from ..contract.device import REQUIRED, Device, Param
from ..contract.injectors import Source
from ..errors import CaseError, PluginError
from ..registry import registries as plugins
from ..suggest import suggest
from .units import Base, convert

BUS = "Bus"
_ID = re.compile(r"[^\s.*?\[\]]+")
_SAYS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "gt": ("greater than", operator.gt), "ge": ("at least", operator.ge),
    "lt": ("less than", operator.lt), "le": ("at most", operator.le)}


@dataclass(repr=False)
class Record:
    """One row of a case: a device model and its fields, as they were given.

    Calling a device class makes one: ``gc.BusFault(bus=7, t=0.1, clear=0.183)``.

    Parameters
    ----------
    model : str
        Name of the device class.
    fields : dict
        Parameters, words and ports by name, and ``id`` where it has one.
    file, row : str
        Where it was read from (``"Line row 3 (line 27)"``), for error messages.
    """

    model: str
    fields: dict[str, Any]
    file: str = field(default="", compare=False)
    row: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"{self.model}({', '.join(f'{k}={v!r}' for k, v in self.fields.items())})"

    @property
    def device(self) -> type[Device]:
        """The class of that name, whichever plugin has it."""
        try:
            return plugins.devices[self.model]
        except PluginError as error:
            raise self.error(str(error)) from None

    def error(self, message: str, field: str = "") -> CaseError:
        """An error that says where this record stands."""
        return CaseError(message, file=self.file, row=self.row or repr(self), field=field)


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

    def add(self, record: Record) -> Record:
        """Append a record, and return it."""
        self.records.append(record)
        return record

    add_event = add

    def of(self, model: str) -> list[Record]:
        """The records of one model."""
        found = [record for record in self.records if record.model == model]
        if not found:
            plugins.devices[model]  # a name that no device has is an error, not an empty list
        return found

    def ids(self) -> list[str]:
        """The id of every record, given or by its model's naming, in the order of `records`."""
        return identify(self.records)

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

    def set(self, name: str, value: Any) -> None:
        """Give one field a value: ``case.set("GEN2.H", 6.4)``, or ``"6400 ms"``."""
        id, _, key = name.rpartition(".")
        record = self[id]
        known = _fields(record.device)
        if key not in known:
            raise record.error(f"a {record.model} has no such field{suggest(key, known)}", key)
        record.fields[key] = value

    def copy(self) -> Case:
        """An independent copy."""
        return Case(self.name, self.title, self.base_mva, self.frequency, dict(self.about),
                    [Record(r.model, dict(r.fields), r.file, r.row) for r in self.records])

    def __repr__(self) -> str:
        count: dict[str, int] = defaultdict(int)
        for record in self.records:
            count[record.model] += 1
        what = ", ".join(f"{n} {model}" for model, n in count.items()) or "empty"
        return f"<Case '{self.name}': {what}; {self.base_mva:g} MVA, {self.frequency:g} Hz>"


def bus_id(value: Any) -> str:
    """The id of a bus given by number or name: 7 is ``BUS7``."""
    return f"BUS{value}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def identify(records: list[Record]) -> list[str]:
    """The id of every record.

    One that a record gives stands; the others follow the device's ``naming``, and a name that is
    taken already gets ``_2``, ``_3``, ... in order of the records.

    Raises
    ------
    CaseError
        If two records give one id (both rows are named), or an id is not a word.
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
    id = record.fields.get("id", "")
    if record.model == BUS:
        id = bus_id(id)
    elif not isinstance(id, str):
        raise record.error(f"{id!r} is not a name: write it in quotes", "id")
    if id and not _ID.fullmatch(id):
        raise record.error(f"'{id}' must be one word without dots, spaces, * ? [ ]", "id")
    if not id and record.model == BUS:
        raise record.error("missing: a bus needs a number or a name", "id")
    return id


def _default_id(record: Record) -> str:
    naming = record.device.naming or record.model
    fields = dict(record.fields)
    for port in record.device.bus_ports():
        if isinstance(fields.get(port), str):  # bus = "BUS7" names as bus = 7 does
            fields[port] = re.sub(r"^BUS(?=\d+$)", "", fields[port])
    for _, key, _, _ in Formatter().parse(naming):
        if key and key not in fields:
            raise record.error(_missing(record.device, key), key)
    return naming.format(**fields)


# ---------------------------------------------------------------- validation


@dataclass(frozen=True)
class Instance:
    """A validated record.

    Parameters
    ----------
    id : str
    device : type
        The device class.
    values : dict
        Every :class:`~gridcore.contract.device.Param`, in its declared unit, defaults filled in.
    words : dict
        Every :class:`~gridcore.contract.device.Field`, and the address in every
        :class:`~gridcore.contract.device.Reference`.
    ports : dict
        Port -> id of the bus or device there, in order of ``attaches``.
    record : Record
        What it was made from; ``record.error`` says where that stands.
    in_service : bool
        Whether it, with what hangs on it, is in service at t0: ``status`` of a record.
    """

    id: str
    device: type[Device]
    values: dict[str, float]
    words: dict[str, str]
    ports: dict[str, str]
    record: Record
    in_service: bool = True

    @property
    def model(self) -> str:
        """Name of the device class."""
        return self.record.model


@dataclass(frozen=True)
class ValidCase:
    """A case whose every value has been checked and converted."""

    name: str
    title: str
    base_mva: float
    frequency: float
    records: list[Instance]

    def of(self, model: str) -> list[Instance]:
        """The instances of one model."""
        return [instance for instance in self.records if instance.model == model]


def validate(case: Case) -> ValidCase:
    """Check a case against the declarations of its devices.

    Raises
    ------
    CaseError
        With file, row and field of what is wrong, and what would be right. Where several rows
        are wrong the first is told, and how many more there are.
    """
    for name in ("base_mva", "frequency"):
        value = getattr(case, name)
        if not _is_number(value) or not 0 < value < math.inf:
            raise CaseError(f"{value!r} must be a number above 0", row=f"case '{case.name}'", field=name)
    ids = identify(case.records)
    by_id = dict(zip(ids, case.records, strict=True))
    found: list[CaseError] = []
    made: list[Instance] = []
    for id, record in by_id.items():
        try:
            made.append(_Checker(case, by_id, record).instance(id))
        except CaseError as error:
            found.append(error)
    if not found:
        return ValidCase(case.name, case.title, float(case.base_mva), float(case.frequency), made)
    first = found[0]
    if len(found) > 1:
        first.args = (f"{first} (and {len(found) - 1} more)",)
    raise first


def validate_again(case: Case, before: Sequence[Instance], changed: Collection[int]) -> list[Instance]:
    """The instances of a validated case after values of some records, by number, were changed.

    Only these are checked, and those that give a value as text: what it amounts to may depend on the rating or the
    voltage of another. A number stands for itself.

    Raises
    ------
    CaseError
        As from :func:`validate`.
    """
    by_id = {instance.id: record for instance, record in zip(before, case.records, strict=True)}
    return [_Checker(case, by_id, record).instance(instance.id)
            if number in changed or any(isinstance(record.fields.get(key), str) for key in instance.values)
            else replace(instance, record=record)
            for number, (instance, record) in enumerate(zip(before, case.records, strict=True))]


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and float(value) is not None
    except OverflowError:  # an integer may be beyond what a float holds
        return False


def _fields(device: type[Device]) -> list[str]:
    """The fields that a row of this device may have."""
    declared = device.declares
    status = [] if device.__name__ == BUS else ["status"]
    return ["id", *device.attaches, *declared.references, *declared.fields, *declared.params, *status]


def _missing(device: type[Device], key: str) -> str:
    """What to say of a required field that is not there."""
    declared = device.declares.params.get(key) or device.declares.fields.get(key)
    if key in device.declares.references:
        return "missing: a parameter is wanted, as 'GEN1.P0'"
    if declared is None:
        return f"missing: {'a bus' if key.startswith('bus') else 'the id of a device'} is wanted"
    what = declared.doc or ("a number" if isinstance(declared, Param) else "a word")
    return f"missing: {what}" + (f" ({declared.unit})" if declared.unit else "")


def _bounds(param: Param) -> str:
    return " and ".join(f"{_SAYS[kind][0]} {bound:g}" for kind, bound in param.bounds.items())


class _Checker:
    """Checks one record; knows the others by id, for its ports and its per-unit base."""

    def __init__(self, case: Case, by_id: Mapping[str, Record], record: Record):
        self.case, self.by_id, self.record = case, by_id, record
        self.device, self.fields = record.device, record.fields

    def instance(self, id: str) -> Instance:
        known = _fields(self.device)
        for key in self.fields:
            if key not in known:
                raise self.record.error(self._unknown(key, known), key)
        ports = {port: self._port(port) for port in self.device.attaches}
        self._two_ends(ports)
        words = {key: self._word(key) for key in self.device.declares.fields}
        words |= {key: self._address(key) for key in self.device.declares.references}
        values = {key: self._value(key, param) for key, param in self.device.declares.params.items()}
        wrong = self.device.check(values)
        if wrong:
            raise self.record.error(wrong)
        return Instance(id, self.device, values, words, ports, self.record, self._in_service())

    def _in_service(self) -> bool:
        value = self.fields.get("status", 1)
        if not _is_number(value) or value not in (0, 1):
            raise self.record.error(f"{value!r} must be 1 (in service) or 0 (out of service at t0)", "status")
        return bool(value)

    def _unknown(self, key: str, known: list[str]) -> str:
        declared = self.device.declares
        if key in declared.setpoints or key in declared.inputs:
            return "this is found at initialisation, or driven by another device, and not given in a case"
        return f"a {self.record.model} has no such field{suggest(key, known)}"

    def _port(self, port: str) -> str:
        if port not in self.fields:
            raise self.record.error(_missing(self.device, port), port)
        value = self.fields[port]
        bus = port.startswith("bus")
        id = bus_id(value) if bus else value
        if not isinstance(id, str):
            raise self.record.error(f"{value!r} is not the id of a device: write it in quotes", port)
        host = self.by_id.get(id)
        if host is None or (host.model == BUS) != bus:
            there = [i for i, r in self.by_id.items() if (r.model == BUS) == bus]
            kind = "bus" if bus else "device"
            raise self.record.error(f"there is no {kind} '{id}'{suggest(id, there)}", port)
        for item in (*self.device.declares.params.values(), *self.device.declares.variables().values()):
            at, _, target = (item.drives or "").partition(".")
            if at == port and target not in host.device.declares.inputs:
                raise self.record.error(f"'{id}' is a {host.model}, which has no input {target} to drive"
                                        f"{suggest(target, host.device.declares.inputs)}", port)
        return id

    def _two_ends(self, ports: Mapping[str, str]) -> None:
        buses = self.device.bus_ports()
        for n, port in enumerate(buses):
            for other in buses[:n]:
                if ports[port] == ports[other]:
                    raise self.record.error(f"'{ports[port]}' is {other} too: the ends are different buses", port)

    def _address(self, key: str) -> str:
        """The address of a parameter, ``GEN1.P0``, that a :class:`~gridcore.contract.device.Reference` names."""
        value = self.fields.get(key)
        if not isinstance(value, str):
            raise self.record.error(_missing(self.device, key), key)
        id, _, name = value.rpartition(".")
        if id not in self.by_id:
            raise self.record.error(f"there is no device '{id}'{suggest(id, self.by_id)}", key)
        device = self.by_id[id].device
        known = [*device.declares.params, *device.declares.inputs, *device.declares.setpoints]
        if name not in known:
            raise self.record.error(f"'{id}' is a {device.__name__}, which has no parameter "
                                    f"'{name}'{suggest(name, known)}", key)
        return value

    def _word(self, key: str) -> str:
        declared = self.device.declares.fields[key]
        value = self.fields.get(key, declared.default)
        if value is REQUIRED:
            raise self.record.error(_missing(self.device, key), key)
        allowed = " or ".join(declared.choices) or "a word in quotes"
        if not isinstance(value, str) or (declared.choices and value not in declared.choices):
            raise self.record.error(f"{value!r} must be {allowed}", key)
        return value

    def _value(self, key: str, param: Param) -> float:
        value = self.fields.get(key, param.default)
        if value is REQUIRED:
            raise self.record.error(_missing(self.device, key), key)
        if key not in self.fields:
            return float(self.case.base_mva if value == "base_mva" else value)
        if isinstance(value, str):
            try:
                number = convert(value, param.unit, self._base(key))
            except CaseError as error:
                raise self.record.error(str(error), key) from None
        elif _is_number(value):
            number = float(value)
        else:
            raise self.record.error(f"{value!r} must be a number", key)
        if math.isnan(number) or (math.isinf(number) and not self._may_be_infinite(key, param, number)):
            raise self.record.error(f"{value!r} must be finite", key)
        if not all(_SAYS[kind][1](number, bound) for kind, bound in param.bounds.items()):
            raise self.record.error(f"{value!r} must be {_bounds(param)}", key)
        return number

    def _may_be_infinite(self, key: str, param: Param, number: float) -> bool:
        """Infinity means no limit where that is the default, and never where it is a time of an event."""
        if isinstance(param.default, float) and math.isinf(param.default):
            return True
        times = {timer.at for timer in self.device.declares.timers.values()}
        times |= {guard.delay for guard in self.device.declares.guards.values() if guard.delay}
        return key in times and number > 0

    def _base(self, key: str) -> Base:
        """The per-unit base of a field.

        The rating ``Sn`` of the device or of what it hangs on, else the system's; a source's dispatch
        and reactive limits are on the system's base.
        """
        system = self.case.base_mva
        mva: float | None = system if key in Source.declares.params else None
        kv = None
        chain: Record | None = self.record
        for _ in range(len(self.by_id)):  # ends even where devices hang on each other in a ring
            if chain is None:
                break
            if chain.model == BUS:
                kv = self._number(chain, "kv", "kV")
                break
            if mva is None and "Sn" in chain.device.declares.params:
                mva = self._number(chain, "Sn", "MVA") or system
            ports = chain.device.attaches
            chain = self.by_id.get(bus_id(chain.fields.get(ports[0]))) if ports else None
        return Base(mva or system, kv, self.case.frequency)

    def _number(self, record: Record, key: str, unit: str) -> float | None:
        """Another field, as far as it can be read; what is wrong with it is told at its own turn."""
        value = record.fields.get(key)
        if isinstance(value, str):
            return convert(value, unit, Base(self.case.base_mva, None, self.case.frequency))
        return float(value) if value is not None and _is_number(value) and value > 0 else None
