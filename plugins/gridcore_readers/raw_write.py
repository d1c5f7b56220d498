"""Power-flow files of PSS/E (``.raw``) from a case, in version 33 or 35: its static network and dispatch.

Layout and defaults are those of :mod:`gridcore_readers.raw_tables`; every number is written so that reading it gives
each bit back. Three transformers between buses and a star point, as the reader makes them, are one of three windings.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gridcore.case import Case, Instance, validate
from gridcore.contract import Load
from gridcore.errors import CaseError

from . import dc_lines, tap_changers
from .characteristics import shares_of
from .inverse import inverse, inverse_of_all
from .raw import PV, SLACK
from .raw_tables import AUTHOR, BEYOND, COLUMNS, DC_TERMINAL, IMPEDANCE, WINDING, layout, sections
from .schedules import scheduled
from .transformers import SMALLEST

PQ = 1
NO_LIMIT = 9999.0  # Mvar
OLD, NEW = 33, 35
JOINED = "JoinedBus"
Values = dict[str, Any]


def write(case: Case, path: Path, *, version: int = 0) -> None:
    """Write the static network; what a RAW file has no place for (machines' dynamics, events) is left out.

    Parameters
    ----------
    case : Case
    path : Path
    version : int
        33 or 35; if not given, 35 for a case that was read from a file of version 34 or later, or has lines that PSS/E
        would take for none unless it is told a smaller threshold.

    Raises
    ------
    CaseError
        If it has a branch of another kind than lines and transformers.
    """
    read = re.search(r"PSS/E .* version (\d\d)$", case.about.get("source", ""))
    writer = _Writer(case, version or (NEW if read and int(read[1]) > OLD else OLD))
    if not version and any(abs(x) <= SMALLEST for x in writer.lossless):
        writer = _Writer(case, NEW)
    path.write_text(writer.text(case.title), encoding="utf-8")


def identifiers(case: Case) -> dict[str, str]:
    """What a RAW file of the case calls its elements, beside their buses; nothing where there can be no such file."""
    try:
        return _Writer(case, OLD).identifiers
    except CaseError:
        return {}


class _Writer:
    """A case as the rows of sections; `identifiers` are those of elements in them."""

    def __init__(self, case: Case, version: int):
        valid = validate(case)
        self.base, self.frequency, self.version = valid.base_mva, valid.frequency, version
        records = [at_own_buses(instance) for instance in valid.records]
        self.number = numbers_of_buses(records)
        self.rows: dict[str, list[str]] = defaultdict(list)
        self.taken: defaultdict[tuple[Any, ...], set[str]] = defaultdict(set)
        self.identifiers: dict[str, str] = {}
        self.branches = {i.id: i for i in records if i.model in ("Line", "Transformer")}
        self.lossless = [i.values["x"] for i in records if i.model == "Line" and i.values["r"] == 0]
        self.shunts: dict[str, Values] = defaultdict(dict)
        self.kind = kinds(records)
        self.buses = {instance.id: instance for instance in records if instance.model == "Bus"}
        self.voltage = self.buses | {i.id: self.buses[i.ports["bus"]] for i in records if i.model == JOINED}
        self.controls = {i.ports["transformer"]: tap_changers.columns(i, self.number) for i in records
                         if tap_changers.windings(i.device)}
        self.ends = {i.ports["line"]: i for i in records if i.model in dc_lines.ends({i.device for i in records})}
        direct = {i.id for i in records if i.id in self.ends and hasattr(i.device, "dyr_line") and i.in_service}
        direct |= {self.ends[line].id for line in direct}  # which are rows of their own
        self.scheduled = scheduled(case, [i for i in records if i.id not in direct])
        self.stars: list[tuple[Instance, list[Instance], list[Any]]] = []
        legs = self._stars(records)
        for instance in [instance for instance in records if not self._at_branch(instance)]:
            if instance.id not in legs:
                self._add(instance)
        for star in self.stars:
            self._star(*star)

    def _at_branch(self, instance: Instance) -> bool:
        """Whether a shunt is part of a line or of a transformer in the file; it is added there."""
        if instance.model != "Shunt":
            return False
        of = re.fullmatch(r"SHUNT_(LINE.+)_[^_]+|MAG(.+)", instance.id)
        names = [] if not of else [of[1]] if of[1] else [f"TRANSFORMER{of[2]}", f"TRANSFORMER{of[2]}_w1"]
        branch = next((self.branches[name] for name in names if name in self.branches), None)
        ends = [branch.ports["bus1"], branch.ports["bus2"]] if branch else []
        bus = instance.ports["bus"]
        if branch is None or branch.in_service != instance.in_service:
            return False
        if bus not in ends[:2 if branch.model == "Line" else 1]:
            return False
        end = "IJ"[ends.index(bus)]
        columns = (f"G{end}", f"B{end}") if branch.model == "Line" else ("MAG1", "MAG2")
        self.shunts[branch.id] |= dict(zip(columns, (instance.values["g"], instance.values["b"])))
        return True

    def _stars(self, records: list[Instance]) -> set[str]:
        """Write transformers of three windings; returns the star points and the three legs of each."""
        used = Counter(id for instance in records for id in instance.ports.values())
        done: set[str] = set()
        for star in self.buses.values():
            legs = [self.branches.get(f"TRANSFORMER{star.id.removeprefix('STAR')}_w{k}") for k in (1, 2, 3)]
            if not star.id.startswith("STAR") or used[star.id] != len(legs) or None in legs:
                continue
            found = [leg for leg in legs
                     if leg and leg.ports["bus2"] == star.id and not (leg.values["g"] or leg.values["b"])]
            if len(found) != len(legs):
                continue
            z = [self._between([leg.values[part] for leg in found]) for part in "rx"]
            if None not in z and sum(leg.in_service for leg in found) >= len(legs) - 1:
                self.stars.append((star, found, z))
                done |= {star.id, *(leg.id for leg in found)}
        return done

    @staticmethod
    def _between(legs: list[float]) -> list[float] | None:
        """Between two of three windings each, what is read as these legs; None where the last bit is not to be had."""
        def reading(z: Sequence[float]) -> object:
            return [(z[0] + z[2] - z[1]) / 2, (z[0] + z[1] - z[2]) / 2, (z[1] + z[2] - z[0]) / 2]

        found = inverse_of_all(reading, legs, [legs[0] + legs[1], legs[1] + legs[2], legs[2] + legs[0]])
        return found if reading(found) == legs else None

    def _star(self, star: Instance, legs: list[Instance], z: list[Any]) -> None:
        """A transformer of three windings."""
        ends = [self.number[leg.ports["bus1"]] for leg in legs]
        out = [k for k, leg in enumerate(legs) if not leg.in_service]
        identifier = self._identifier(("transformer", *sorted(ends)), star.id, "STAR" + "-".join(map(str, ends)))
        self._put("transformer", {"I": ends[0], "J": ends[1], "K": ends[2], "CKT": identifier,
                                  **self.shunts[legs[0].id], "STAT": (4, 2, 3)[out[0]] if out else 1})
        pairs = {f"{part}{pair}": value for part, values in zip("RX", z)
                 for pair, value in zip(("1-2", "2-3", "3-1"), values)}
        angle = star.values["Va0"]
        self._put("transformer", {**pairs, **dict.fromkeys(("SBASE1-2", "SBASE2-3", "SBASE3-1"), self.base), "VMSTAR":
                                  star.values["Vm0"], "ANSTAR": inverse(math.radians, angle, math.degrees(angle))},
                  IMPEDANCE)
        for leg in legs:
            self._winding(leg)

    def _winding(self, leg: Instance) -> None:
        degrees = inverse(math.radians, leg.values["phase"], math.degrees(leg.values["phase"]))
        self._put("transformer", {"WINDV": leg.values["tap"], "NOMV": 0.0, "ANG": degrees,
                                  **self.controls.get(leg.id, {})}, WINDING)

    def text(self, title: str) -> str:
        """The file."""
        name = " ".join(title.split()).removeprefix("@!")
        lines = [f"0, {_number(self.base)}, {self.version}, 0, 1, {_number(self.frequency)} / {AUTHOR}", name, ""]
        before = "SYSTEM-WIDE"
        if self.version == NEW:
            least = min([SMALLEST, *(abs(x) / 2 for x in self.lossless)])
            lines.append(f"GENERAL, THRSHZ={least:g}, PQBRAK=0.7")
        there = sections(self.version)
        for section in there:
            if section != there[0] or self.version == NEW:
                lines.append(f"0 / END OF {before} DATA, BEGIN {section.upper()} DATA")
            lines += self.rows[section]
            before = section.upper()
        return "\n".join([*lines, f"0 / END OF {before} DATA", "Q", ""])

    def _add(self, instance: Instance) -> None:
        if instance.model == "Bus":
            self._bus(instance)
        elif instance.model == JOINED:
            self._joined(instance)
        elif instance.model == "Shunt":
            self._shunt(instance)
        elif instance.model == "Line":
            self._line(instance)
        elif instance.model == "Transformer":
            self._transformer(instance)
        elif instance.device.regulates:
            self._generator(instance)
        elif issubclass(instance.device, Load):
            self._load(instance)
        elif instance.id in self.scheduled:
            self._injection(instance, self.scheduled[instance.id])
        elif instance.id in self.ends:
            self._line_for_direct_current(instance)
        elif len(instance.device.bus_ports()) > 1:
            raise instance.record.error(f"a RAW file has no branch like a {instance.model}")

    def _put(self, section: str, values: Values, columns: str = "") -> None:
        """A row, up to the last value that is given."""
        names = {name: place for name, place in layout(columns or COLUMNS[section], self.version).items()
                 if place[0] < BEYOND}
        last = max(names[name][0] for name in values if name in names)
        words = [""] * (last + 1)
        for name, (position, default) in names.items():
            if position <= last:
                words[position] = _word(name, values.get(name, default or ""))
        self.rows[section].append(",".join(words))

    def _identifier(self, place: tuple[Any, ...], id: str, naming: str) -> str:
        """What follows the plain name of an element: ``A`` of ``LOAD7_A``; else a number that is free."""
        plain = "1" if id == naming else id.removeprefix(naming + "_") if id.startswith(naming + "_") else ""
        taken = self.taken[place]
        if not plain or plain in taken or "'" in plain:
            plain = next(str(n) for n in range(1, len(taken) + 2) if str(n) not in taken)
        taken.add(plain)
        self.identifiers[id] = plain
        return plain

    def _scaled(self, value: float) -> float:
        """MW or Mvar."""
        return inverse(lambda x: x / self.base, value, value * self.base)

    def _bus(self, bus: Instance) -> None:
        of = self.voltage[bus.id]
        values, degrees = of.values, math.degrees(of.values["Va0"])
        label = bus.words.get("label") or ("" if re.fullmatch(r"BUS\d+", bus.id) else bus.id)
        self._put("bus", {"I": self.number[bus.id], "NAME": label,
                          "BASKV": values["kv"] if "kv" in of.record.fields else 0.0, "IDE": self.kind.get(bus.id, PQ),
                          "VM": values["Vm0"], "VA": inverse(math.radians, values["Va0"], degrees)})

    def _joined(self, bus: Instance) -> None:
        """A bus of its own, and a branch without impedance to the one that it is one with."""
        ends = [self.number[bus.id], self.number[bus.ports["bus"]]]
        self._bus(bus)
        self._put("branch", {"I": ends[0], "J": ends[1], "CKT": self._identifier(("branch", *sorted(ends)), "", ""),
                             "R": 0.0, "X": 0.0, "ST": 1})

    def _load(self, load: Instance) -> None:
        bus, values = load.ports["bus"], load.values
        Vm, number = self.voltage[bus].values["Vm0"], self.number[bus]
        fields: Values = {"I": number, "ID": self._identifier(("load", number), load.id, f"LOAD{number}"),
                          "STATUS": int(load.in_service)}
        for side, total in (("p", values["k"] * values["P0"]), ("q", values["k"] * values["Q0"])):
            sign = 1.0 if side == "p" else -1.0  # of YQ, which is capacitive
            parts = tuple(values.get(f"{side}{kind}", float(kind == "P")) for kind in "ZIP")

            def reading(x: Any, side: str = side, sign: float = sign) -> object:
                powers = [0.0 + sign * x[0] * Vm ** 2, x[1] * Vm, x[2]]
                return sum(powers) / self.base, shares_of(powers)

            guess = [sign * parts[0] * total * self.base / Vm ** 2, parts[1] * total * self.base / Vm,
                     parts[2] * total * self.base]
            found = inverse_of_all(reading, (total, parts), guess)
            fields |= dict(zip((f"Y{side}".upper(), f"I{side}".upper(), f"{side}L".upper()), found))
        self._put("load", fields)

    def _shunt(self, shunt: Instance) -> None:
        bus, g, b = shunt.ports["bus"], shunt.values["g"], shunt.values["b"]
        number = self.number[bus]
        if shunt.id.startswith(f"SWITCHED{number}") and g == 0:
            identifier = self._identifier(("switched", number), shunt.id, f"SWITCHED{number}")
            if identifier == "1" or self.version == NEW:
                self._put("switched shunt", {"I": number, "ID": identifier, "MODSW": 0, "STAT": int(shunt.in_service),
                                             "BINIT": self._scaled(b)})
                return
        self._put("fixed shunt", {"I": number, "ID": self._identifier(("shunt", number), shunt.id, f"SHUNT{number}"),
                                  "STATUS": int(shunt.in_service), "GL": self._scaled(g), "BL": self._scaled(b)})

    def _half(self, bus: str, g: float, b: float, on: bool) -> None:
        """Half of the shunt of a branch, where a branch of the file has no place for it."""
        if g or b:
            number = self.number[bus]
            self._put("fixed shunt", {"I": number, "ID": self._identifier(("shunt", number), "", f"SHUNT{number}"),
                                      "STATUS": int(on), "GL": g * self.base, "BL": b * self.base})

    def _line(self, line: Instance) -> None:
        values, ends = line.values, [self.number[line.ports[port]] for port in ("bus1", "bus2")]
        plain = f"{ends[0]}-{ends[1]}"
        naming = next((name for name in ("LINE", "SWITCH") if line.id.startswith(name + plain)), "LINE")
        at = self.shunts[line.id]
        for side in ("GI", "GJ"):
            if values["g"]:
                at[side] = at.get(side, 0.0) + values["g"] / 2
        self._put("branch", {"I": ends[0], "J": ends[1],
                             "CKT": self._identifier(("branch", *sorted(ends)), line.id, naming + plain),
                             "R": values["r"], "X": values["x"], "B": values["b"], "GI": 0.0, "BI": 0.0, "GJ": 0.0,
                             "BJ": 0.0, **at, "ST": int(line.in_service)})

    def _transformer(self, transformer: Instance) -> None:
        values, ends = transformer.values, [self.number[transformer.ports[port]] for port in ("bus1", "bus2")]
        identifier = self._identifier(("transformer", *sorted(ends)), transformer.id, f"TRANSFORMER{ends[0]}-{ends[1]}")
        self._put("transformer", {"I": ends[0], "J": ends[1], "K": 0, "CKT": identifier,
                                  **self.shunts[transformer.id], "STAT": int(transformer.in_service)})
        self._put("transformer", {"R1-2": values["r"], "X1-2": values["x"], "SBASE1-2": self.base}, IMPEDANCE)
        self._winding(transformer)
        self._put("transformer", {"WINDV": 1.0, "NOMV": 0.0}, WINDING)
        g, b = values["g"] / 2, values["b"] / 2
        self._half(transformer.ports["bus1"], g / values["tap"] ** 2, b / values["tap"] ** 2, transformer.in_service)
        self._half(transformer.ports["bus2"], g, b, transformer.in_service)

    def _line_for_direct_current(self, line: Instance) -> None:
        at = line.ports["bus"], self.ends[line.id].ports["bus"]
        row, *ends = dc_lines.rows(line, (self.number[at[0]], self.number[at[1]]),
                                   (self.voltage[at[0]].values["Vm0"], self.voltage[at[1]].values["Vm0"]))
        self._put(dc_lines.SECTION, row)
        for end in ends:
            self._put(dc_lines.SECTION, end, DC_TERMINAL)

    def _generator(self, source: Instance) -> None:
        bus, values = source.ports["bus"], source.values
        number, kind = self.number[bus], {"slack": SLACK, "PV": PV, "PQ": PQ}[source.words["control"]]
        if source.in_service and kind == PQ != self.kind[bus]:  # beside one that holds the voltage: what it injects
            self._injection(source, complex(values["P0"], values["Q0"]))
            return
        limits = {column: self._scaled(values[name]) if math.isfinite(values[name]) else sign * NO_LIMIT
                  for column, name, sign in (("QT", "Qmax", 1.0), ("QB", "Qmin", -1.0))}
        reactance = next((values[name] for name in ("Xdpp", "Xdp") if name in values), 0.0)
        self._put("generator", {"I": number, "ID": self._identifier(("generator", number), source.id, f"GEN{number}"),
                                "PG": self._scaled(values["P0"]), "QG": self._scaled(values["Q0"]), **limits,
                                "VS": values["V0"], "MBASE": values["Sn"], "ZR": values.get("Rs", 0.0), "ZX": reactance,
                                "STAT": int(source.in_service)})

    def _injection(self, instance: Instance, power: complex) -> None:
        """What a device injects at its bus, as a load."""
        number = self.number[instance.ports["bus"]]
        self._put("load", {"I": number, "ID": self._identifier(("load", number), "", f"LOAD{number}"),
                           "STATUS": int(instance.in_service), "PL": -self._scaled(power.real),
                           "QL": -self._scaled(power.imag)})


def kinds(records: Sequence[Instance]) -> dict[str, int]:
    """Types of the buses with sources: what those in service control, or if there are none, those out of it."""
    found: dict[str, int] = {}
    for running in (False, True):
        here: dict[str, int] = {}
        for instance in records:
            if instance.device.regulates and instance.in_service == running:
                kind = {"slack": SLACK, "PV": PV, "PQ": PQ}[instance.words["control"]]
                here[instance.ports["bus"]] = max(kind, here.get(instance.ports["bus"], PQ))
        found |= here
    return found


def at_own_buses(instance: Instance) -> Instance:
    """The same with the numbers of buses that its record gives, though they may be one with another."""
    fields = instance.record.fields
    return replace(instance, ports=instance.ports | {
        port: port.id_of(fields[port]) for port in instance.device.bus_ports() if instance.model != JOINED})


def numbers_of_buses(records: Sequence[Instance]) -> dict[str, int]:
    """Of all, those that are one with another too."""
    return bus_numbers([instance.id for instance in records if instance.model in ("Bus", JOINED)])


def bus_numbers(ids: list[str]) -> dict[str, int]:
    """``BUS7`` is 7; a bus with a name gets a number above all others."""
    numbers = {id: int(id[3:]) for id in ids if re.fullmatch(r"BUS\d{1,18}", id)}
    following = max(numbers.values(), default=0) + 1
    for id in ids:
        if id not in numbers:
            numbers[id], following = following, following + 1
    return numbers


def _word(name: str, value: Any) -> str:
    """A value as the file has it: names in quotes, numbers with every digit."""
    if name in ("NAME", "ID", "CKT", "RMIDNT"):
        text = str(value)
        return f'"{text}"' if "'" in text and '"' not in text else "'" + text.replace("'", "''") + "'"
    if isinstance(value, float):
        return _number(value)
    return str(value) if value != "" else "1.0" if name == "WINDV" else "0"


def _number(value: float) -> str:
    return repr(value + 0.0)  # without the sign of a zero
