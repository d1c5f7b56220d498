"""PSS/E dynamic data files (``.dyr``): machines, their controls and dynamic loads, added to a power-flow case.

Siemens PTI, PSS/E Program Operation Manual, "Dynamics model raw data file contents": records ``bus 'MODEL' id
values... /``, over any number of lines, what follows a slash being a comment. Which values a model has, and in
which order, is said by its device class (``dyr``), whatever plugin has it; where it goes follows from what it is:

* a source takes the place of the generator at the bus with that identifier, a load that of the load;
* anything else hangs on what it drives there: an exciter and a governor on the machine, a stabilizer on the
  device that has the input for its signal, the exciter.

No model is put in place of another unless the user says so.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.contract import REQUIRED, Bus, Device, Field, Load, Record, Source
from gridcore.errors import CaseError, DeviceError
from gridcore.registry import devices
from gridcore.suggest import suggest

from . import sources
from .characteristics import exponents
from .psse import element, listed, real, split
from .raw import DIRECT, UNKNOWN
from .tolerance import mend

Key = tuple[int, str]
#: bus 'USRMDL' id 'NAME' IC IT NI NC NS NV, NI + NC values: where the name stands, and how much before the values.
USER = {"USRMDL": 3, "USRLOD": 3, "USRBUS": 2}
USER_HEAD = 7
_NEXT = re.compile(r"\s*\d+[\s,]+'")
_BEGIN = re.compile(r"\s*[+-]?\d+(?:[\s,]|$)")  # of a record: the number of a bus
_NUMBERS = re.compile(r"[\s\d.,eEdD+*-]*$")


@dataclass
class Model:
    """One record: a model at the machine or load of a bus.

    Attributes
    ----------
    bus : int
    name : str
        The model, in capitals.
    identifier : str
    values : list of str
    line : int
        Where the record begins.
    further : dict
        Parameters that the device has and a DYR record has not.
    """

    bus: int
    name: str
    identifier: str
    values: list[str]
    line: int
    further: dict[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What identifies a machine or a load: bus and identifier."""
        return self.bus, self.identifier

    @property
    def place(self) -> str:
        """For errors."""
        return f"{self.name} at bus {self.bus} '{self.identifier}' (line {self.line})"


def available() -> dict[str, type[Device]]:
    """The device classes that say the order of their record, by model."""
    return {name.upper(): devices[name] for name in devices if order(devices[name])}


def order(cls: type[Device]) -> tuple[str | None, ...]:
    """What a record has after bus, model and id, by the class attribute ``dyr``; nothing where there is none.

    An entry is the name of a parameter or field, ``"TI cycles"`` where the record's unit is not the declared one, or
    None for a value that the model does not use.
    """
    return getattr(cls, "dyr", ())


