"""Buses that branches without impedance connect, made one: each keeps its number, as a further name of the first."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

from gridcore.case import Case
from gridcore.contract import Record

from .psse import listed


def join(case: Case, rank: Callable[[Any], int]) -> dict[Any, Any]:
    """Make one bus of those that lines in service with r = x = 0 connect; returns it for each of the others.

    Parameters
    ----------
    case : Case
        With rows of buses and branches, as the reader of RAW files makes them.
    rank : callable
        Of two buses the one of higher rank gives the voltage and the number, of equal ones the first in the file.
    """
    zeros = [record for record in case if record.model == "Line" and record.fields.get("status", 1)
             and record.fields["x"] == record.fields["r"] == 0]
    if not zeros:
        return {}
    home = _homes([(line.fields["bus1"], line.fields["bus2"]) for line in zeros],
                  {record.fields["id"]: n for n, record in enumerate(case) if record.model == "Bus"}, rank)
    gone, shorted = {id(line) for line in zeros}, []
    records = []
    for record in case:
        fields = record.fields
        ends = [home.get(fields.get(port), fields.get(port)) for port in ("bus1", "bus2")]
        if record.model == "Bus" and fields["id"] in home:
            label = {"label": fields["label"]} if "label" in fields else {}
            own = {"id": f"BUS{fields['id']}", "bus": home[fields["id"]]}
            records.append(Record("JoinedBus", own | label, record.file, record.row))
        elif ends[0] is not None and ends[0] == ends[1]:
            shorted += [_name(record)] * (id(record) not in gone)
            records += _shunt(record)
        else:
            records.append(record)
    case.records = records
    case.note("buses without an impedance between them are one, by either number: "
              + listed(f"{bus} = {other}" for bus, other in home.items()))
    if shorted:
        case.note(f"branches between numbers of one bus are what they draw there: {listed(shorted)}")
    return home


def _homes(pairs: list[tuple[Any, Any]], place: dict[Any, int], rank: Callable[[Any], int]) -> dict[Any, Any]:
    """For each bus of a pair but the chosen ones, the chosen one of its group."""
    group: dict[Any, list[Any]] = {}
    for a, b in pairs:
        one, other = group.setdefault(a, [a]), group.setdefault(b, [b])
        if one is not other:
            small, large = sorted((one, other), key=len)
            large += small
            group |= dict.fromkeys(small, large)
    chosen = {id(buses): min(buses, key=lambda bus: (-rank(bus), place[bus])) for buses in group.values()}
    found = {bus: chosen[id(group[bus])] for bus in sorted(group, key=place.__getitem__)}
    return {bus: other for bus, other in found.items() if bus != other}


def _name(record: Record) -> str:
    fields = record.fields
    return str(fields.get("id") or f"{record.model.upper()}{fields['bus1']}-{fields['bus2']}")


def _shunt(record: Record) -> list[Record]:
    """What a branch draws with both of its ends at one voltage."""
    fields = record.fields
    z = complex(fields.get("r", 0.0), fields["x"])
    turns = cmath.rect(fields.get("tap", 1.0), fields.get("phase", 0.0))
    y = 0.5j * fields.get("b", 0.0) * (1 + 1 / abs(turns) ** 2) + (abs(1 / turns - 1) ** 2 / z if z else 0.0)
    status = {"status": fields["status"]} if "status" in fields else {}
    bus = fields["bus1"]
    own = {"id": f"SHUNT{bus}_{_name(record)}", "bus": bus, "g": y.real, "b": y.imag}
    return [Record("Shunt", own | status, record.file, record.row)] if y else []
