"""PSS/E dynamic data files (``.dyr``): machines, their controls and dynamic loads, added to a power-flow case.

Which values a model has, and in which order, is said by its device class (``dyr``), whatever plugin has it; where its
record goes follows from what it is:

* a source takes the place of the generator at the bus with that identifier, a load that of the load;
* anything else hangs on what it drives there: an exciter and a governor on the machine, a stabilizer on the
  device that has the input for its signal, the exciter; a relay on the machine or load that its port is for;
* where the record says by a bus and an identifier among its values what else a device hangs on, their entries in
  ``dyr`` are ``"port@bus"`` and ``"port@id"``; of a branch they are ``"port@from"``, ``"port@to"`` and
  ``"port@circuit"``, and the device has a parameter ``end``. A class that stands for the records of a model in which
  that bus is not zero, or for all of another name, says that name (``dyr_record``); one whose records begin with a
  number that is no bus, and with no identifier, says so (``dyr_numbered``), and so does one that stands for a whole
  family of load models (``dyr_family``); one whose records have other names, too, says them (``dyr_also``), and one of
  which there are shorter records of another order what to do with these (``dyr_fewer``);
* a class of tap changers says of how many windings (``dyr_tap``), ``bus 'MODEL' bus [bus] circuit values... /``;
* one of two-terminal lines for direct current takes the place of the sources at both ends: see
  :mod:`gridcore_readers.dc_lines`.

No model is put in place of another unless the user says so.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.contract import REQUIRED, Bus, Device, Field, Load, Port, Record, Source
from gridcore.errors import CaseError, DeviceError
from gridcore.registry import devices
from gridcore.suggest import suggest

from . import dc_lines, power_sources
from .characteristics import exponents
from .dyr_text import Key, Model, read_models
from .load_groups import breadth, family, holds
from .monitored import monitored
from .power_flow_files import PowerFlowFiles
from .psse import element, listed, real
from .raw import UNKNOWN
from .recordings import read_recordings
from .tap_changers import Controls, called, windings
from .tolerance import mend
from .transfer import transfers


def available() -> dict[str, type[Device]]:
    """The device classes that say the order of their record, by model."""
    found = {name.upper(): devices[name] for name in devices if order(devices[name])}
    found = {getattr(cls, "dyr_record", name): cls for name, cls in found.items()} | found
    found = {other: found[name] for other, name in spellings().items()} | found
    return {model: cls for name, own in found.items() for model, cls in family(name, own).items()}


def spellings() -> dict[str, str]:
    """Other names of records (``dyr_also``), and the one of each by which it is written."""
    return {other.upper(): getattr(devices[name], "dyr_record", name).upper() for name in devices
            for other in getattr(devices[name], "dyr_also", ())}


def order(cls: type[Device]) -> tuple[str | None, ...]:
    """What a record has after bus, model and id, by the class attribute ``dyr``; nothing where there is none.

    An entry is the name of a parameter or field, ``"TI cycles"`` where the record's unit is not the declared one,
    ``"port@bus"`` and the like where it says what the device hangs on, or None for a value that it does not use.
    """
    return getattr(cls, "dyr", ())


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
    extension = Extension(case, path, available(), loads, tolerate)
    extension.add(_chosen(case, path, models, substitute or {}, drop))
    read_recordings(case)
    if tolerate:
        mend(case)


def _chosen(case: Case, path: Path, models: list[Model], substitute: Mapping[str, str], drop: Sequence[str]
            ) -> list[Model]:
    """The records without those to drop, and with the models to substitute; both are noted."""
    names = {model.name for model in models}
    other = {model.upper(): name.upper() for model, name in substitute.items()}
    for name in (*drop, *substitute):
        if name.upper() not in names and name not in (*UNKNOWN, *power_sources.SECTIONS):
            raise CaseError(f"has no model '{name}'{suggest(name, sorted(names))}", file=str(path))
    gone = {name.upper() for name in drop}
    for said, which in (("left out, as asked for", gone), ("read as {}, as asked for", set(other))):
        for name in sorted(which & names):
            at = [model.bus for model in models if model.name == name]
            case.note(f"{name} {said.format(other.get(name))}: {len(at)} records, buses {listed(at)}")
    own = spellings()
    for model in models:
        model.name = other.get(model.name, model.name)
    models = [model for model in models if model.name not in gone]
    for model in models:
        model.name = own.get(model.name, model.name)
    return models


class Extension:
    """Puts models into a case."""

    def __init__(self, case: Case, path: Path, classes: Mapping[str, type[Device]], loads: str, tolerate: bool):
        self.case, self.path, self.classes, self.loads, self.tolerate = case, path, classes, loads, tolerate
        self.others: dict[str, list[str]] = defaultdict(list)
        for name, cls in classes.items():
            if (record := getattr(cls, "dyr_record", name)) != name:
                self.others[record].append(name)
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
        self.files = PowerFlowFiles()
        self.controls = Controls(self.files)

    def add(self, models: list[Model]) -> None:
        """All of them, hosts before what hangs on them."""
        self._refuse_unknown(models)
        models = [model for model in models if self._tried(self._count, model)]
        models = self._meant(models)
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
        if models and {id(model) for model in self.strangers}.issuperset(map(id, models)):
            raise CaseError("no record belongs to a generator or load of the case: is it the DYR file of another?",
                            file=str(self.path), row=models[0].place)
        self._notes()

    def _meant(self, models: list[Model]) -> list[Model]:
        """The records that are meant: of the class that their values ask for, and one for each load.

        What is said of one load goes before what is said of all of a bus, and that before what is said of more.
        """
        meant: list[Model] = []
        taken: set[tuple[type[Device], Key]] = set()

        def loads(model: Model) -> int:
            cls = self.classes[model.name]
            return 2 * breadth(model.name, cls) + (model.identifier == "*" and _for_loads(cls))

        for model in sorted(models, key=loads):
            cls = self.classes[model.name]
            model.name = max((model.name, *self.others[model.name]), key=lambda name: self._says(model, name))
            each, kind = [model], Load if issubclass(cls, Load) else cls
            if loads(model):
                keys = self._loads(model, cls)
                each = [replace(model, bus=bus, identifier=identifier) for bus, identifier in keys
                        if (kind, (bus, identifier)) not in taken]
                self.strangers += [] if keys else [model]
            if _for_loads(cls):
                taken |= {(kind, one.key) for one in each}
            meant += each
        return meant

    def _says(self, model: Model, name: str) -> tuple[int, int]:
        """How much of what a class hangs on a record says, and then how little else the class wants."""
        cls = self.classes[name]
        said = [entry for entry, word in zip(order(cls), model.values) if word.strip("0.") and (entry or "").endswith(
            ("@bus", "@from"))]
        return len(said), -len(cls.attaches)

    def _loads(self, model: Model, cls: type[Device]) -> list[Key]:
        """The loads that a record of more than one is for."""
        try:
            return [key for id, n in self.place.items() if (key := self._load(id)) and model.identifier in ("*", key[1])
                    and holds(self.files, model.name, cls, model.bus, key[0], self.case.records[n], id)]
        except CaseError as error:
            raise self.error(model, str(error)) from None

    def _load(self, id: str) -> Key | None:
        """Bus and identifier of a load of the power flow; None for anything else."""
        record = self.case.records[self.place[id]]
        bus: Any = record.fields.get("bus")
        return (bus, id.removeprefix(f"LOAD{bus}").lstrip("_") or "1") if issubclass(record.device, Load) else None

    def _refuse_unknown(self, models: list[Model]) -> None:
        missing: dict[str, list[int]] = defaultdict(list)
        self.strangers += [model for model in models if model.named and not _of_line(self.classes.get(model.name))]
        models[:] = [model for model in models if not model.named or _of_line(self.classes.get(model.name))]
        for model in models:
            if model.name not in self.classes:
                if model.bus in self.buses:
                    missing[model.name].append(model.bus)
                else:
                    self.strangers.append(model)
        models[:] = [model for model in models if model.name in self.classes]
        if missing:
            what = "; ".join(f"{name} ({len(buses)} records, buses {listed(buses)})" for name, buses in missing.items())
            if self.tolerate:
                self.case.note(f"left out, as tolerated: there is no device for {what}")
                return
            near = {name: difflib.get_close_matches(name, self.classes, 1, 0.8) for name in missing}
            example = next((f"{name}={match[0]}" for name, match in near.items() if match), "MODEL=OTHER")
            drop = " ".join(f"--drop {name}" for name in missing)
            raise CaseError(f"there is no device for {what}. Leave them out with {drop}, or read one as another that "
                            f"has the same values with --substitute {example} (load_case: drop=[...], "
                            "substitute={...})", file=str(self.path))

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
            raise self.error(model, f"'{id}' is a {old.model} already")
        values = self.values(model, cls)
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
        if windings(cls):
            return self._regulate(model, cls)
        if _of_line(cls):
            return dc_lines.replaces(self, model, cls)
        ports: dict[str, Any] = {}
        for port in cls.attaches:
            if f"{port}@from" in order(cls):
                ports |= self._branch(model, cls, port)
                continue
            key = self._at(model, cls, port)
            ports[port] = key[0] if port.at_bus else self._host(key, cls, port)
            if ports[port] is None or key[0] not in self.buses:
                return False
        for target in _drives(cls, None):
            port, _, name = target.partition(".")
            first = self.driving.setdefault((str(ports[port]), name), model)
            if first is not model:
                raise self.error(model, f"{first.place} drives {ports[port]}.{name} already")
        numbered = {"id": f"{cls.__name__}{model.bus}"} if hasattr(cls, "dyr_numbered") else {}
        record = Record(cls.__name__, {**numbered, **ports, **self.values(model, cls)}, str(self.path), model.place)
        id = (cls.naming or cls.__name__).format(**record.fields)
        for each in (record, *transfers(self, model, cls, id)):
            self.case.add(each)
        self.hosts[model.key].append((id, cls))
        return True

    def _regulate(self, model: Model, cls: type[Device]) -> bool:
        """Hang a tap changer on its transformer; False where that is not there."""
        found = {id: self.case.records[self.place[id]] for id in called(model.bus, model.identifier, cls)
                 if id in self.place}
        if not found:
            return False
        try:
            control = self.controls.of(found)
        except CaseError as error:
            raise self.error(model, str(error)) from None
        self.case.add(Record(cls.__name__, {**control, **self.values(model, cls)}, str(self.path), model.place))
        return True

    def _at(self, model: Model, cls: type[Device], port: Port) -> Key:
        """Bus and identifier of what stands at a port: those of the record, if its values do not say others."""
        said = dict(zip(order(cls), model.values))
        try:
            bus = int(said.get(f"{port}@bus") or 0) or model.bus
        except ValueError:
            raise self.error(model, f"{said[f'{port}@bus']!r} is not the number of a bus", port) from None
        if f"{port}@bus" in said and f"{port}@id" not in said and not port.at_bus:  # the only one of its class there
            return next((key for key, there in self.hosts.items() if key[0] == bus and any(
                port.accepts(host) for _, host in there)), (bus, model.identifier))
        return bus, said.get(f"{port}@id", model.identifier)

    def _branch(self, model: Model, cls: type[Device], port: str) -> dict[str, Any]:
        """The branch of a record, and the end at which it measures."""
        said = dict(zip(order(cls), model.values))
        start, end, circuit = (said[f"{port}@{what}"] for what in ("from", "to", "circuit"))
        try:
            found = monitored(self.place, int(start), int(end), circuit)
        except ValueError:
            raise self.error(model, f"{start!r} and {end!r} must be numbers of buses", port) from None
        if found is None:
            raise self.error(model, f"there is no branch {start}-{end} with the circuit '{circuit.strip()}'", port)
        return {port: found[0], "end": found[1]}

    def _host(self, key: Key, cls: type[Device], port: Port) -> str | None:
        """What has the inputs which a device drives, of the class that its port wants, at a bus and identifier."""
        there = list(self.hosts.get(key, ()))
        if port.node:  # such a port may be for a generator or load without a record
            ids = [id for naming in ("GEN", "LOAD") if (id := element(f"{naming}{key[0]}", key[1])) in self.place]
            there += [(id, self.case.records[self.place[id]].device) for id in ids]
        return next((id for id, host in there if hangs(cls, port, host)), None)

    def _count(self, model: Model) -> bool:
        """A record has no more values than its model, and those that it leaves out have defaults."""
        cls = self.classes[model.name]
        if hasattr(cls, "dyr_numbered"):
            model.values.insert(0, model.identifier)
        if _of_line(cls) and not model.named:  # of which a name without quotes is a number
            model.values.insert(0, model.identifier)
            model.identifier = str(model.bus)
        if windings(cls):
            further = windings(cls) - 1
            ends = [model.identifier, *model.values[:further], "1"]
            model.identifier, model.values = " ".join(ends[:further + 1]), model.values[further:]
        words, names = model.values, [(entry or "").partition(" ")[0] for entry in order(cls)]
        declared = cls.declares.params | cls.declares.fields
        for name in names:
            if name and "@" not in name and name not in declared:
                raise DeviceError(f"{cls.__name__}: dyr: {name!r} is not a Param or Field")
        model.values = words[:len(names)] + [""] * (len(names) - len(words))
        left = [name for name, word in zip(names, model.values) if name and not word]
        missing = [name for name in left if (name.partition("@")[0] in cls.attaches if "@" in name
                                             else declared[name].default is REQUIRED)]
        if len(words) > len(names) or missing:
            if not self.tolerate:
                many = f"the record has {len(words)} values, a {model.name} {len(names)}"
                if not missing:
                    raise self.error(model, f"{many}; these are too many (--tolerate ignores the last)")
                instead = getattr(cls, "dyr_fewer", "--tolerate takes zero")
                raise self.error(model, f"missing: {many}, and there is no default for {', '.join(missing)} "
                                         f"({instead})", missing[0])
            self.unlike[model.name].append(model.bus)
            model.values = [word or "0" * (name in missing) for name, word in zip(names, model.values)]
        for name in left:
            if name not in missing and "@" not in name:
                self.omitted[model.name, name].append(model.bus)
        return True

    def values(self, model: Model, cls: type[Device]) -> dict[str, float | str]:
        """The fields of a device that its record gives."""
        values: dict[str, float | str] = {**model.further}
        for n, (entry, word) in enumerate(zip(order(cls), model.values)):
            name, _, unit = (entry or "").partition(" ")
            if "@" in name:
                continue
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
                raise self.error(model, f"{word!r} is not a number", name)
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

    def error(self, model: Model, message: str, field: str = "") -> CaseError:
        return CaseError(message, file=str(self.path), row=model.place, field=field)

    def _alone(self, model: Model) -> bool:
        """Whether what a record is for is not there: a generator or load, or anything that it might hang on."""
        cls = self.classes.get(model.name)
        return cls is None or issubclass(cls, (Source, Load)) or not self.hosts.get(model.key)

    def _notes(self) -> None:
        """What was not used, and which generators have no machine now."""
        for why, alone in (("what they act on is not in the case", True),
                           ("nothing there has the inputs that they drive", False)):
            which = defaultdict(list)
            for model in self.strangers:
                if self._alone(model) == alone:
                    which[model.name].append(f"{model.bus} '{model.identifier}'".removeprefix("0 " * model.named))
            if which:
                what = "; ".join(f"{name} at {listed(at, 5)}" for name, at in which.items())
                self.case.note(f"{self.path.name}: {sum(map(len, which.values()))} records skipped, for {why}: {what}")
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


def _of_line(cls: type[Device] | None) -> bool:
    """Whether a class is one of lines for direct current, whose records begin with the name of one."""
    return hasattr(cls, "dyr_line")


def _for_loads(cls: type[Device]) -> bool:
    """Whether a class is one of loads, or for some to hang on."""
    return issubclass(cls, Load) or any(port.node and issubclass(port.node, Load) for port in cls.attaches)


def hangs(cls: type[Device], port: Port, host: type[Device]) -> bool:
    """Whether a device of a class can hang on one of another at a port: what it drives there is among the inputs."""
    driven = {target.partition(".")[2] for target in _drives(cls, port)}
    return port.accepts(host) and driven <= set(host.declares.inputs)


def _drives(cls: type[Device], port: str | None) -> list[str]:
    """``port.input`` of all that a class drives, or through one port."""
    declared = cls.declares
    targets = [item.drives for item in (*declared.params.values(), *declared.variables().values()) if item.drives]
    return [target for target in targets if "." in target and (port is None or target.partition(".")[0] == port)]
