"""Validation: every row of a case checked against the declarations of its device, and its numbers converted."""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from ..contract import REQUIRED, Device, Node, Param, Port, Record, Source, plural
from ..errors import CaseError
from ..suggest import suggest
from .records import Case, device_of, fields_of, identify, missing
from .units import Base, convert


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
        :class:`~gridcore.contract.device.Reference`; for a time that is another event's, the address of that.
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
        near = (lambda *_: "") if found else suggest  # of those that are not told it would take minutes
        try:
            made.append(_Checker(case, by_id, record, near).instance(id))
        except CaseError as error:
            found.append(error)
    if len(found) > 1:
        found[0].args = (f"{found[0]} (and {len(found) - 1} more)",)
    if found:
        raise found[0]
    return ValidCase(float(case.base_mva), float(case.frequency), made)


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


def event_times(device: type[Device]) -> tuple[str, ...]:
    """Parameters that are the time of an event; one may be that of another event: ``t = "fault.clear"``."""
    return _rules(device).times


@dataclass(frozen=True)
class _Rules:
    """What every row of a device class is checked against."""

    fields: frozenset[str]
    ends: tuple[Port, ...]
    times: tuple[str, ...]
    delays: tuple[str, ...]
    ordered: tuple[tuple[str, str], ...]  # what is at most another
    drives: Mapping[str, tuple[str, ...]]  # inputs of the device at a port


_known: weakref.WeakKeyDictionary[type[Device], _Rules] = weakref.WeakKeyDictionary()


def _rules(device: type[Device]) -> _Rules:
    return _known.get(device) or _known.setdefault(device, _gathered(device))


def _gathered(device: type[Device]) -> _Rules:
    declared = device.declares
    drives: dict[str, tuple[str, ...]] = {}
    for item in (*declared.params.values(), *declared.variables().values()):
        port, _, target = (item.drives or "").partition(".")
        drives[port] = (*drives.get(port, ()), target)
    limits = [state.limits for state in declared.states.values() if state.limits]
    return _Rules(
        frozenset(fields_of(device)), tuple(device.node_ports()),
        tuple(dict.fromkeys(timer.at for timer in declared.timers.values())),
        tuple(guard.delay for guard in declared.guards.values() if guard.delay is not None),
        tuple((low, high) for low, high in (*limits, *[("Qmin", "Qmax")] * device.regulates)
              if low in declared.params and high in declared.params),
        drives)


def _is_number(value: Any) -> bool:
    if type(value) is float:
        return True
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and float(value) is not None
    except OverflowError:  # an integer may be beyond what a float holds
        return False


