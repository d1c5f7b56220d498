"""PSS/E power-flow files (``.raw``, ``.rawx``), versions 29 to 36: the network with its dispatch and its solution.

Siemens PTI, PSS/E Program Operation Manual, chapter "Power flow data file contents". Generators are
``StaticGenerator`` rows until a DYR file gives them machines (:mod:`gridcore_readers.dyr`), and what is out of
service has ``status = 0``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.contract import Record
from gridcore.errors import CaseError

from . import raw_text, rawx, sources
from .balance import unbalanced
from .characteristics import shares
from .controls import Remote, Switched, control, levels
from .joined import join
from .power_sources import BYPASSED, DIGITS, PowerSources
from .psse import Row, by_columns, element, listed
from .raw_fields import Machine, bus_fields, called, given_id, is_on, parts, status, unlike_default
from .raw_tables import AUTHOR, Tables, sections
from .tolerance import mend
from .transformers import SMALLEST, TINY, Transformers

PQ, PV, SLACK, ISOLATED = 1, 2, 3, 4
STEPS, CONTINUOUS = 1, 2  # how a switched shunt controls a voltage
RANK = {SLACK: 2, PV: 1}  # of buses that are one: which of them it is
NO_LIMIT = 9999.0  # Mvar: what PSS/E writes where there is none

#: Sections that change the power flow and that no device is there for; an option ``drop`` leaves them out.
UNKNOWN = ("GNE",)
#: Sections that have no effect on what is calculated here.
IDLE = ("area", "zone", "owner", "inter-area transfer", "multi-section line", "voltage droop",
        "switching device rating", "load type", "interface", "interface element", "substation")
PQBRAK = 0.7  # pu: below it PSS/E reduces constant-power loads; the default of both programs


def read(path: Path, *, drop: Sequence[str] = (), loads: str = "", tolerate: bool = False,
         controls: bool = False) -> Case:
    """Read a case.

    Parameters
    ----------
    path : Path
    drop : sequence of str
        Sections to leave out: ``"GNE"``, which there is no device for, and those of sources of power: ``"FACTS"``,
        ``"two-terminal dc"``, ``"VSC dc"``, ``"multi-terminal dc"``, ``"induction machine"``.
    loads : str
        Characteristic of the loads in place of the file's: see :func:`gridcore_readers.characteristics.shares`.
    tolerate : bool
        Leave out records that make no sense, with a note for each.
    controls : bool
        Let generators regulate the buses that they are to, and switched shunts keep the bands of theirs: see
        :mod:`gridcore_readers.controls`.

    Raises
    ------
    CaseError
        If the file is malformed, of another version, or has equipment that no device is there for.
    """
    with sources.uncollected():
        tables = (rawx if path.suffix.lower() == ".rawx" else raw_text).read_tables(path)
        reader = Reader(path, tables, shares(loads), tolerate, controls)
        case = reader.case(drop)
    if controls:
        free = [shunt for shunt in reader.switched if shunt.bus not in reader.regulated]
        control(case, reader.remote(), free)
    return case


class Reader:
    """Tables to records."""

    def __init__(self, path: Path, tables: Tables, loads: dict[str, float], tolerate: bool, controls: bool):
        self.tables, self.tolerate, self.controls = tables, tolerate, controls
        self.loads = unlike_default(loads) if loads else None
        self.base = tables.header.number("SBASE")
        if self.base <= 0:
            raise tables.header.error("must be above 0", "SBASE")
        frequency = tables.header.number("BASFRQ")
        about = {"source": f"PSS/E power-flow file {path.name}, version {tables.version}"}
        self.made = Case(path.stem, tables.title, self.base, frequency if frequency > 0 else 60.0, about)
        for note in tables.notes:
            self.made.note(note)
        if frequency <= 0:
            self.made.note("the file does not give the nominal frequency: 60 Hz is taken")
        self.taken: dict[tuple[Any, ...], Row] = {}
        self.again: Counter[tuple[Any, ...]] = Counter()
        self.twice: list[str] = []
        self.buses: dict[int, Row] = {}
        self.kind: dict[int, int] = {}
        self.fields: dict[int, dict[str, Any]] = {}
        self.each("bus", self._bus, "I IDE", "NAME", "BASKV VM VA")
        self.isolated = {number for number, kind in self.kind.items() if kind == ISOLATED}
        self.here = self.kind.keys() - self.isolated
        self.threshold = tables.solution.get("THRSHZ", SMALLEST)
        self.home: dict[Any, Any] = {}  # of buses that are one with another, that one
        self.regulated: dict[int, float] = {}
        self.regulating: dict[int, Remote] = {}
        self.switched: list[Switched] = []
        self.limited: dict[int, list[dict[str, Any]]] = defaultdict(list)

    def tried(self, items: Iterable[Any], make: Callable[[Any], None]) -> None:
        """Make something of each item; what makes no sense is left out, if that is tolerated."""
        if not self.tolerate:
            for item in items:
                make(item)
            return
        for item in items:
            try:
                make(item)
            except CaseError as error:
                self.made.note(f"left out, as tolerated: {error}")

    def each(self, section: str, make: Callable[..., None], integers: str, texts: str = "", numbers: str = "") -> None:
        """Make something of each row of a section, with what it has in these columns."""
        rows = self.tables.rows[section]
        try:
            found = by_columns(rows, integers, texts, numbers)
        except (IndexError, ValueError):
            self.tried(rows, lambda row: make(row, *map(row.integer, integers.split()), *map(row.text, texts.split()),
                                              *map(row.number, numbers.split())))
        else:
            self.tried(found, lambda values: make(*values))

    def _bus(self, row: Row, number: int, kind: int, label: str, kv: float, Vm: float, Va: float) -> None:
        if number in self.buses:
            raise row.error(f"bus {number} stands in {self.buses[number].place} already", "I")
        if not PQ <= kind <= ISOLATED:
            raise row.error(f"{kind} must be 1 (its voltage is not held), 2 (a generator holds it), 3 (swing bus) or 4 "
                            "(isolated)", "IDE")
        fields = bus_fields(number, label, kv, Vm, Va)
        if Vm <= 0:
            raise row.error("must be above 0", "VM")
        self.buses[number], self.kind[number], self.fields[number] = row, kind, fields

    def case(self, drop: Sequence[str]) -> Case:
        """All of it; devices in the order of the sections, generators last."""
        self._refuse_unknown(drop)
        tables = self.tables
        transformers = Transformers(self.base, {n: fields.get("kv", 0.0) for n, fields in self.fields.items()},
                                    tables.corrections, self.isolated)

        further = {id(row): lines for row, lines in zip(tables.rows["transformer"], tables.further["transformer"])}

        def transform(row: Row, i: int, j: int, k: int, *values: Any) -> None:
            lines = further[id(row)]
            buses, names = [i, j, k][:len(lines) - 1], "IJK"
            if k and (out := {2: "J", 3: "K", 4: "I"}.get(row.integer("STAT"))):
                buses, names = [bus for bus, name in zip(buses, names) if name != out], names.replace(out, "")
            if self.there(row, names, *buses):
                transformers.add(row, lines, (i, j, k), *values)

        self.each("transformer", transform, "I J K CW CZ CM STAT", "CKT", "MAG1 MAG2")
        if self.isolated:
            self.made.note(f"isolated buses left out, with all that is at them: {listed(sorted(self.isolated))}")
        for number, row in self.buses.items():
            if number not in self.isolated:
                self.made.records.append(Record("Bus", self.fields[number], row.file, row.place))
        made = transformers.found
        for item in sorted(made.devices, key=lambda item: item[1] != "Bus"):
            self.put(*item)
        zeros = made.zeros + self._branches()
        if "FACTS" not in drop:
            self.tried(tables.rows["FACTS"], self._bypass)
        self.home = join(self.made, lambda bus: RANK.get(self.kind[bus], 0))
        self._shunts()
        self._loads()
        self._generators()
        PowerSources(self, drop)
        self._limits()
        if zeros:
            self.made.note(f"branches without impedance are given x = {SMALLEST:g} pu: {listed(zeros)}")
        if self.twice:
            self.made.note("with the same buses and identifier as one before, and kept as another: "
                           + listed(self.twice))
        for note in made.notes():
            self.made.note(note)
        self._idle()
        if self.tolerate:
            mend(self.made)
        return self.made

    def _idle(self) -> None:
        """Say what has no effect, and what the file says of the solution."""
        tables = self.tables
        idle = [f"{len(rows)} {name}" for name, rows in tables.rows.items() if name in IDLE and rows]
        if idle:
            self.made.note(f"without effect here, left out: {', '.join(idle)} records")
        reduced = tables.solution.get("PQBRAK", PQBRAK)
        if self.threshold != SMALLEST:
            self.made.note(f"THRSHZ = {self.threshold:g} pu in the file: lines without resistance and with no more "
                           "reactance than that have no impedance")
        if reduced != PQBRAK:
            self.made.note(f"PQBRAK = {reduced:g} pu in the file: loads here turn into constant admittances "
                           "below the voltage in their field Vlow")
        swing = [number for number, kind in self.kind.items() if kind == SLACK]
        for number in swing:
            if self.home.get(number, number) not in self.regulated:
                self.made.note(f"the swing bus {number} has no generator in service")
        if not swing:
            self.made.note("the file has no swing bus (IDE = 3)")

    def _refuse_unknown(self, drop: Sequence[str]) -> None:
        for section in UNKNOWN:
            rows = self.tables.rows[section]
            if rows and section not in drop:
                raise rows[0].error(f"there is no device for {section} data ({len(rows)} lines): leave them out with "
                                    f"--drop \"{section}\" (drop=[\"{section}\"])")
            if rows:
                self.made.note(f"{section} data left out, as asked for: {len(rows)} lines")

    def put(self, row: Row, model: str, fields: dict[str, Any]) -> None:
        """Add a record. Of branches and shunts, one whose identifier is taken is another one."""
        key: tuple[Any, ...]
        if "id" in fields:
            key = model, fields["id"]
        elif "bus" in fields:
            key = model, fields["bus"], 0
        else:
            key = model, fields["bus1"], fields["bus2"]
        first = self.taken.setdefault(key, row)
        if first is not row:
            if model not in ("Line", "Transformer", "Shunt"):
                raise row.error(f"its identifier is that of {first.place} already", "ID")
            self.again[key] += 1
            self.twice.append(row.place)
            if "id" in fields:
                fields = fields | {"id": f"{fields['id']}_{self.again[key] + 1}"}
        self.made.records.append(Record(model, fields, row.file, row.place))

    def there(self, row: Row, names: Iterable[str], *buses: int) -> bool:
        """Whether an element is at buses, by the columns that name them, that are not isolated."""
        if self.here.issuperset(buses):
            return True
        for name, bus in zip(names, buses):
            if bus not in self.kind:
                raise row.error(f"there is no bus {bus}", name)
        return False

    def at(self, section: str, make: Callable[[Row, int], None]) -> None:
        """Make something of the rows of a section of one-bus elements, with their buses."""
        def of(row: Row) -> None:
            bus = row.integer("I")
            if self.there(row, "I", bus):
                make(row, bus)

        self.tried(self.tables.rows[section], of)

    # ------------------------------------------------------------ the sections

    def _branches(self) -> list[str]:
        """Lines and switching devices; returns the names of those without impedance."""
        zeros: list[str] = []

        def line(row: Row, i: int, j: int, on: int, circuit: str, r: float, x: float, b: float,
                 GI: float, BI: float, GJ: float, BJ: float) -> None:
            i, j = abs(i), abs(j)
            if not self.there(row, "IJ", i, j):
                return
            plain = f"LINE{i}-{j}"
            name = element(plain, circuit)
            r, x = self._tiny(name, r, x, not on, zeros)
            out = {} if on else {"status": 0}
            self.put(row, "Line", {**given_id(name, plain), "bus1": i, "bus2": j, "r": r, "x": x,
                                    **({"b": b} if b else {}), **out})
            if GI or BI:
                self.put(row, "Shunt", {"id": f"SHUNT_{name}_{i}", "bus": i, "g": GI, "b": BI} | out)
            if GJ or BJ:
                self.put(row, "Shunt", {"id": f"SHUNT_{name}_{j}", "bus": j, "g": GJ, "b": BJ} | out)

        def switch(row: Row) -> None:
            i, j = abs(row.integer("I")), abs(row.integer("J"))
            if self.there(row, "IJ", i, j):
                name = element(f"SWITCH{i}-{j}", row.text("CKT"))
                on = status(row, "STAT")
                r, x = self._tiny(name, 0.0, row.number("X"), bool(on), zeros)
                self.put(row, "Line", {"id": name, "bus1": i, "bus2": j, "r": r, "x": x} | on)

        self.each("branch", line, "I J ST", "CKT", "R X B GI BI GJ BJ")
        self.tried(self.tables.rows["system switching device"], switch)
        return zeros

    def _bypass(self, row: Row) -> None:
        """The series part of a FACTS device that is bypassed."""
        i, j = row.integer("I"), row.integer("J")
        if row.integer("MODE") == BYPASSED and j and self.there(row, "IJ", i, j):
            self.put(row, "Line", {"id": called("FACTS", row), "bus1": i, "bus2": j, "r": 0.0, "x": 0.0})

    def _tiny(self, name: str, r: float, x: float, out: bool, zeros: list[str]) -> tuple[float, float]:
        """An impedance; zero in service where it is below the threshold, and one to begin with out of service."""
        if abs(complex(r, x)) >= TINY and (out or r or abs(x) > self.threshold):
            return r, x
        if out:
            zeros.append(name)
        return 0.0, SMALLEST * out

    def _shunts(self) -> None:
        as_given = []

        def fixed(row: Row, bus: int) -> None:
            name = element(f"SHUNT{bus}", row.text("ID"))
            self.put(row, "Shunt", given_id(name, f"SHUNT{bus}") | {
                "bus": bus, "g": row.number("GL") / self.base, "b": row.number("BL") / self.base}
                | status(row, "STATUS"))

        def of_bus(row: Row, bus: int) -> None:
            g, b = row.number("GL"), row.number("BL")
            if g or b:
                self.put(row, "Shunt", {"bus": bus, "g": g / self.base, "b": b / self.base})

        def variable(row: Row, bus: int) -> None:
            id = element(f"SWITCHED{bus}", row.text("ID"))
            band = self._band(row, bus, id) if self.controls else None
            if band:
                self.switched.append(band)
            else:
                as_given.append(bus)
            self.put(row, "Shunt", {"id": id, "bus": bus, "b": row.number("BINIT") / self.base} | status(row, "STAT"))

        if "fixed shunt" not in sections(self.tables.version):
            self.at("bus", of_bus)
        self.at("fixed shunt", fixed)
        self.at("switched shunt", variable)
        if as_given:
            self.made.note(f"switched shunts stay as they are at t0: {listed(as_given)}")

    def _band(self, row: Row, bus: int, id: str) -> Switched | None:
        """How a switched shunt keeps a voltage in its band; None if it is out of service, locked, or controls none."""
        mode, target = row.integer("MODSW"), row.integer("SWREM") or bus
        if mode not in (STEPS, CONTINUOUS) or not is_on(row, "STAT") or not self.there(row, ["SWREM"], target):
            return None
        low, high = row.number("VSWLO"), row.number("VSWHI")
        if high < low:
            raise row.error(f"must not be below VSWLO, {low:g} pu", "VSWHI")
        blocks = [(row.integer(f"N{n}"), row.number(f"B{n}") / self.base) for n in range(1, 9) if row.integer(f"S{n}")]
        return Switched(self.home.get(target, target), low, high, id, levels(blocks), mode == CONTINUOUS)

    def _loads(self) -> None:
        """Constant power, current and admittance of a load in one ZIP, at the voltage of the file."""
        mixed = []

        def load(row: Row, bus: int, on: int, local: int, identifier: str, PL: float, QL: float, IP: float, IQ: float,
                 YP: float, YQ: float) -> None:
            if not self.there(row, "I", bus):
                return
            Vm = self.fields[bus]["Vm0"]
            p, q = row.numbers("DGENP DGENQ") if local else (0.0, 0.0)  # within the load, where it is counted
            P = [YP * Vm ** 2, IP * Vm, PL - p]
            Q = [0.0 - YQ * Vm ** 2, IQ * Vm, QL - q]  # YQ > 0 is capacitive
            fields = {**parts(row, "p", P), **parts(row, "q", Q)} if self.loads is None else self.loads
            if IP or IQ or YP or YQ:
                mixed.append(bus)
            plain = f"LOAD{bus}"
            name = element(plain, identifier)
            self.put(row, "ZIP", {**given_id(name, plain), "bus": bus, "P0": sum(P) / self.base,
                                   "Q0": sum(Q) / self.base, **fields, **({} if on else {"status": 0})})

        self.each("load", load, "I STATUS DGENF", "ID", "PL QL IP IQ YP YQ")
        if mixed:
            self.made.note("parts of loads at constant current or admittance are counted at the voltages in the file: "
                           f"buses {listed(mixed)}")

    def _generators(self) -> None:
        at: dict[int, list[Machine]] = defaultdict(list)

        def machine(row: Row, bus: int, *values: Any) -> None:
            if self.there(row, "I", bus):
                at[bus].append(Machine(row, *values))

        self.each("generator", machine, "I STAT IREG", "ID", "VS RT XT MBASE QB QT ZR ZX PG QG")
        remote, differ, step_up = [], [], []
        for bus, machines in at.items():
            kind, Vm = self.kind[bus], self.fields[bus]["Vm0"]
            running = [each for each in machines if each.STAT]
            V0 = (running or machines)[0].VS
            if any(each.VS != V0 for each in running):
                differ.append(bus)
            target = next((each.IREG for each in running if each.IREG not in (0, bus)), 0)
            if target:
                if kind == PV and self.there(running[0].row, ["IREG"], target):
                    self.regulate(target, V0, [element(f"GEN{bus}", each.ID) for each in machines])
                remote.append(bus)
                V0 = Vm
            control = {PV: "PV", SLACK: "slack"}.get(kind, "PQ")
            if control == "PV" and running and abs(V0 - Vm) > DIGITS and all(each.at_limit for each in running) \
                    and self.tables.remark != AUTHOR:
                self.limited[bus] = []
            if running and kind in (PV, SLACK):
                held = self.regulated.setdefault(self.home.get(bus, bus), V0)
                differ += [bus] * (held != V0 and bus not in differ)
                V0 = held
            if any(each.XT or each.RT for each in machines):
                step_up.append(bus)
            self.tried(machines, lambda each, bus=bus, control=control, V0=V0: self.put(  # type: ignore[misc]
                each.row, "StaticGenerator", self._generator(bus, each, control, V0)))
        for buses, text in ((differ, "generators at one bus have different voltage set-points, the first is taken: "),
                            (remote, "generators that regulate another bus hold their own as it is in the file: "),
                            (step_up, "step-up transformers within generator data (RT, XT) are left out: ")):
            if buses and not (self.controls and buses is remote):
                self.made.note(f"{text}buses {listed(buses)}")

    def _generator(self, bus: int, machine: Machine, control: str, V0: float) -> dict[str, Any]:
        base = self.base
        name = element(f"GEN{bus}", machine.ID)
        if V0 <= 0:
            raise machine.row.error("must be above 0", "VS")
        limits = {key: value / base for key, value in (("Qmin", machine.QB), ("Qmax", machine.QT))
                  if abs(value) < NO_LIMIT}
        source = {"Rs": machine.ZR, "Xdp": machine.ZX}
        made = {**given_id(name, f"GEN{bus}"), "bus": bus, "control": control,
                "Sn": machine.MBASE if machine.MBASE > 0 else base, "P0": machine.PG / base, "Q0": machine.QG / base,
                "V0": V0, **limits, **{key: value for key, value in source.items() if value},
                **({} if machine.STAT else {"status": 0})}
        if bus in self.limited:
            made["control"] = "PQ"
            self.limited[bus].append(made)
        return made

    def regulate(self, bus: int, V: float, ids: list[str]) -> None:
        """Sources are to hold the voltage of a bus that is not theirs."""
        held = self.home.get(bus, bus)
        self.regulating.setdefault(held, Remote(held, V, [])).ids += ids

    def remote(self) -> list[Remote]:
        """Buses whose voltages generators elsewhere hold, and none at the bus; those that keep their Q do not."""
        control = {record.fields.get("id") or f"GEN{record.fields['bus']}": record.fields.get("control")
                   for record in self.made if record.model == "StaticGenerator"}
        found = [Remote(each.bus, each.V, [id for id in each.ids if control.get(id) == "PV"])
                 for each in self.regulating.values() if each.bus not in self.regulated]
        return [each for each in found if each.ids]

    def _limits(self) -> None:
        """Sources at a limit in the file's solution keep their reactive power, and the voltage if it is no solution."""
        at = {bus: self.home.get(bus, bus) for bus in self.limited}
        off = unbalanced(self.made, set(at.values()), self.home) if at else set()
        kept = [bus for bus in self.limited if at[bus] not in off]
        for bus in self.limited.keys() - kept:
            for fields in self.limited[bus]:
                fields |= {"control": "PV", "V0": self.limited[bus][0]["V0"]}  # one voltage is held at a bus
        if kept:
            self.made.note("at a reactive limit in the file's solution, so that they keep their Q and not their "
                           f"voltage (control = PQ): generators at {listed(kept)}")
