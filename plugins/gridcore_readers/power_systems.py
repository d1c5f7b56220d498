"""Cases of PowerSystems.jl, as it stores a system in JSON: the network, and the dynamics of its generators.

A list of components, of the types that their ``__metadata__`` say; each has a UUID, by which others name it. Powers,
and impedances of transformers that have one, are per unit of a component's own ``base_power``, all else of the
system's. :mod:`gridcore_readers.power_systems_types` says what types and fields are here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.contract import Record
from gridcore.errors import CaseError
from gridcore.registry import devices
from gridcore.suggest import suggest

from .characteristics import shares, shares_of
from .power_systems_types import BRANCHES, EXCITERS, GENERATORS, GOVERNORS, IDLE, KEPT, LOADS, MACHINES, NAMES, PARTS
from .psse import element, listed

BUSES = ("ACBus", "Bus")
KNOWN = (*BUSES, *BRANCHES, *LOADS, *GENERATORS, "Source", "FixedAdmittance", "DynamicGenerator")
CONTROL = {"REF": "slack", "SLACK": "slack", "PV": "PV", "PQ": "PQ"}
KINDS = ("impedance", "current", "constant")
ALPHA, BETA = "\N{GREEK SMALL LETTER ALPHA}", "\N{GREEK SMALL LETTER BETA}"
PAIRS = (("min", "max"), ("from", "to"), ("real", "imag"), ("up", "down"))


def case_of(path: Path, data: Mapping[str, Any], drop: Sequence[str] = (), loads: str = "") -> Case:
    """The case that a system is.

    Raises
    ------
    CaseError
        If it is malformed, or has components that there is no device for.
    """
    components = data["data"].get("components")
    if not isinstance(components, list) or not all(isinstance(one, dict) for one in components):
        raise CaseError("is no system of PowerSystems.jl: a list of components is wanted", file=str(path), row="data")
    found = [_Component(one, str(path), f"component {n}") for n, one in enumerate(components, 1)]
    return _Reader(path, _Component(data, str(path), "system"), found, drop, shares(loads)).case


class _Component:
    """One component, or a part of it."""

    def __init__(self, values: Mapping[str, Any], file: str, place: str):
        self.values, self.file, self.place = values, file, place
        metadata = values.get("__metadata__")
        self.type = str(metadata.get("type")) if isinstance(metadata, dict) else "nothing"
        name = values.get("name")
        if isinstance(name, str):
            self.place += f" ({self.type} '{name}')"

    def error(self, message: str, field: str = "") -> CaseError:
        return CaseError(message, file=self.file, row=self.place, field=field)

    def part(self, name: str) -> _Component:
        """What stands in a field."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise self.error(f"{value!r} is no component", name)
        return _Component(value, self.file, f"{self.place}, {name}")

    def number(self, name: str, default: float | None = None) -> float:
        return self._number(self.values.get(name, default), name)

    def _number(self, value: Any, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            raise self.error(f"{value!r} is not a number to calculate with", name)
        return float(value)

    def above_zero(self, name: str, default: float) -> float:
        if (value := self.number(name, default)) <= 0:
            raise self.error("must be above 0", name)
        return value

    def pair(self, name: str, default: Any = None) -> tuple[float, ...]:
        """Two numbers, which may have names."""
        value = self.values.get(name, default)
        if isinstance(value, dict):
            value = next(([value[key] for key in keys] for keys in PAIRS if set(keys) <= set(value)), None)
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise self.error(f"{self.values.get(name)!r} is no pair of numbers", name)
        return tuple(self._number(one, name) for one in value)

    def reference(self, name: str) -> str:
        """The UUID that stands in a field; nothing where it is null."""
        value = self.values.get(name)
        value = value.get("value", value) if isinstance(value, dict) else value
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(f"{value!r} does not name a component", name)
        return value

    def own(self) -> str:
        """Its own UUID."""
        internal = self.values.get("internal")
        uuid = _Component(internal, self.file, self.place).reference("uuid") if isinstance(internal, dict) else ""
        if not uuid:
            raise self.error("missing: its UUID is wanted", "internal")
        return uuid

    def status(self) -> dict[str, int]:
        off = self.values.get("available", True) is False or self.values.get("status", True) is False
        return {"status": 0} if off else {}


class _Reader:
    """Components to records."""

    def __init__(self, path: Path, system: _Component, components: list[_Component], drop: Sequence[str],
                 loads: dict[str, float]):
        units = system.part("units_settings") if "units_settings" in system.values else system
        self.base = units.above_zero("base_value" if units is not system else "base_power", 100.0)
        self.case = Case(path.stem, base_mva=self.base, frequency=system.above_zero("frequency", 60.0),
                         about={"source": f"PowerSystems.jl case {path.name}"})
        self.file, self.loads, self.count = str(path), loads, defaultdict[str, int](int)
        self.of: dict[str, list[_Component]] = defaultdict(list)
        self.by_uuid: dict[str, _Component] = {}
        self.bus: dict[str, _Component] = {}
        self.unused: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.without: list[str] = []  # generators whose machine was dropped
        for component in components:
            self.of[component.type].append(component)
            if self.by_uuid.setdefault(component.own(), component) is not component:
                raise component.error("its UUID is that of another component", "internal")
        self.types = self._types(drop)
        self._buses()
        self._network()
        for (type, name), at in self.unused.items():
            self.case.note(f"{name} of {type} has no effect here: {listed(at, 5)}")
        if self.without:
            self.case.note(f"without a machine, and so without its controls: {listed(self.without, 5)}")

    # ------------------------------------------------------------ what there is

    def _types(self, drop: Sequence[str]) -> set[str]:
        """The types that are read, of components and of parts of dynamic generators; others are refused or dropped."""
        count = {type: len(found) for type, found in self.of.items()}
        known = set(KNOWN)
        for generator in self.of["DynamicGenerator"]:
            for name, types in PARTS.items():
                known |= set(types)
                count[generator.part(name).type] = count.get(generator.part(name).type, 0) + 1
        for name in drop:
            if name not in count:
                raise CaseError(f"has no type '{name}'{suggest(name, count)}", file=self.file)
        for text, names in (("without effect here, left out", IDLE), ("left out, as asked for", drop)):
            if gone := [f"{n} {type}" for type, n in count.items() if n and type in names]:
                self.case.note(f"{text}: {', '.join(gone)}")
        missing = [type for type, n in count.items() if n and type not in {*known, *IDLE, *drop}]
        if missing:
            what = ", ".join(f"{type} ({count[type]})" for type in missing)
            raise CaseError(f"there is no device for {what}: leave them out with "
                            f"{' '.join(f'--drop {type}' for type in missing)} (drop=[...])", file=self.file)
        return known - set(drop)

    def _read(self, *types: str) -> list[_Component]:
        """The components of some types, but for those at a bus that is left out."""
        found = [one for type in types if type in self.types for one in self.of[type]]
        there = [all(bus in self.bus for bus in self._ends(one)) for one in found]
        if gone := [one.place for one, here in zip(found, there) if not here]:
            self.case.note(f"left out with their buses, which are isolated: {listed(gone, 5)}")
        return [one for one, here in zip(found, there) if here]

    def _ends(self, component: _Component) -> list[str]:
        """The UUIDs of its bus, or of both its buses."""
        at = [(component, "bus")]
        if "arc" in component.values:
            arc = self._named(component, "arc")
            at = [(arc, "from"), (arc, "to")]
        for holder, name in at:
            if self._named(holder, name).type not in BUSES:
                raise holder.error("is no bus", name)
        return [holder.reference(name) for holder, name in at]

    def _named(self, component: _Component, name: str) -> _Component:
        uuid = component.reference(name)
        if uuid not in self.by_uuid:
            raise component.error(f"there is no component {uuid or 'null'}", name)
        return self.by_uuid[uuid]

    # ------------------------------------------------------------ the network

    def _buses(self) -> None:
        numbers: set[int] = set()
        for bus in (one for type in BUSES for one in self.of[type]):
            number, kind = bus.values.get("number"), str(bus.values.get("bustype"))
            if isinstance(number, bool) or not isinstance(number, int) or number < 0 or number in numbers:
                raise bus.error(f"{number!r} is not a number of its own", "number")
            numbers.add(number)
            if kind == "ISOLATED" or bus.status():
                self.case.note(f"bus {number} is isolated, and left out")
                continue
            if kind not in CONTROL:
                raise bus.error(f"{kind!r} is none of {', '.join(CONTROL)}", "bustype")
            self.bus[bus.own()] = bus
            self._add(bus, "Bus", id=number, label=str(bus.values.get("name", number)),
                      kv=bus.above_zero("base_voltage", 1.0), Vm0=bus.number("magnitude", 1.0),
                      Va0=bus.number("angle", 0.0))

    def _number(self, uuid: str) -> int:
        return int(self.bus[uuid].values["number"])

    def _network(self) -> None:
        for branch in self._read(*BRANCHES):
            self._branch(branch)
        for shunt in self._read("FixedAdmittance"):
            g, b = shunt.pair("Y")
            self._put(shunt, "Shunt", "SHUNT", g=g, b=b)
        for load in self._read(*LOADS):
            self._load(load)
        for source in self._read("Source"):
            self._put(source, "InfiniteBus", "INF", **self._dispatch(source), R=source.number("R_th", 0.0),
                      X=source.number("X_th", 0.0))
        for generator in self._read(*GENERATORS):
            self._generator(generator)

    def _branch(self, branch: _Component) -> None:
        bus1, bus2 = (self._number(uuid) for uuid in self._ends(branch))
        scale = self.base / branch.above_zero("base_power", self.base)
        model = "Line" if branch.type in ("Line", "MonitoredLine") else "Transformer"
        id = self._id(f"{model.upper()}{bus1}-{bus2}")
        fields = {"id": id, "bus1": bus1, "bus2": bus2, **{name: branch.number(name) * scale for name in "rx"}}
        if model == "Line":
            (b1, b2), (g1, g2) = branch.pair("b", (0.0, 0.0)), branch.pair("g", (0.0, 0.0))
            fields |= {"b": 2 * b1, "g": 2 * g1}
            shunts = {2: (g2 - g1, b2 - b1)}
        else:
            fields |= {"tap": branch.above_zero("tap", 1.0), "phase": branch.number(ALPHA, 0.0)}
            whole = isinstance(branch.values.get("primary_shunt"), dict)
            g, b = branch.pair("primary_shunt") if whole else (0.0, -branch.number("primary_shunt", 0.0))
            shunts = {1: (g / scale, b / scale)}
        self._add(branch, model, **fields, **branch.status())
        for n, (g, b) in shunts.items():
            if g or b:
                self._add(branch, "Shunt", id=f"SHUNT_{id}_{n}", bus=fields[f"bus{n}"], g=g, b=b, **branch.status())

    def _load(self, load: _Component) -> None:
        scale = load.above_zero("base_power", self.base) / self.base
        if "Standard" not in load.type:
            powers = {"P0": load.number("active_power", 0.0) * scale, "Q0": load.number("reactive_power", 0.0) * scale}
            if load.type == "ExponentialLoad" and not self.loads:
                self._put(load, "Exponential", "LOAD", **powers, alpha=load.number(ALPHA), beta=load.number(BETA))
            else:
                self._put(load, "ZIP", "LOAD", **powers, **self.loads or shares("P"))
            return
        parts = {side: [load.number(f"{kind}_{word}_power", 0.0) * scale for kind in KINDS]
                 for side, word in (("p", "active"), ("q", "reactive"))}
        own = {f"{side}{kind}": share for side in parts for kind, share in zip("ZIP", shares_of(parts[side]))}
        self._put(load, "ZIP", "LOAD", P0=sum(parts["p"]), Q0=sum(parts["q"]), **self.loads or own)

    def _dispatch(self, source: _Component) -> dict[str, Any]:
        """What a source injects and holds."""
        bus, scale = self.bus[source.reference("bus")], source.above_zero("base_power", self.base) / self.base
        fields = {"control": CONTROL[bus.values["bustype"]], "V0": bus.number("magnitude", 1.0),
                  **{name: source.number(field, 0.0) * scale for name, field in (
                      ("P0", "active_power"), ("Q0", "reactive_power"))}}
        if isinstance(source.values.get("reactive_power_limits"), dict):
            low, high = source.pair("reactive_power_limits")
            fields |= {"Qmin": low * scale, "Qmax": high * scale} if low <= high else {}
        return fields

    # ------------------------------------------------------------ the dynamics

    def _generator(self, generator: _Component) -> None:
        """A machine with its controls, or a source without."""
        dispatch = self._dispatch(generator)
        dynamic = self._named(generator, "dynamic_injector") if generator.reference("dynamic_injector") else None
        machine = dynamic.part("machine") if dynamic and dynamic.type == "DynamicGenerator" else None
        if not dynamic or not machine or not {dynamic.type, machine.type} <= self.types:
            if machine:
                self.without.append(generator.place)
            self._put(generator, "StaticGenerator", "GEN", Sn=generator.above_zero("base_power", self.base), **dispatch)
            return
        id = self._put(generator, MACHINES[machine.type], "GEN", Sn=dynamic.above_zero("base_power", self.base),
                       **dispatch, **self._values(dynamic.part("shaft"), MACHINES[machine.type]),
                       **self._values(machine, MACHINES[machine.type]))
        exciter = self._control(dynamic.part("avr"), EXCITERS, "machine", id)
        self._control(dynamic.part("prime_mover"), GOVERNORS, "machine", id)
        self._control(dynamic.part("pss"), PARTS["pss"], "exciter", exciter)

    def _control(self, part: _Component, classes: Mapping[str, str], port: str, host: str) -> str:
        """Hang a control on its host, both by name."""
        model = classes[part.type] if part.type in self.types else ""
        if not model or not host:
            if model:
                self.unused[part.type, "everything"].append(part.place)
            return ""
        id = devices[model].naming.format(**{port: host})
        self._add(part, model, id=id, **{port: host}, **self._values(part, model))
        return id

    def _values(self, part: _Component, model: str) -> dict[str, float]:
        """Parameters by the names of the device class."""
        params, found = devices[model].declares.params, {}
        alike = {name.upper(): name for name in params}
        for field, value in part.values.items():
            if field in KEPT or value is None:
                continue
            plain = field.replace("_", "")
            names = NAMES.get(part.type, {}).get(field) or (plain if plain in params else alike.get(plain.upper(), ""),)
            if names == ("",) and isinstance(value, dict | list):
                stem = field.removesuffix("_lim").replace("_", "").upper()
                names = tuple(alike.get(f"{stem}{end}", "") for end in ("MIN", "MAX"))
            numbers = part.pair(field) if len(names) == 2 else (part.number(field),)
            for name, number in zip(names, numbers):
                if name in params:
                    found[name] = number
                elif number:
                    self.unused[part.type, field].append(part.place)
        if found.get("S10") == 0:
            found["S12"] = 0.0
        return found

    # ------------------------------------------------------------ records

    def _put(self, component: _Component, model: str, naming: str, **fields: Any) -> str:
        """Add a device at the bus of a component; returns its name."""
        bus = self._number(component.reference("bus"))
        id = self._id(f"{naming}{bus}")
        self._add(component, model, id=id, bus=bus, **fields, **component.status())
        return id

    def _id(self, naming: str) -> str:
        """The first at a place has the plain name, the next is the second."""
        self.count[naming] += 1
        return element(naming, str(self.count[naming]))

    def _add(self, component: _Component, model: str, **fields: Any) -> None:
        self.case.records.append(Record(model, fields, component.file, component.place))