class _Checker:
    """Checks one record; knows the others by id, for its ports and its per-unit base."""

    def __init__(self, case: Case, by_id: Mapping[str, Record], record: Record, near: Callable[..., str] = suggest):
        self.case, self.by_id, self.record, self.near = case, by_id, record, near
        self.device, self.fields = record.device, record.fields
        self.rules = _rules(self.device)

    def instance(self, id: str) -> Instance:
        declared, rules = self.device.declares, self.rules
        for key in self.fields:
            if key not in rules.fields:
                raise self.record.error(
                    "this is found at initialisation, or driven by another device, and not given in a case"
                    if key in declared.setpoints or key in declared.inputs
                    else f"a {self.record.model} has no such field{self.near(key, fields_of(self.device))}", key)
        ports = {port: self._port(port) for port in self.device.attaches}
        for n, port in enumerate(rules.ends):
            for other in rules.ends[:n]:
                if ports[port] == ports[other]:
                    raise self.record.error(f"'{ports[port]}' is {other} too: the ends are different "
                                            f"{plural(port.kind)}", port)
        words = {key: self._word(key) for key in declared.fields}
        words |= {key: self._address(key) for key in declared.references}
        words |= {key: time for key in rules.times if (time := self._other_time(key))}
        values = {key: self._value(key, param) for key, param in declared.params.items()}
        wrong = self.device.check(values)
        if wrong:
            raise self.record.error(wrong)
        for low, high in rules.ordered:
            if not values[low] <= values[high]:
                raise self.record.error(f"{values[low]:g} must be at most {high} = {values[high]:g}", low)
        for delay in rules.delays:
            if values[delay] < 0:
                raise self.record.error(f"{values[delay]:g} is a delay and must be at least 0", delay)
        return Instance(id, self.device, values, words, ports, self.record, self._in_service())

    def _in_service(self) -> bool:
        value = self.fields.get("status", 1)
        if not _is_number(value) or value not in (0, 1):
            raise self.record.error(f"{value!r} must be 1 (in service) or 0 (out of service at t0)", "status")
        return bool(value)

    def _port(self, port: Port) -> str:
        if port not in self.fields:
            raise self.record.error(missing(self.device, port), port)
        value = self.fields[port]
        id = port.id_of(value)
        if not isinstance(id, str):
            raise self.record.error(f"{value!r} is not the id of a device: write it in quotes", port)
        host = self.by_id.get(id)
        if host is None or not port.accepts(device_of(host)):
            other = device_of(host).attaches[:1] if host and port.at_node else ()
            if host and other and host.device.naming == port.node.naming != self.device.naming:
                return _Checker(self.case, self.by_id, host)._port(other[0])  # it is another name of the node there
            there = (i for i, r in self.by_id.items() if port.accepts(device_of(r)))
            raise self.record.error(f"there is no {port.kind} '{id}'{self.near(id, there)}", port)
        for target in self.rules.drives.get(port, ()):
            if target not in host.device.declares.inputs:
                raise self.record.error(f"'{id}' is a {host.model}, which has no input {target} to drive"
                                        f"{self.near(target, host.device.declares.inputs)}", port)
        return id

    def _address(self, key: str) -> str:
        """The address of a parameter, ``GEN1.P0``, that a :class:`~gridcore.contract.device.Reference` names."""
        value = self.fields.get(key)
        if not isinstance(value, str):
            raise self.record.error(missing(self.device, key), key)
        id, _, name = value.rpartition(".")
        if id not in self.by_id:
            raise self.record.error(f"there is no device '{id}'{self.near(id, self.by_id)}", key)
        device = self.by_id[id].device
        known = [*device.declares.params, *device.declares.inputs, *device.declares.setpoints]
        if name not in known:
            raise self.record.error(f"'{id}' is a {device.__name__}, which has no parameter "
                                    f"'{name}'{self.near(name, known)}", key)
        if name in event_times(device):
            raise self.record.error(f"{value} is the time of an event, which stands when the run begins", key)
        return value

    def _word(self, key: str) -> str:
        declared = self.device.declares.fields[key]
        value = self._given(key, declared.default)
        allowed = " or ".join(declared.choices) or "a word in quotes"
        if not isinstance(value, str) or (declared.choices and value not in declared.choices):
            raise self.record.error(f"{value!r} must be {allowed}", key)
        return value

    def _given(self, key: str, default: Any) -> Any:
        value = self.fields.get(key, default)
        if value is REQUIRED:
            raise self.record.error(missing(self.device, key), key)
        return value

    def _value(self, key: str, param: Param) -> float:
        value = self._given(key, param.default)
        if key not in self.fields:
            return float(self.case.base_mva if value == "base_mva" else value)
        if isinstance(value, str):
            if key in self.rules.times and (other := self._other_time(key)):
                id, _, name = other.rpartition(".")
                of = self.by_id[id]
                return _Checker(self.case, self.by_id, of)._value(name, of.device.declares.params[name])
            try:
                number = convert(value, param.unit, self._base(key))
            except CaseError as error:
                raise self.record.error(str(error), key) from None
        elif _is_number(value):
            number = float(value)
        else:
            raise self.record.error(f"{value!r} must be a number", key)
        never = number > 0 and key in (*self.rules.times, *self.rules.delays)  # as the time of an event
        if not (math.isfinite(number) or number == param.default or never):
            raise self.record.error(f"{value!r} must be finite", key)
        if allowed := param.refuses(number):
            raise self.record.error(f"{value!r} must be {allowed}", key)
        return number

    def _other_time(self, key: str) -> str | None:
        """The address of the event time that a time is said to be, ``t = "fault.clear"``; None where it is a number."""
        value, address, seen = self.fields.get(key), None, [(id(self.record), key)]
        while isinstance(value, str):
            device, _, name = value.rpartition(".")
            record = self.by_id.get(device)
            if record is None or name not in event_times(record.device):
                break
            if (id(record), name) in seen:
                raise self.record.error(f"{value!r} is in the end itself: give one of them a number", key)
            seen.append((id(record), name))
            address, value = value, record.fields.get(name)
        return address

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
            if issubclass(device_of(chain), Node):
                kv = self._number(chain, "kv", "kV")
                break
            if mva is None and "Sn" in chain.device.declares.params:
                mva = self._number(chain, "Sn", "MVA") or system
            ports = chain.device.attaches
            chain = self.by_id.get(str(ports[0].id_of(chain.fields.get(ports[0])))) if ports else None
        return Base(mva or system, kv, self.case.frequency)

    def _number(self, record: Record, key: str, unit: str) -> float | None:
        """Another field, as far as it can be read; what is wrong with it is told at its own turn."""
        value = record.fields.get(key)
        if isinstance(value, str):
            with contextlib.suppress(CaseError):
                return convert(value, unit, Base(self.case.base_mva, None, self.case.frequency))
        return float(value) if value is not None and _is_number(value) and value > 0 else None
