"""PSS/E power-flow files (``.raw``), versions 32 and 33: the network with its dispatch and its solution.

Siemens PTI, PSS/E Program Operation Manual, chapter "Power flow data file contents". Generators are
``StaticGenerator`` rows until a DYR file gives them machines (:mod:`gridcore_readers.dyr`), and what is out of
service has ``status = 0``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.contract import Record

from .characteristics import shares
from .psse import Row, element, listed
from .raw_tables import Tables, read_tables
from .transformers import SMALLEST, Transformers

PV, SLACK, ISOLATED = 2, 3, 4
NO_LIMIT = 9999.0  # Mvar: what PSS/E writes where there is none
DIGITS = 2e-5  # pu: voltages of a file differ by more than their rounding
MVAR = 6e-3  # likewise, reactive powers (Mvar)

#: Sections that change the power flow and that no device is there for; an option ``drop`` leaves them out.
UNKNOWN = ("two-terminal dc", "VSC dc", "multi-terminal dc", "FACTS", "GNE", "induction machine")
#: Sections that have no effect on what is calculated here.
IDLE = ("area", "zone", "owner", "inter-area transfer", "multi-section line")


def read(path: Path, *, drop: Sequence[str] = (), loads: str = "") -> Case:
    """Read a case.

    Parameters
    ----------
    path : Path
    drop : sequence of str
        Sections to leave out that there is no device for: ``"FACTS"``, ``"two-terminal dc"``, ...
    loads : str
        Characteristic of the loads in place of the file's: see :func:`gridcore_readers.characteristics.shares`.

    Raises
    ------
    CaseError
        If the file is malformed, of another version, or has equipment that no device is there for.
    """
    return _Reader(path, read_tables(path), shares(loads)).case(drop)


class _Reader:
    """Tables to records."""

    def __init__(self, path: Path, tables: Tables, loads: dict[str, float]):
        self.tables, self.loads = tables, loads
        self.base = tables.header.number("SBASE")
        if self.base <= 0:
            raise tables.header.error("must be above 0", "SBASE")
        frequency = tables.header.number("BASFRQ")
        about = {"source": f"PSS/E power-flow file {path.name}, version {tables.header.integer('REV')}"}
        self.made = Case(path.stem, tables.title, self.base, frequency if frequency > 0 else 60.0, about)
        if frequency <= 0:
            self.made.note("the file does not give the nominal frequency: 60 Hz is taken")
        self.taken: dict[tuple[str, Any], list[Row]] = {}
        self.twice: list[str] = []
        self.buses: dict[int, Row] = {}
        for row in tables.rows["bus"]:
            number = row.integer("I")
            if number in self.buses:
                raise row.error(f"bus {number} stands in {self.buses[number].place} already", "I")
            self.buses[number] = row
        self.isolated = {number for number, row in self.buses.items() if row.integer("IDE") == ISOLATED}

    def case(self, drop: Sequence[str]) -> Case:
        """All of it; devices in the order of the sections, generators last."""
        self._refuse_unknown(drop)
        transformers = Transformers(self.base, {n: row.number("BASKV") for n, row in self.buses.items()})
        for records in self.tables.transformers:
            if self._there(records[0], *self._ends(records[0])):
                transformers.add(records)
        if self.isolated:
            self.made.note(f"isolated buses left out, with all that is at them: {listed(sorted(self.isolated))}")
        for number, row in self.buses.items():
            if number not in self.isolated:
                self._put(row, "Bus", _bus(number, row))
        made = transformers.found
        for row, model, fields in sorted(made.devices, key=lambda item: item[1] != "Bus"):
            self._put(row, model, fields)
        zeros = made.zeros + self._branches()
        self._shunts()
        self._loads()
        self._generators()
        if zeros:
            self.made.note(f"branches without impedance are given x = {SMALLEST:g} pu: {listed(zeros)}")
        if self.twice:
            self.made.note("with the same buses and identifier as one before, and kept as another: "
                           + listed(self.twice))
        if made.tables:
            self.made.note(f"impedance correction tables have no effect: transformers {listed(made.tables)}")
        if made.left_out:
            self.made.note("transformers of three windings out of service left out: " + listed(made.left_out))
        idle = [f"{len(rows)} {name}" for name, rows in self.tables.rows.items() if name in IDLE and rows]
        if idle:
            self.made.note(f"without effect here, left out: {', '.join(idle)} records")
        return self.made

    def _refuse_unknown(self, drop: Sequence[str]) -> None:
        for section in UNKNOWN:
            rows = self.tables.rows[section]
            if rows and section not in drop:
                raise rows[0].error(f"there is no device for {section} data ({len(rows)} lines): leave them out with "
                                    f"--drop \"{section}\" (drop=[\"{section}\"])")
            if rows:
                self.made.note(f"{section} data left out, as asked for: {len(rows)} lines")

    def _put(self, row: Row, model: str, fields: dict[str, Any]) -> None:
        """Add a record. Of branches and shunts, one whose identifier is taken is another one."""
        key = (model, fields.get("id") or tuple(fields.get(port) for port in ("bus", "bus1", "bus2")))
        before = self.taken.setdefault(key, [])
        before.append(row)
        if len(before) > 1:
            if model not in ("Line", "Transformer", "Shunt"):
                raise row.error(f"its identifier is that of {before[0].place} already", "ID")
            self.twice.append(row.place)
            if "id" in fields:
                fields = fields | {"id": f"{fields['id']}_{len(before)}"}
        self.made.records.append(Record(model, fields, row.file, row.place))

    def _ends(self, row: Row) -> Iterable[tuple[str, int]]:
        """Columns that name the buses of a branch or transformer, and the buses."""
        for name in ("I", "J", "K"):
            if name in row.columns and (name != "K" or row.integer("K")):
                yield name, abs(row.integer(name))  # of a branch, a minus sign marks the metered end

    def _there(self, row: Row, *ends: tuple[str, int]) -> bool:
        """Whether an element is at buses that are not isolated."""
        for name, bus in ends:
            if bus not in self.buses:
                raise row.error(f"there is no bus {bus}", name)
        return not any(bus in self.isolated for _, bus in ends)

    def _at(self, section: str) -> Iterable[tuple[Row, int]]:
        """The rows of a section of one-bus elements, with their buses."""
        for row in self.tables.rows[section]:
            bus = row.integer("I")
            if self._there(row, ("I", bus)):
                yield row, bus

    # ------------------------------------------------------------ the sections

    def _branches(self) -> list[str]:
        """Lines; returns the names of those without impedance."""
        zeros = []
        for row in self.tables.rows["branch"]:
            (_, i), (_, j) = ends = tuple(self._ends(row))
            if not self._there(row, *ends):
                continue
            name = element(f"LINE{i}-{j}", row.text("CKT"))
            r, x, b = (row.number(column) for column in ("R", "X", "B"))
            if r == x == 0:
                x = SMALLEST
                zeros.append(name)
            on = _status(row, "ST")
            fields = {**_named(name, f"LINE{i}-{j}"), "bus1": i, "bus2": j, "r": r, "x": x, "b": b}
            self._put(row, "Line", {key: value for key, value in fields.items() if (key, value) != ("b", 0.0)} | on)
            for bus, g, b in ((i, row.number("GI"), row.number("BI")), (j, row.number("GJ"), row.number("BJ"))):
                if g or b:
                    self._put(row, "Shunt", {"id": f"{name}_{bus}", "bus": bus, "g": g, "b": b} | on)
        return zeros

    def _shunts(self) -> None:
        for row, bus in self._at("fixed shunt"):
            name = element(f"SHUNT{bus}", row.text("ID"))
            self._put(row, "Shunt", _named(name, f"SHUNT{bus}") | {
                "bus": bus, "g": row.number("GL") / self.base, "b": row.number("BL") / self.base}
                | _status(row, "STATUS"))
        switched = []
        for row, bus in self._at("switched shunt"):
            switched.append(bus)
            self._put(row, "Shunt", {"id": f"SWITCHED{bus}", "bus": bus, "b": row.number("BINIT") / self.base}
                      | _status(row, "STAT"))
        if switched:
            self.made.note(f"switched shunts stay as they are at t0: {listed(switched)}")

    def _loads(self) -> None:
        """Constant power, current and admittance of a load in one ZIP, at the voltage of the file."""
        mixed = []
        for row, bus in self._at("load"):
            Vm = self.buses[bus].number("VM")
            P = [row.number("YP") * Vm ** 2, row.number("IP") * Vm, row.number("PL")]
            Q = [0.0 - row.number("YQ") * Vm ** 2, row.number("IQ") * Vm, row.number("QL")]  # YQ > 0 is capacitive
            fields = self.loads or _parts(row, "p", P) | _parts(row, "q", Q)
            if any(P[:2]) or any(Q[:2]):
                mixed.append(bus)
            name = element(f"LOAD{bus}", row.text("ID"))
            self._put(row, "ZIP", _named(name, f"LOAD{bus}") | {"bus": bus, "P0": sum(P) / self.base,
                                                                "Q0": sum(Q) / self.base}
                      | {key: value for key, value in fields.items() if value != float(key[1] == "Z")}
                      | _status(row, "STATUS"))
        if mixed:
            self.made.note("parts of loads at constant current or admittance are counted at the voltages in the file: "
                           f"buses {listed(mixed)}")

    def _generators(self) -> None:
        at: dict[int, list[Row]] = defaultdict(list)
        for row, bus in self._at("generator"):
            at[bus].append(row)
        remote, differ, limited, step_up = [], [], [], []
        for bus, rows in at.items():
            kind, Vm = self.buses[bus].integer("IDE"), self.buses[bus].number("VM")
            running = [row for row in rows if _on(row, "STAT")]
            V0 = (running or rows)[0].number("VS")
            if any(row.number("VS") != V0 for row in running):
                differ.append(bus)
            if any(row.integer("IREG") not in (0, bus) for row in running):
                remote.append(bus)
                V0 = Vm
            control = {PV: "PV", SLACK: "slack"}.get(kind, "PQ")
            if control == "PV" and running and abs(V0 - Vm) > DIGITS and all(map(_at_limit, running)):
                limited.append(bus)
                control = "PQ"
            for row in rows:
                if row.number("XT") or row.number("RT"):
                    step_up.append(bus)
                self._put(row, "StaticGenerator", self._generator(bus, row, control, V0))
        for buses, text in ((differ, "generators at one bus have different voltage set-points, the first is taken: "),
                            (remote, "generators that regulate another bus hold their own as it is in the file: "),
                            (limited, "at a reactive limit in the file's solution, so that they keep their Q and not "
                                      "their voltage (control = PQ): generators at "),
                            (step_up, "step-up transformers within generator data (RT, XT) are left out: ")):
            if buses:
                self.made.note(f"{text}{'' if text.endswith('at ') else 'buses '}{listed(buses)}")

    def _generator(self, bus: int, row: Row, control: str, V0: float) -> dict[str, Any]:
        base = self.base
        rating = row.number("MBASE")
        name = element(f"GEN{bus}", row.text("ID"))
        if V0 <= 0:
            raise row.error("must be above 0", "VS")
        Q = {"Qmin": row.number("QB"), "Qmax": row.number("QT")}
        limits = {key: value / base for key, value in Q.items() if abs(value) < NO_LIMIT}
        source = {"Rs": row.number("ZR"), "Xdp": row.number("ZX")}
        return {**_named(name, f"GEN{bus}"), "bus": bus, "control": control, "Sn": rating if rating > 0 else base,
                "P0": row.number("PG") / base, "Q0": row.number("QG") / base, "V0": V0, **limits,
                **{key: value for key, value in source.items() if value}, **_status(row, "STAT")}


def _bus(number: int, row: Row) -> dict[str, Any]:
    label, kv, Vm = row.text("NAME"), row.number("BASKV"), row.number("VM")
    if Vm <= 0:
        raise row.error("must be above 0", "VM")
    return {"id": number, **({"label": label} if label else {}), **({"kv": kv} if kv > 0 else {}),
            "Vm0": Vm, "Va0": math.radians(row.number("VA"))}


def _named(name: str, default: str) -> dict[str, Any]:
    """The field ``id`` where the model would not be named so by itself."""
    return {} if name == default else {"id": name}


def _on(row: Row, column: str) -> bool:
    return row.integer(column) != 0


def _status(row: Row, column: str) -> dict[str, Any]:
    return {} if _on(row, column) else {"status": 0}


def _at_limit(row: Row) -> bool:
    """Whether the solution in the file has a generator at a reactive limit."""
    Q, low, high = (row.number(column) for column in ("QG", "QB", "QT"))
    return Q <= low + MVAR or Q >= high - MVAR


def _parts(row: Row, side: str, powers: list[float]) -> dict[str, float]:
    """``pZ``, ``pI``, ``pP`` (or q) of a load; what adds up to nothing is constant power."""
    total = sum(powers)
    if abs(total) <= 1e-9 * max(map(abs, powers), default=0.0):
        if any(powers):
            raise row.error(f"its parts at constant power, current and admittance cancel out ({side.upper()} = 0)")
        return dict(zip((f"{side}Z", f"{side}I", f"{side}P"), (0.0, 0.0, 1.0)))
    parts = [power / total for power in powers]
    first = max(range(3), key=lambda k: abs(parts[k]))
    parts[first] = 1.0 - sum(part for k, part in enumerate(parts) if k != first)
    return dict(zip((f"{side}Z", f"{side}I", f"{side}P"), parts))
