"""MATPOWER case files (``.m``, case format version 2): the static network and its dispatch.

What the tables mean: R. D. Zimmerman, C. E. Murillo-Sanchez, MATPOWER User's Manual, version 8.0,
Appendix B (data file format) and sections 3.2 (branches: the transformer's ratio and shift stand at
the *from* end, which is ``bus1`` here), 3.6 (bus types); its function toggle_dcline.

Only tables are read. A file that goes on to compute its data in code is refused, because that code
is not executed.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from gridcore.case import Case, Instance, validate
from gridcore.contract import Load, Record
from gridcore.errors import CaseError

from . import sources
from .characteristics import shares
from .psse import element
from .raw_write import bus_numbers, kinds
from .schedules import scheduled

PQ, PV, SLACK, ISOLATED = 1, 2, 3, 4
COLUMNS = {
    "bus": ("BUS_I", "BUS_TYPE", "PD", "QD", "GS", "BS", "BUS_AREA", "VM", "VA", "BASE_KV"),
    "gen": ("GEN_BUS", "PG", "QG", "QMAX", "QMIN", "VG", "MBASE", "GEN_STATUS"),
    "branch": ("F_BUS", "T_BUS", "BR_R", "BR_X", "BR_B", "RATE_A", "RATE_B", "RATE_C", "TAP", "SHIFT",
               "BR_STATUS"),
    "dcline": ("F_BUS", "T_BUS", "BR_STATUS", "PF", "PT", "QF", "QT", "VF", "VT", "PMIN", "PMAX", "QMINF", "QMAXF",
               "QMINT", "QMAXT", "LOSS0", "LOSS1"),
}
OPTIONAL = {"dcline"}

NUMBERS = {"BUS_I", "GEN_BUS", "F_BUS", "T_BUS"}

Row = dict[str, float]
Generator = tuple[str, Row, str]  # place, values, and the id if it is none of the table of generators


def read(path: Path, *, loads: str = "") -> Case:
    """Read a case, but for isolated buses.

    Loads become ``ZIP``, generators ``StaticGenerator``, named in their order at a bus: ``GEN7``, ``GEN7_2``, and so do
    the ends of lines for direct current: ``DCLINE1_7``. Whatever is left out or decided is told in ``case.notes``.

    Parameters
    ----------
    path : Path
    loads : str
        Characteristic of the loads: see :func:`gridcore_readers.characteristics.shares`. The file says nothing of
        it; constant impedance if not given.
    """
    characteristic = shares(loads)
    tables, base_mva = _tables(path)
    case = Case(path.stem, base_mva=base_mva, about={"source": f"MATPOWER case file {path.name}"})
    notes = [f"the file does not give the nominal frequency: {case.frequency:g} Hz is taken"]
    isolated = {row["BUS_I"] for _, row in tables["bus"] if row["BUS_TYPE"] == ISOLATED}
    if isolated:
        notes.append(f"isolated buses left out, with all that is at them: {_numbers(isolated)}")
    file = str(path)
    for place, row in tables["bus"]:
        if row["BUS_I"] not in isolated:
            case.add(Record("Bus", _bus(row), file, place))
    for place, row in tables["branch"]:
        if not {row["F_BUS"], row["T_BUS"]} & isolated:
            case.add(Record(*_branch(row), file, place))
    for place, row in tables["bus"]:
        if row["BUS_I"] not in isolated:
            for model, fields in _at_bus(row, base_mva):
                case.add(Record(model, fields | (characteristic if model == "ZIP" else {}), file, place))
    generators = [(place, row, "") for place, row in tables["gen"]] + _terminals(tables["dcline"], isolated, notes)
    for record in _generators([each for each in generators if each[1]["GEN_BUS"] not in isolated], tables["bus"],
                              base_mva, file, notes):
        case.add(record)
    for note in notes:
        case.note(note)
    return case


def _bus(row: Row) -> dict[str, Any]:
    kv = {"kv": row["BASE_KV"]} if row["BASE_KV"] > 0 else {}  # 0 stands for not given
    return {"id": int(row["BUS_I"]), **kv, "Vm0": row["VM"], "Va0": math.radians(row["VA"])}


def _branch(row: Row) -> tuple[str, dict[str, Any]]:
    fields = {"bus1": int(row["F_BUS"]), "bus2": int(row["T_BUS"]),
              "r": row["BR_R"], "x": row["BR_X"], "b": row["BR_B"]}
    if row["TAP"] == 0 and row["SHIFT"] == 0:
        return "Line", fields | _status(row, "BR_STATUS")
    return "Transformer", {**fields, "tap": row["TAP"] or 1.0, "phase": math.radians(row["SHIFT"]),
                           **_status(row, "BR_STATUS")}


def _status(row: Row, column: str) -> dict[str, Any]:
    return {} if row[column] > 0 else {"status": 0}


def _at_bus(row: Row, base: float) -> list[tuple[str, dict[str, Any]]]:
    bus, found = int(row["BUS_I"]), []
    if row["GS"] or row["BS"]:
        found.append(("Shunt", {"bus": bus, "g": row["GS"] / base, "b": row["BS"] / base}))
    if row["PD"] or row["QD"]:
        found.append(("ZIP", {"bus": bus, "P0": row["PD"] / base, "Q0": row["QD"] / base}))
    return found


def _terminals(rows: list[tuple[str, Row]], isolated: set[float], notes: list[str]) -> list[Generator]:
    """Both ends of each line for direct current, as what they are to MATPOWER's power flow after ``toggle_dcline``.

    One end draws the power of the line, the other injects it less the losses, and both hold their voltages.
    """
    found: list[Generator] = []
    lines = [(n, *item) for n, item in enumerate(rows, 1) if not {item[1]["F_BUS"], item[1]["T_BUS"]} & isolated]
    for end in "FT":  # those of all lines one after the other: of set-points at one bus the last counts
        for n, place, row in lines:
            P = -row["PF"] if end == "F" else row["PF"] - row["LOSS0"] - row["LOSS1"] * row["PF"]
            found.append((place, {
                "GEN_BUS": row[f"{end}_BUS"], "PG": P, "QG": row[f"Q{end}"], "QMAX": row[f"QMAX{end}"],
                "QMIN": row[f"QMIN{end}"], "VG": row[f"V{end}"], "MBASE": abs(row["PF"]),
                "GEN_STATUS": row["BR_STATUS"]}, f"DCLINE{n}_{row[f'{end}_BUS']:.0f}"))
    if lines:
        notes.append("lines for direct current (mpc.dcline) are constant power, and hold the voltages at their ends: "
                     f"{len(lines)}, {sum(row['BR_STATUS'] > 0 for _, _, row in lines)} of them in service")
    return found


def _generators(rows: list[Generator], buses: list[tuple[str, Row]], base: float, file: str,
                notes: list[str]) -> list[Record]:
    """Generators with the part that the type of their bus gives them in the power flow.

    At a reference bus the first is the slack. Where no reference bus has a generator, the first PV bus
    takes its place; of set-points that differ at one bus the last counts (as MATPOWER's ``bustypes``
    and ``runpf`` have it).
    """
    kind = {row["BUS_I"]: row["BUS_TYPE"] for _, row in buses}
    kind |= {row["GEN_BUS"]: PV for _, row, id in rows
             if id and row["GEN_STATUS"] > 0 and kind.get(row["GEN_BUS"]) != SLACK}
    running = [row for _, row, _ in rows if row["GEN_STATUS"] > 0]
    setpoint = {row["GEN_BUS"]: row["VG"] for row in running}
    differ = {row["GEN_BUS"] for row in running if row["VG"] != setpoint[row["GEN_BUS"]]}
    if differ:
        notes.append(f"generators at one bus have different voltage set-points, the last is taken: buses "
                     f"{_numbers(differ)}")
    slack = {bus for bus in setpoint if kind.get(bus) == SLACK}
    if not slack:
        slack = {next((bus for bus in kind if kind[bus] == PV and bus in setpoint), math.nan)}
        notes.append(f"no reference bus has a generator in service: bus {_numbers(slack)} takes its place")
    records, first = [], set(slack)
    at: dict[float, int] = defaultdict(int)
    for place, row, id in rows:
        bus, on = row["GEN_BUS"], row["GEN_STATUS"] > 0
        at[bus] += not id
        name = {"id": id} if id else {} if at[bus] == 1 else {"id": element(f"GEN{int(bus)}", str(at[bus]))}
        control = "slack" if bus in first and on else "PV" if kind.get(bus) in (PV, SLACK) else "PQ"
        first -= {bus} if on else set()
        records.append(Record("StaticGenerator", {
            **name, "bus": int(bus), "control": control, "Sn": row["MBASE"] or base, "P0": row["PG"] / base,
            "Q0": row["QG"] / base, "V0": setpoint.get(bus, row["VG"]), "Qmin": row["QMIN"] / base,
            "Qmax": row["QMAX"] / base, **_status(row, "GEN_STATUS")}, file, place))
    return records


def _numbers(buses: set[float]) -> str:
    return ", ".join(f"{bus:.0f}" for bus in sorted(buses)[:10]) + ", ..." * (len(buses) > 10)


# ---------------------------------------------------------------- the tables of a file


def _tables(path: Path) -> tuple[dict[str, list[tuple[str, Row]]], float]:
    """``{table: [(place, row)]}`` and the base (MVA); numbers all, every row as wide as it must be."""
    file = str(path)
    text = sources.text(path, errors="replace")
    text = re.sub(r"%.*", "", text)  # line numbers stay
    code = re.search(rf"^[ \t]*mpc\.(?:{'|'.join(COLUMNS)})[ \t]*\(.*", text, re.MULTILINE)
    if code:
        raise CaseError(f"computes its data in code ({code[0].strip()!r}), which is not executed: "
                        "save the case from MATPOWER with savecase",
                        file=file, row=f"line {_line(text, code.start())}")
    base = re.search(r"mpc\.baseMVA\s*=\s*([^;\n]*)", text)
    if base is None:
        raise CaseError("is not a MATPOWER case file of version 2: it has no mpc.baseMVA", file=file)
    place = f"line {_line(text, base.start())}"
    base_mva = _number_in(base[1].strip(), file, place, "baseMVA")
    if not 0 < base_mva < math.inf:
        raise CaseError(f"{base_mva:g} must be above 0", file=file, row=place, field="baseMVA")
    return {name: _table(text, name, columns, file) for name, columns in COLUMNS.items()}, base_mva


def _table(text: str, name: str, columns: tuple[str, ...], file: str) -> list[tuple[str, Row]]:
    table = re.search(rf"mpc\.{name}\s*=\s*\[([^\]]*)\]", text)
    if table is None:
        if name in OPTIONAL:
            return []
        raise CaseError(f"has no table mpc.{name}", file=file)
    rows: list[tuple[str, Row]] = []
    body, line, seen = table[1], _line(text, table.start(1)), 0
    for match in re.finditer(r"[^;\n]*[^;\s][^;\n]*", body):
        line, seen = line + body.count("\n", seen, match.start()), match.start()
        place = f"{name} row {len(rows) + 1} (line {line})"
        words = match[0].replace(",", " ").split()
        if len(words) < len(columns):
            raise CaseError(f"missing: the row has {len(words)} columns of at least {len(columns)}",
                            file=file, row=place, field=columns[len(words)])
        rows.append((place, {key: _number_in(word, file, place, key) for key, word in zip(columns, words)}))
        for key in NUMBERS & rows[-1][1].keys():
            if not rows[-1][1][key].is_integer():
                raise CaseError(f"{rows[-1][1][key]!r} is not the number of a bus", file=file, row=place, field=key)
    return rows


def _number_in(word: str, file: str, place: str, field: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise CaseError(f"{word!r} is not a number", file=file, row=place, field=field) from None
    if math.isnan(value):
        raise CaseError("NaN is not a value to calculate with", file=file, row=place, field=field)
    return value


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


# ---------------------------------------------------------------- writing


def write(case: Case, path: Path) -> None:
    """Write the static network; what MATPOWER has no table for (machines' dynamics, events) is left out."""
    valid = validate(case)
    base = valid.base_mva
    number = bus_numbers([instance.id for instance in valid.of("Bus")])
    at: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)  # Pd, Qd, Gs, Bs
    kind, injected = kinds(valid.records), scheduled(case, valid.records)
    gens, branches = [], []
    for instance in valid.records:
        values, ports = instance.values, instance.ports
        if instance.device.regulates:
            bus = ports["bus"]
            if instance.in_service and instance.words["control"] == "PQ" and kind[bus] != PQ:
                _draw(at[bus], -base * complex(values["P0"], values["Q0"]))  # one beside it holds the voltage
                continue
            gens.append([number[bus], values["P0"] * base, values["Q0"] * base, values["Qmax"] * base,
                         values["Qmin"] * base, values["V0"], values["Sn"], int(instance.in_service), 0, 0])
        elif issubclass(instance.device, Load):
            _draw(at[ports["bus"]], complex(values["P0"], values["Q0"]) * values["k"] * base * instance.in_service)
        elif instance.id in injected:
            _draw(at[ports["bus"]], -injected[instance.id] * base * instance.in_service)
        elif instance.model == "Shunt" and instance.in_service:
            at[ports["bus"]][2] += values["g"] * base
            at[ports["bus"]][3] += values["b"] * base
        elif instance.model in ("Line", "Transformer"):
            shunt = values["g"] / 2 * base * instance.in_service
            at[ports["bus1"]][2] += shunt / values.get("tap", 1.0) ** 2
            at[ports["bus2"]][2] += shunt
            branches.append([number[ports["bus1"]], number[ports["bus2"]], values["r"], values["x"],
                             values["b"], 0, 0, 0, values.get("tap", 0),
                             math.degrees(values.get("phase", 0)), int(instance.in_service), -360, 360])
        elif len(instance.device.bus_ports()) > 1:
            raise instance.record.error(f"MATPOWER has no branch like a {instance.model}")
    buses = [_bus_row(instance, number, kind, at) for instance in valid.of("Bus")]
    parts = [f"function mpc = {re.sub(r'[^A-Za-z0-9_]', '_', path.stem)}", "mpc.version = '2';",
             f"mpc.baseMVA = {base!r};"]
    for name, rows in (("bus", buses), ("gen", gens), ("branch", branches)):
        parts += [f"mpc.{name} = [", *("\t" + "\t".join(map(_number, row)) + ";" for row in rows), "];"]
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _draw(row: list[float], power: complex) -> None:
    row[0] += power.real
    row[1] += power.imag


def _bus_row(bus: Instance, number: dict[str, int], kind: dict[str, int],
             at: dict[str, list[float]]) -> list[float]:
    values = bus.values
    return [number[bus.id], kind.get(bus.id, PQ), *at[bus.id], 1, values["Vm0"], math.degrees(values["Va0"]),
            values["kv"], 1, 1.1, 0.9]


def _number(value: float) -> str:
    return {math.inf: "Inf", -math.inf: "-Inf"}.get(value) or repr(value)
