"""What injects power and is no generator of a power-flow file: converters, FACTS devices, induction machines.

Each is a ``StaticGenerator``: constant power, or a voltage held within limits of reactive power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import induction
from .balance import lacking
from .direct_current import Terminal, two_terminal, voltage_source
from .multi_terminal import multi_terminal
from .psse import Row, element, listed
from .raw_fields import called, is_on

if TYPE_CHECKING:
    from .raw import Reader

NORMAL, BYPASSED = 1, 2  # modes of a FACTS device: its series part carries PDES and QDES, or its buses are one
DIGITS = 2e-5  # pu: voltages of a file differ by more than their rounding
#: Sections of lines for direct current: what the ids of their sources begin with, which column says how many converters
#: a record has (None: two), the column of the buses of these, and what makes sources of them.
DIRECT = {"two-terminal dc": ("DC", None, "IP", two_terminal), "VSC dc": ("VSC", None, "IBUS", voltage_source),
          "multi-terminal dc": ("MTDC", "NCONV", "IB", multi_terminal)}
SECTIONS = (*DIRECT, "FACTS", "induction machine")


class PowerSources:
    """Adds them to what a reader of a file has made, all but the sections to drop."""

    def __init__(self, reader: Reader, drop: Sequence[str]):
        self.reader = reader
        self.remote: list[int] = []
        for section in SECTIONS:
            if section in drop and reader.tables.rows[section]:
                reader.made.note(f"{section} data left out, as asked for: {len(reader.tables.rows[section])} lines")
        self._lines(drop)
        if "FACTS" not in drop:
            reader.tried(reader.tables.rows["FACTS"], self._facts)
        if self.remote and not reader.controls:
            reader.made.note("converters and FACTS devices that regulate another bus hold their own as it is in the "
                             f"file: buses {listed(self.remote)}")
        if "induction machine" not in drop:
            self._induction_machines()

    def _lines(self, drop: Sequence[str]) -> None:
        """Lines for direct current: a source at each of their terminals."""
        Vm = {number: fields["Vm0"] for number, fields in self.reader.fields.items()}
        said: list[str] = []
        blocked: list[str] = []

        def line(section: str, row: Row, further: list[Row]) -> None:
            kind, count, column, terminals = DIRECT[section]
            for end in further[:row.integer(count) if count else None]:
                self.reader.there(end, [column], end.integer(column))
            found = terminals(row, further, Vm)
            if not any(terminal.bus in self.reader.isolated for terminal in found):
                name = called(kind, row)
                for terminal in found:
                    self._terminal(f"{name}_{terminal.bus}", terminal)
                (said if found else blocked).append(row.text("NAME"))

        for section in DIRECT:
            if section not in drop:
                self.reader.tried(zip(self.reader.tables.rows[section], self.reader.tables.further[section]),
                                  lambda item, section=section: line(section, *item))  # type: ignore[misc]
        if said:
            self.reader.made.note(f"lines for direct current are constant power at their terminals: {listed(said)}")
        if blocked:
            self.reader.made.note(f"lines for direct current that are blocked, left out: {listed(blocked)}")

    def _induction_machines(self) -> None:
        """Sources of what their buses lack in the file's solution, one for each bus."""
        at: dict[int, Row] = {}
        made: list[int] = []

        def stands(row: Row, bus: int) -> None:
            if is_on(row, "ST"):
                other = at.setdefault(self.reader.home.get(bus, bus), row)
                if other is not row:
                    raise row.error(f"which part of the power of the bus it takes is not known, beside {other.place}")

        self.reader.at("induction machine", stands)
        lacks = lacking(self.reader.made, set(at), self.reader.home)

        def make(bus: int) -> None:
            power, rounding = lacks[bus]
            terminal = induction.machine(at[bus], power, rounding, self.reader.base)
            self._terminal(element(f"INDUCTION{terminal.bus}", at[bus].text("ID")), terminal)
            made.append(terminal.bus)

        self.reader.tried(at, make)
        if made:
            self.reader.made.note("induction machines are constant power, what their buses lack in the file's "
                                  f"solution: buses {listed(made)}")

    def _facts(self, row: Row) -> None:
        """The shunt part holds the voltage; what the series part carries leaves its bus and enters the other."""
        bus, other, most, mode = row.integer("I"), row.integer("J"), row.number("SHMX"), row.integer("MODE")
        if mode == 0 or not self.reader.there(row, "IJ", bus, *filter(None, [other])):
            return
        carries = bool(other) and mode != BYPASSED
        power = complex(row.number("PDES"), row.number("QDES")) if carries else 0j
        name, holds = called("FACTS", row), row.number("VSET")
        self._terminal(f"{name}_{bus}", Terminal(row, bus, complex(-power.real, 0.0), holds, (-most, most), abs(power),
                                                 row.integer("REMOT")))
        if carries:
            self._terminal(f"{name}_{other}", Terminal(row, other, power, rating=abs(power)))
        self.reader.made.note(f"the FACTS device {row.text('NAME')} is a source that holds the voltage of bus {bus}"
                              + (f", and constant power at bus {other}" if carries else "")
                              + (f"; its MODE, {mode}, is not followed" if carries and mode != NORMAL else ""))

    def _terminal(self, id: str, terminal: Terminal) -> None:
        """A source; that of a converter which holds a voltage the file's solution does not have is at its limit."""
        reader, bus = self.reader, terminal.bus
        base, Vm, here = reader.base, reader.fields[bus]["Vm0"], reader.home.get(bus, bus)
        P, Q = terminal.power.real / base, terminal.power.imag / base
        fields: dict[str, Any] = {"id": id, "bus": bus, "control": "PQ", "Sn": terminal.rating or base, "P0": P}
        if terminal.V0 is not None:
            own = terminal.V0
            if terminal.regulates not in (0, bus) and reader.there(terminal.row, ["REMOT"], terminal.regulates):
                reader.regulate(terminal.regulates, own, [id])
                self.remote.append(bus)
                own = Vm
            least, most = (value / base for value in terminal.Q)
            V0 = reader.regulated.get(here, own)
            fields |= {"control": "PV", "V0": V0, "Qmin": least, "Qmax": most}
            if bus in reader.limited or (abs(V0 - Vm) > DIGITS and here not in reader.regulated):
                Q = most if V0 > Vm else least
                fields["control"] = "PQ"
                reader.limited[bus].append(fields)
            else:
                reader.regulated[here] = V0
        fields["Q0"] = Q
        reader.put(terminal.row, "StaticGenerator", fields)
