"""Cases in the format of ANDES (``.json``, and ``.xlsx`` with the same tables): the network, its dynamics and events.

A table for each model, a row for each device, which others name by its ``idx``. H. Cui, F. Li, K. Tomsovic, "Hybrid
symbolic-numeric framework for power system modeling and analysis", IEEE Trans. Power Systems 36 (2), 2021. Impedances
are per unit of the row's own ratings Sn and Vn, powers of 100 MVA. A table named as a device class is read into it,
column by column, whatever plugin has it; :data:`NAMES` has those columns that are called otherwise.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.contract import Device, Record, Source
from gridcore.errors import CaseError
from gridcore.registry import devices
from gridcore.suggest import suggest

from .characteristics import shares
from .psse import element, listed

BASE = 100.0  # MVA
#: Columns that a device class calls otherwise.
NAMES = {
    "GENROU": {"ra": "Rs", "xl": "Xl", "xd": "Xd", "xq": "Xq", "xd1": "Xdp", "xq1": "Xqp", "xd2": "Xdpp",
               "Td10": "Td0p", "Td20": "Td0pp", "Tq10": "Tq0p", "Tq20": "Tq0pp"},
    "GENCLS": {"ra": "Rs", "xd1": "Xdp"}, "EXDC2": {"KF1": "KF"}, "IEEEST": {"MODE": "ICS", "busr": "IB"},
}
NETWORK = ("Bus", "PQ", "PV", "Slack", "Shunt", "Line")
EVENTS = ("Fault", "Toggle", "Toggler")
#: Tables without effect on what is calculated here.
IDLE = ("Area", "Zone", "Owner", "Region", "COI", "BusFreq", "BusROCOF", "PMU", "Summary", "Output")
#: Columns that say where a device is, or nothing that a device here has.
PLACES = ("idx", "uid", "u", "name", "bus", "gen", "syn", "avr", "Vn", "fn", "coi", "coi2", "owner", "wref0", "busf",
          "Tn", "gammap", "gammaq", "M", "D", "Sn", "xq2")
Table = list[dict[str, Any]]


def tables(path: Path, data: Any) -> dict[str, Table]:
    """The tables that a JSON file has.

    Raises
    ------
    CaseError
        If it is malformed.
    """
    if not isinstance(data, dict) or "Bus" not in data:
        raise CaseError("is no case: a table 'Bus' is wanted, as ANDES has it, or 'data' with components, as "
                        "PowerSystems.jl has it", file=str(path))
    for name, table in data.items():
        if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
            raise CaseError("is no table: a list of rows is wanted", file=str(path), row=name)
    return data


def case_of(path: Path, tables: Mapping[str, Table], drop: Sequence[str] = (), loads: str = "") -> Case:
    """The case that tables say."""
    rows = {name: [_Row(row, str(path), f"{name} row {n}") for n, row in enumerate(table, 1)]
            for name, table in tables.items()}
    return _Reader(path, rows, drop, shares(loads)).case


class _Row:
    """A row of a table: its values by column, ``null`` and ``NaN`` being none."""

    def __init__(self, values: Mapping[str, Any], file: str, place: str):
        self.values = {str(key): value for key, value in values.items()
                       if value is not None and value == value and value != ""}
        self.file, self.place = file, place

    def error(self, message: str, field: str = "") -> CaseError:
        return CaseError(message, file=self.file, row=self.place, field=field)

    def number(self, name: str, default: float | None = None) -> float:
        value = self.values.get(name, default)
        if value is None:
            raise self.error("missing: a number is wanted", name)
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
            raise self.error(f"{value!r} is not a number to calculate with", name)
        return float(value)

    def idx(self, name: str = "idx") -> int | str:
        """What names a device: 3.0 is 3."""
        value = self.values.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int | str) or (isinstance(value, int) and value < 0):
            raise self.error(f"{value!r} is not the idx of a device", name)
        return value

    def status(self) -> dict[str, int]:
        return {} if self.number("u", 1.0) else {"status": 0}


class _Reader:
    """Tables to records."""

    def __init__(self, path: Path, rows: dict[str, list[_Row]], drop: Sequence[str], loads: dict[str, float]):
        self.file, self.rows, self.loads, self.names = str(path), rows, loads, _names(rows.get("Bus", []))
        first = [row.values.get("fn") for table in ("Line", "GENROU", "GENCLS") for row in rows.get(table, ())]
        frequency = next((float(f) for f in first if isinstance(f, int | float) and 0 < f < 1e6), 60.0)
        self.case = Case(path.stem, base_mva=BASE, frequency=frequency, about={"source": f"ANDES case {path.name}"})
        self.kv: dict[int | str, float] = {}
        self.ids: dict[tuple[str, int | str], str] = {}  # of a table, or of machines or exciters whatever their table
        self.count: defaultdict[str, int] = defaultdict(int)
        self.sources: dict[int | str, tuple[_Row, str]] = {}
        self.unused: dict[tuple[str, str], list[str]] = defaultdict(list)
        models = self._models(drop)
        self._network()
        for machine in (True, False):
            for model in models:
                if issubclass(devices[model], Source) == machine:
                    for row in rows[model]:
                        (self._machine if machine else self._control)(model, row)
        for idx, (row, control) in self.sources.items():
            self._generator(idx, row, control)
        self._events()
        for (model, column), at in self.unused.items():
            self.case.note(f"{column} of {model} has no effect here: {listed(at)}")

    def _models(self, drop: Sequence[str]) -> list[str]:
        """Dynamic models, exciters before what hangs on them; those that are not there are refused or dropped."""
        asked = [name for name, table in self.rows.items() if table and name not in (*NETWORK, *EVENTS)]
        for name in drop:
            if name not in self.rows:
                raise CaseError(f"has no table '{name}'{suggest(name, self.rows)}", file=self.file)
        for text, names in (("without effect here, left out", IDLE), ("left out, as asked for", drop)):
            gone = [f"{len(self.rows[name])} {name}" for name in asked if name in names]
            asked = [name for name in asked if name not in names]
            if gone:
                self.case.note(f"{text}: {', '.join(gone)}")
        missing = [name for name in asked if name not in devices]
        if missing:
            what = ", ".join(f"{name} ({len(self.rows[name])} rows)" for name in missing)
            raise self.rows[missing[0]][0].error(f"there is no device for {what}: leave them out with "
                                                 f"{' '.join(f'--drop {name}' for name in missing)} (drop=[...])")
        for name in asked:
            for row in self.rows[name]:
                if not _is_read(devices[name], row):
                    raise row.error("only tables of machines, and of what names one by 'syn' or an exciter by 'avr', "
                                    f"are read: leave this one out with --drop {name} (drop=[\"{name}\"]), or give the "
                                    "system as a RAW and a DYR file")
        return sorted(asked, key=lambda name: any(row.values.get("avr") is not None for row in self.rows[name]))

    # ------------------------------------------------------------ the network

    def _network(self) -> None:
        case, rows = self.case, self.rows
        for row in rows["Bus"]:
            name = self.names[row.idx()]
            self.kv[row.idx()] = kv = row.number("Vn", 110.0)
            if kv <= 0:
                raise row.error("must be above 0", "Vn")
            label = {"label": str(row.values["name"])} if "name" in row.values else {}
            case.records.append(Record("Bus", {"id": name, **label, "kv": kv, "Vm0": row.number("v0", 1.0),
                                               "Va0": row.number("a0", 0.0)}, row.file, row.place))
        for row in rows.get("Line", ()):
            self._line(row)
        for row in rows.get("Shunt", ()):
            y = self._admittance(row, self._bus(row), "Vn")
            self._put(row, "Shunt", "SHUNT", g=row.number("g", 0.0) * y, b=row.number("b", 0.0) * y)
        for row in rows.get("PQ", ()):
            self._put(row, "ZIP", "LOAD", P0=row.number("p0", 0.0), Q0=row.number("q0", 0.0), **self.loads)
        for table, control in (("Slack", "slack"), ("PV", "PV")):
            for row in rows.get(table, ()):
                if row.idx() in self.sources:
                    raise row.error(f"'{row.idx()}' is {self.sources[row.idx()][0].place} already", "idx")
                self.sources[row.idx()] = row, control
                if control == "slack" and "a0" in row.values:
                    case[f"BUS{self.names[self._bus(row)]}"].fields["Va0"] = row.number("a0")

    def _bus(self, row: _Row, column: str = "bus") -> int | str:
        if row.idx(column) not in self.names:
            raise row.error(f"there is no bus {row.idx(column)}", column)
        return row.idx(column)

    def _admittance(self, row: _Row, bus: int | str, volts: str) -> float:
        """Per unit of the system, of one per unit of the row's ratings."""
        Sn, kv, Vn = row.number("Sn", BASE), self.kv[bus], row.number(volts, self.kv[bus])
        if Sn <= 0 or Vn <= 0:
            raise row.error("must be above 0", "Sn" if Sn <= 0 else volts)
        return Sn / BASE * (kv / Vn) ** 2

    def _put(self, row: _Row, model: str, naming: str, **fields: Any) -> None:
        bus = self.names[self._bus(row)]
        id = self._id(f"{naming}{bus}")
        self.ids[row.place.partition(" ")[0], row.idx()] = id
        self.case.records.append(Record(model, {"id": id, "bus": bus, **fields, **row.status()}, row.file, row.place))

    def _id(self, naming: str) -> str:
        """The first at a place has the plain name, the next is the second."""
        self.count[naming] += 1
        return element(naming, str(self.count[naming]))

    def _line(self, row: _Row) -> None:
        ends = [self._bus(row, column) for column in ("bus1", "bus2")]
        y, tap, phase = self._admittance(row, ends[0], "Vn1"), row.number("tap", 1.0), row.number("phi", 0.0)
        if tap <= 0:
            raise row.error("must be above 0", "tap")
        r, x, b, g = (row.number(name, 0.0) for name in "rxbg")
        bus1, bus2 = (self.names[end] for end in ends)
        model = "Transformer" if row.number("trans", 0.0) or tap != 1 or phase else "Line"
        id = self.ids["Line", row.idx()] = self._id(f"{model.upper()}{bus1}-{bus2}")
        fields = {"id": id, "bus1": bus1, "bus2": bus2, "r": r / y, "x": x / y, "b": b * y, "g": g * y}
        fields |= {"tap": tap, "phase": phase} if model == "Transformer" else {}
        self.case.records.append(Record(model, fields | row.status(), row.file, row.place))
        for n, bus, scale in ((1, bus1, y / tap ** 2), (2, bus2, y)):
            g, b = row.number(f"g{n}", 0.0) * scale, row.number(f"b{n}", 0.0) * scale
            if g or b:
                self.case.records.append(Record("Shunt", {"id": f"SHUNT_{id}_{n}", "bus": bus, "g": g, "b": b}
                                                | row.status(), row.file, row.place))

    def _dispatch(self, row: _Row, control: str, P: float = 1.0, Q: float = 1.0) -> dict[str, Any]:
        """What a source injects and holds, or a part of it."""
        fields = {"control": control, "V0": row.number("v0", 1.0), "P0": P * row.number("p0", 0.0),
                  "Q0": Q * row.number("q0", 0.0)}
        limits = {key: Q * row.number(column) for key, column in (("Qmin", "qmin"), ("Qmax", "qmax"))
                  if column in row.values}
        return fields | (limits if limits.get("Qmin", -math.inf) <= limits.get("Qmax", math.inf) else {})

    def _generator(self, idx: int | str, row: _Row, control: str) -> None:
        """A source that no machine has taken the place of."""
        if ("GEN", idx) not in self.ids:
            self._put(row, "StaticGenerator", "GEN", Sn=row.number("Sn", BASE), **self._dispatch(row, control))

    # ------------------------------------------------------------ the dynamics

    def _machine(self, model: str, row: _Row) -> None:
        if row.idx("gen") not in self.sources:
            raise row.error(f"there is no PV or Slack {row.idx('gen')}", "gen")
        static, control = self.sources[row.idx("gen")]
        parts = [row.number(name, 1.0) for name in ("gammap", "gammaq")]
        own = {"H": row.number("M") / 2, "D": row.number("D", 0.0)}
        if row.number("xq2", 0.0) != row.number("xd2", row.number("xq2", 0.0)):
            self.unused[model, "xq2"].append(str(row.idx()))
        self._put(row, model, "GEN", Sn=row.number("Sn", BASE), **self._dispatch(static, control, *parts), **own,
                  **self._values(model, row))
        self.ids["GEN", row.idx("gen")] = self.ids["machine", row.idx()] = self.ids[model, row.idx()]

    def _control(self, model: str, row: _Row) -> None:
        cls: type[Device] = devices[model]
        kind, column = ("machine", "syn") if "syn" in row.values else ("exciter", "avr")
        host = self.ids.get((kind, row.idx(column)))
        if host is None or len(cls.attaches) != 1:
            raise row.error(f"there is no {kind} {row.idx(column)}", column)
        fields = {cls.attaches[0]: host}
        id = self.ids[model, row.idx()] = self._id(cls.naming.format(**fields))
        if kind == "machine":
            self.ids["exciter", row.idx()] = id
        self.case.records.append(Record(model, {"id": id, **fields, **self._values(model, row), **row.status()},
                                        row.file, row.place))

    def _values(self, model: str, row: _Row) -> dict[str, float]:
        """Parameters by the names of the device class."""
        params, found = devices[model].declares.params, {}
        for column in row.values:
            name = NAMES.get(model, {}).get(column, column)
            if name in params and column not in PLACES:
                found[name] = row.number(column)
            elif column not in PLACES and row.values[column] not in (0, 0.0):
                self.unused[model, column].append(str(row.idx()))
        if found.get("S10") == 0:
            found["S12"] = 0.0
        return found

    # ------------------------------------------------------------ the events

    def _events(self) -> None:
        for row in self.rows.get("Fault", ()):
            x = row.number("xf", 1e-4)
            self._event(row, "BusFault", bus=self.names[self._bus(row)], t=row.number("tf"), clear=row.number("tc"),
                        r=row.number("rf", 0.0), x=x)
        toggled: dict[tuple[str, str], list[_Row]] = defaultdict(list)
        for row in (*self.rows.get("Toggler", ()), *self.rows.get("Toggle", ())):
            model = str(row.values.get("model"))
            if (model, row.idx("dev")) not in self.ids:
                raise row.error(f"there is no {model} {row.idx('dev')}", "dev")
            if row.number("u", 1.0):
                toggled[model, self.ids[model, row.idx("dev")]].append(row)
        status = {record.fields.get("id"): record.fields.get("status", 1) for record in self.case}
        for (model, id), rows in toggled.items():
            rows.sort(key=lambda row: row.number("t"))
            branch = model == "Line"
            if not status[id] or len(rows) > 1 + branch:
                raise rows[-1].error(f"'{id}' would come back into service, which only a line does once", "t")
            times = dict(zip(("t", "reclose"), (row.number("t") for row in rows)))
            self._event(rows[0], "BranchTrip" if branch else "Trip", **{"branch" if branch else "device": id}, **times)

    def _event(self, row: _Row, model: str, **fields: Any) -> None:
        if row.number("u", 1.0):
            self.case.records.append(Record(model, fields, row.file, row.place))


def _is_read(cls: type[Device], row: _Row) -> bool:
    """Whether a row is of a machine with inertia, or hangs on one or on an exciter; converters are neither."""
    return "H" in cls.declares.params if issubclass(cls, Source) else not {"syn", "avr"}.isdisjoint(row.values)


def _names(rows: list[_Row]) -> dict[int | str, int | str]:
    """What the buses are called here: a number, or a word."""
    found: dict[int | str, int | str] = {}
    for row in rows:
        idx = row.idx()
        name = idx if isinstance(idx, int) else re.sub(r"[\s.*?\[\]]", "-", idx)
        if name in found.values():
            raise row.error(f"'{name}' is the idx of a bus before", "idx")
        found[idx] = name
    return found