def read_models(path: Path) -> tuple[list[Model], list[str]]:
    """The records of a file, and notes on what is no record of a model.

    Raises
    ------
    CaseError
        If the file ends within a record, or a record is malformed: file and line.
    """
    models, skipped = [], []
    for line, words in _records(path):
        if not re.fullmatch(r"[+-]?\d{1,18}", words[0]):
            skipped.append(f"line {line}: '{words[0]}' is not the number of a bus, and the record is skipped")
            continue
        if len(words) < 3:
            raise CaseError("a record is 'bus, model, id, values /'", file=str(path), row=f"line {line}")
        name, identifier, values = words[1].upper(), words[2], words[3:]
        at = USER.get(name, 0)
        if at and len(words) >= at + USER_HEAD:
            name, identifier, values = words[at].upper(), words[2] if at > 2 else "1", words[at + USER_HEAD:]
        models.append(Model(int(words[0]), name, identifier, values, line))
    return models, skipped


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, words) of everything that a slash ends."""
    file = str(path)
    text = sources.text(path, errors="replace")
    words: list[str] = []
    began, remark = 0, False
    for number, line in enumerate(text.splitlines(), 1):
        rest: str | None = line
        within, remark = remark, not words and _remark(line, remark)
        if remark and "/" not in line:  # whoever forgot the slash before a remark did not mean the next record
            if not within:
                yield number, line.split()[:1]
            continue
        while rest is not None:
            try:
                found, rest = split(rest, blanks=True)
            except CaseError as error:
                if remark:
                    break
                raise CaseError(str(error), file=file, row=f"line {number}") from None
            if found and not words:
                began = number
            words += found
            if rest is None:
                break
            if words:
                yield began, words
            words = []
            if not _NEXT.match(rest):  # a comment, unless it can only be the next record
                break
    if words:
        raise CaseError("the file ends within this record: no '/'", file=file, row=f"line {began}")


def _remark(line: str, within: bool) -> bool:
    """Whether a line that should begin a record does not: it has no number of a bus, or goes on with such lines."""
    return bool(line.strip()) and (not _BEGIN.match(line) or (within and bool(_NUMBERS.match(line))))


def extend(case: Case, path: Path, *, substitute: Mapping[str, str] | None = None, drop: Sequence[str] = (),
           loads: str = "", tolerate: bool = False) -> None:
    """Add the dynamic models of a file to a case.

    Parameters
    ----------
    case : Case
        Generators and loads named as the readers name them: ``GEN7`` is the one with identifier 1 at bus 7,
        ``GEN7_2`` that with identifier 2.
    path : Path
    substitute : mapping of str to str, optional
        ``{model: other}``: read the records of one model as those of another, which has the same values.
    drop : sequence of str
        Models to leave out.
    loads : str
        Characteristic that generators without a machine are given with the loads: see
        :func:`gridcore_readers.characteristics.shares`.
    tolerate : bool
        Read values that are not given and have no default as zero, ignore those that are too many or make no sense,
        and leave out what cannot be read at all, with a note for each.

    Raises
    ------
    CaseError
        If there is no device for a model (all of them are listed), a record is malformed, or none belongs to the
        case.
    """
    models, skipped = read_models(path)
    for note in skipped:
        case.note(f"{path.name} {note}")
    attach(case, path, models, substitute=substitute, drop=drop, loads=loads, tolerate=tolerate)


def attach(case: Case, path: Path, models: list[Model], *, substitute: Mapping[str, str] | None, drop: Sequence[str],
           loads: str, tolerate: bool) -> None:
    """Add records that were read to a case; the parameters are those of :func:`extend`."""
    extension = _Extension(case, path, available(), loads, tolerate)
    extension.add(_chosen(case, path, models, substitute or {}, drop))
    if tolerate:
        mend(case)


def _chosen(case: Case, path: Path, models: list[Model], substitute: Mapping[str, str], drop: Sequence[str]
            ) -> list[Model]:
    """The records without those to drop, and with the models to substitute; both are noted."""
    names = {model.name for model in models}
    other = {model.upper(): name.upper() for model, name in substitute.items()}
    for name in (*drop, *substitute):
        if name.upper() not in names and name not in (*UNKNOWN, *DIRECT):
            raise CaseError(f"has no model '{name}'{suggest(name, sorted(names))}", file=str(path))
    gone = {name.upper() for name in drop}
    for said, which in (("left out, as asked for", gone), ("read as {}, as asked for", set(other))):
        for name in sorted(which & names):
            at = [model.bus for model in models if model.name == name]
            case.note(f"{name} {said.format(other.get(name))}: {len(at)} records, buses {listed(at)}")
    for model in models:
        model.name = other.get(model.name, model.name)
    return [model for model in models if model.name not in gone]


class _Extension:
    """Puts models into a case."""

    def __init__(self, case: Case, path: Path, classes: Mapping[str, type[Device]], loads: str, tolerate: bool):
        self.case, self.path, self.classes, self.loads, self.tolerate = case, path, classes, loads, tolerate
        self.place = {id: n for n, id in enumerate(case.ids())}
        self.buses = {record.fields.get("id") for record in case if record.model == "Bus"}
        self.buses |= {int(Bus.short(record.fields["id"])) for record in case if record.model == "JoinedBus"}
        self.hosts: dict[Key, list[tuple[str, type[Device]]]] = defaultdict(list)
        self.driving: dict[tuple[str, str], Model] = {}
        self.strangers: list[Model] = []
        self.unused: dict[tuple[str, int], list[int]] = defaultdict(list)
        self.unlike: dict[str, list[int]] = defaultdict(list)
        self.omitted: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.unsaturated: list[int] = []

    def add(self, models: list[Model]) -> None:
        """All of them, hosts before what hangs on them."""
        self._refuse_unknown(models)
        models = [model for model in models if self._tried(self._count, model)]
        guests = []
        for model in models:
            cls = self.classes[model.name]
            if issubclass(cls, (Source, Load)):
                self._tried(self._take_place, model)
            else:
                guests.append(model)
        while guests:
            left = [model for model in guests if not self._tried(self._hang, model)]
            if len(left) == len(guests):
                self.strangers += left
                break
            guests = left
        if models and len(self.strangers) == len(models):
            raise CaseError("no record belongs to a generator or load of the case: is it the DYR file of another?",
                            file=str(self.path), row=models[0].place)
        self._notes()

    def _refuse_unknown(self, models: list[Model]) -> None:
        missing: dict[str, list[int]] = defaultdict(list)
        for model in models:
            if model.name not in self.classes and model.bus in self.buses:
                missing[model.name].append(model.bus)
        if missing:
            what = "; ".join(f"{name} ({len(buses)} records, buses {listed(buses)})" for name, buses in missing.items())
            near = {name: difflib.get_close_matches(name, self.classes, 1, 0.8) for name in missing}
            example = next((f"{name}={match[0]}" for name, match in near.items() if match), "MODEL=OTHER")
            drop = " ".join(f"--drop {name}" for name in missing)
            raise CaseError(f"there is no device for {what}. Leave them out with {drop}, or read one as another that "
                            f"has the same values with --substitute {example} (load_case: drop=[...], "
                            "substitute={...})", file=str(self.path))
        unknown = [model for model in models if model.name not in self.classes]
        self.strangers += unknown
        models[:] = [model for model in models if model.name in self.classes]

    def _tried(self, do: Callable[[Model], bool], model: Model) -> bool:
        """Do something about a record; where that is an error and tolerated, it is noted and over."""
        try:
            return do(model)
        except CaseError as error:
            if not self.tolerate:
                raise
            self.case.note(f"left out, as tolerated: {error}")
            return do != self._count

    def _take_place(self, model: Model) -> bool:
        """A machine in place of a generator, a dynamic load in place of a load: what the case says of it is kept."""
        cls = self.classes[model.name]
        naming = "GEN" if issubclass(cls, Source) else "LOAD"
        id = element(f"{naming}{model.bus}", model.identifier)
        old = self.case.records[self.place[id]] if id in self.place else None
        if old is None or old.fields.get("bus") != model.bus:
            self.strangers.append(model)
            return True
        here = self.hosts[model.key]
        if any(issubclass(host, Source) == issubclass(cls, Source) for _, host in here) or (
                naming == "GEN" and old.device.source):
            raise self._error(model, f"'{id}' is a {old.model} already")
        values = self._values(model, cls)
        declared = cls.declares
        kept = {key: value for key, value in old.fields.items() if key not in values
                and (key in ("id", "status", *cls.attaches) or key in declared.fields or key in declared.params)}
        if "id" not in kept and cls.naming != old.device.naming:
            kept["id"] = id
        self.case.records[self.place[id]] = Record(cls.__name__, {**kept, **values}, str(self.path), model.place)
        here.append((id, cls))
        return True

    def _hang(self, model: Model) -> bool:
        """Hang a device on what it drives; False where that is not there yet."""
        cls = self.classes[model.name]
        ports: dict[str, Any] = {}
        for port in cls.attaches:
            ports[port] = model.bus if port.at_bus else self._host(model, cls, port)
        if None in ports.values() or model.bus not in self.buses:
            return False
        for target in _drives(cls, None):
            port, _, name = target.partition(".")
            first = self.driving.setdefault((str(ports[port]), name), model)
            if first is not model:
                raise self._error(model, f"{first.place} drives {ports[port]}.{name} already")
        record = Record(cls.__name__, {**ports, **self._values(model, cls)}, str(self.path), model.place)
        id = (cls.naming or cls.__name__).format(**record.fields)
        self.case.add(record)
        self.hosts[model.key].append((id, cls))
        return True

    def _host(self, model: Model, cls: type[Device], port: str) -> str | None:
        """The device at the same bus and identifier that has the inputs which this one drives."""
        wanted = {target.partition(".")[2] for target in _drives(cls, port)}
        found = [id for id, host in self.hosts.get(model.key, ()) if wanted <= set(host.declares.inputs)]
        return found[0] if found else None

    def _count(self, model: Model) -> bool:
        """A record has no more values than its model, and those that it leaves out have defaults."""
        cls, words = self.classes[model.name], model.values
        names = [(entry or "").partition(" ")[0] for entry in order(cls)]
        declared = cls.declares.params | cls.declares.fields
        for name in names:
            if name and name not in declared:
                raise DeviceError(f"{cls.__name__}: dyr: {name!r} is not a Param or Field")
        model.values = words[:len(names)] + [""] * (len(names) - len(words))
        left = [name for name, word in zip(names, model.values) if name and not word]
        missing = [name for name in left if declared[name].default is REQUIRED]
        if len(words) > len(names) or missing:
            if not self.tolerate:
                many = f"the record has {len(words)} values, a {model.name} {len(names)}"
                if not missing:
                    raise self._error(model, f"{many}; these are too many (--tolerate ignores the last)")
                raise self._error(model, f"missing: {many}, and there is no default for {', '.join(missing)} "
                                         "(--tolerate takes zero)", missing[0])
            self.unlike[model.name].append(model.bus)
            model.values = [word or "0" * (name in missing) for name, word in zip(names, model.values)]
        for name in left:
            if name not in missing:
                self.omitted[model.name, name].append(model.bus)
        return True

    def _values(self, model: Model, cls: type[Device]) -> dict[str, float | str]:
        values: dict[str, float | str] = {**model.further}
        for n, (entry, word) in enumerate(zip(order(cls), model.values)):
            name, _, unit = (entry or "").partition(" ")
            if not word:
                param = cls.declares.params.get(name)
                values |= {name: param.default} if param and param.default != "base_mva" else {}
                continue
            number = self._number(word)
            if not name:
                if number:
                    self.unused[model.name, n + 1].append(model.bus)
            elif isinstance(cls.declares.fields.get(name), Field):
                values[name] = word if isinstance(number, str) else f"{number:g}"
            elif isinstance(number, str):
                raise self._error(model, f"{word!r} is not a number", name)
            else:
                values[name] = f"{number!r} {unit}" if unit else number
        if values.get("S10") == 0 != values.get("S12", 0):  # PSS/E computes no saturation from such a pair
            values["S12"] = 0.0
            self.unsaturated.append(model.bus)
        return values

    @staticmethod
    def _number(word: str) -> float | str:
        try:
            return real(word)
        except ValueError:
            return word

    def _error(self, model: Model, message: str, field: str = "") -> CaseError:
        return CaseError(message, file=str(self.path), row=model.place, field=field)

    def _notes(self) -> None:
        """What was not used, and which generators have no machine now."""
        if self.strangers:
            which = defaultdict(list)
            for model in self.strangers:
                which[model.name].append(f"{model.bus} '{model.identifier}'")
            what = "; ".join(f"{name} at {listed(at, 5)}" for name, at in which.items())
            self.case.note(f"{self.path.name}: {len(self.strangers)} records skipped, for what they act on is not in "
                           f"the case: {what}")
        for (name, n), buses in self.unused.items():
            self.case.note(f"{self.path.name}: value {n} of {name} has no effect here: buses {listed(buses)}")
        for name, buses in self.unlike.items():
            self.case.note(f"{self.path.name}: values of {name} that are not given are zero where there is no "
                           f"default, those beyond its last ignored, as tolerated: buses {listed(buses)}")
        for (name, value), buses in self.omitted.items():
            declared = self.classes[name].declares.params | self.classes[name].declares.fields
            self.case.note(f"{self.path.name}: {value} of {name} is not given, and its default, "
                           f"{declared[value].default}: buses {listed(buses)}")
        if self.unsaturated:
            self.case.note(f"{self.path.name}: S(1.0) = 0 is no saturation, whatever S(1.2), as PSS/E has it: buses "
                           f"{listed(self.unsaturated)}")
        static = [record for record in self.case if record.model == "StaticGenerator"]
        for record in static:
            record.fields |= exponents(self.loads)
        at = [record.fields["bus"] for record in static if record.fields.get("status", 1)]
        if at:
            how = f"are negative loads ({self.loads})" if self.loads else "inject constant power"
            self.case.note(f"{len(at)} generators in service have no machine model and {how}: buses {listed(at)}")


def _drives(cls: type[Device], port: str | None) -> list[str]:
    """``port.input`` of all that a class drives, or through one port."""
    declared = cls.declares
    targets = [item.drives for item in (*declared.params.values(), *declared.variables().values()) if item.drives]
    return [target for target in targets if "." in target and (port is None or target.partition(".")[0] == port)]
