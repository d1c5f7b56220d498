"""Records of dynamic data for two-terminal lines for direct current: ``'name' 'MODEL' values... /``.

A class of such lines says with what the ids of the sources begin that a power flow has in its place (``dyr_line``), and
what stands at its other end and hangs on it (``dyr_end``). What the line is besides its record the row of the RAW file
says: Siemens PTI, PSS/E Program Operation Manual, two-terminal DC line data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gridcore.case import Instance
from gridcore.contract import Device, Record

from .direct_current import BRIDGE, two_terminal
from .inverse import inverse
from .psse import Row
from .raw_fields import called_so

if TYPE_CHECKING:
    from .dyr import Extension
    from .dyr_text import Model

SECTION = "two-terminal dc"
MOST = 90.0  # degrees: an angle that no line is at in a power flow
PER_UNIT = 2.0  # a voltage below it is none of a line in kV
DIGITS = 1e3  # of a least angle in degrees, so that no line is below it for its last bits


def replaces(extension: Extension, model: Model, cls: type[Any]) -> bool:
    """Put a line in the place of the sources that the power flow has for it; False where it has none.

    Raises
    ------
    CaseError
        If another record was for that line, or its row has what there is no device for.
    """
    case, id = extension.case, called_so(cls.dyr_line, model.identifier)
    if any(record.fields.get("id") == id for record in case):
        raise extension.error(model, f"'{id}' has a record already")
    sources = [case.records[n] for name, n in extension.place.items() if re.fullmatch(rf"{re.escape(id)}_\d+", name)]
    if len(sources) != 2:
        return False
    tables = extension.files.tables(sources[0], id, "what a line is besides its record stands")
    row, ends = next((row, ends) for row, ends in zip(tables.rows[SECTION], tables.further[SECTION])
                     if sources[0].row in [end.place for end in ends])
    Vm = {bus.integer("I"): bus.number("VM") for bus in tables.rows["bus"]}
    fields = _circuit(row, ends, Vm)
    if any(end.number("RC") for end in ends):
        case.note(f"{row.place}: RC of the converters of {row.text('NAME')} is left out, as in the power flow")
    case.note(f"{extension.path.name}: the line {row.text('NAME')} is a {model.name}, and no constant power")
    rectifier, inverter = sources
    values = extension.values(model, cls)
    if 0 < float(values.get("VBYPAS", 0.0)) < PER_UNIT:
        case.note(f"{extension.path.name}: VBYPAS of {row.text('NAME')}, {values['VBYPAS']:g}, is read as kV, and next "
                  "to nothing; PowerWorld has it in per unit")
    line = Record(cls.__name__, {"id": id, "bus": rectifier.fields["bus"], **fields, **values}, str(extension.path),
                  model.place)
    end = Record(cls.dyr_end, {"bus": inverter.fields["bus"], "line": id}, str(extension.path), model.place)
    for old, new in ((rectifier, line), (inverter, end)):
        case.records[case.records.index(old)] = new
    return True


def _circuit(row: Row, ends: list[Row], Vm: Mapping[int, float]) -> dict[str, float]:
    """The parameters that are not in the record of the dynamic data."""
    power = row.integer("MDC") == 1
    fields = {"Pset": row.number("SETVL") if power else 0.0, "Iset": 0.0 if power else row.number("SETVL") / 1000}
    fields |= {name: row.number(name) for name in ("VSCHD", "VCMOD", "RCOMP", "DELTI", "RDC")}
    if ends[1].number("ANMX") <= ends[1].number("ANMN"):
        raise ends[1].error("the inverter holds its extinction angle (ANMX is not above ANMN), and there is no device "
                            "for that: these hold the voltage", "ANMX")
    current = math.sqrt(abs(sum(terminal.power.real for terminal in two_terminal(row, ends, Vm))) / row.number("RDC"))
    voltage = row.number("VSCHD") - current * row.number("RCOMP")
    for side, end, Vdc in zip("RI", ends, (voltage + current * row.number("RDC"), voltage)):
        bridges, x = end.integer("NB"), end.number("XC")
        E = Vm[end.integer("IP")] * end.number("EBAS") * end.number("TR") / end.number("TAP")
        needs = (Vdc / bridges + 3 / math.pi * x * current) / (BRIDGE * math.cos(math.radians(end.number("ANMN"))))
        fields |= {f"NB{side}": float(bridges), f"XC{side}": x, f"E{side}": max(E, needs)}
    return fields


def name(instance: Instance) -> str:
    """What files call a line."""
    return instance.id.removeprefix(f"{getattr(instance.device, 'dyr_line', '')}_")


def ends(devices: set[type[Device]]) -> set[str]:
    """What stands at the other ends of lines of these classes: records of lines say all of it."""
    return {cls.dyr_end for cls in devices if hasattr(cls, "dyr_end")}


def rows(line: Instance, buses: tuple[int, int], Vm: tuple[float, float]) -> list[dict[str, Any]]:
    """The rows of a RAW file for a line, from which it is read with every bit."""
    v = line.values
    setting = v["Pset"] or inverse(lambda x: x / 1000, v["Iset"], v["Iset"] * 1000)
    out: list[dict[str, Any]] = [{"NAME": name(line), "MDC": 1 if v["Pset"] else 2, "RDC": v["RDC"], "SETVL": setting,
                                  "VSCHD": v["VSCHD"], "VCMOD": v["VCMOD"], "RCOMP": v["RCOMP"], "DELTI": v["DELTI"],
                                  "METER": "R" if v["Pset"] > 0 else "I"}]
    for side, bus, V, least in zip("RI", buses, Vm, ("ALFDY", "GAMDY")):
        E = v[f"E{side}"]
        base = inverse(lambda x, V=V: V * x, E, E / V)  # type: ignore[misc]
        out.append({"IP": bus, "NB": int(v[f"NB{side}"]), "ANMX": MOST, "RC": 0.0, "XC": v[f"XC{side}"],
                    "ANMN": math.floor(math.degrees(v[least]) * DIGITS) / DIGITS,
                    "EBAS": base, "TR": 1.0, "TAP": 1.0})
    return out
