"""The control of a tap: what a power-flow file of PSS/E says of it, for models whose record has only delays.

Siemens PTI, PSS/E Program Operation Manual, "Transformer data": where ``|COD|`` of a winding is 1, its turns ratio,
from RMI to RMA in NTP positions, keeps the voltage of the bus CONT between VMI and VMA; of two windings it is the
first's. A bus that is none of the transformer's is on the other side of the winding, or on its own where CONT is below
zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from gridcore.case import Instance
from gridcore.contract import Device, Record

from .power_flow_files import PowerFlowFiles
from .psse import Row, element, listed

VOLTAGE = 1  # COD
TWO = 3  # lines that follow a record of two windings


def windings(cls: type[Device]) -> int:
    """Of a class whose devices change the tap of their transformer as its control asks, its windings (``dyr_tap``)."""
    return getattr(cls, "dyr_tap", 0)


class Controls:
    """What power-flow files say of taps."""

    def __init__(self, files: PowerFlowFiles) -> None:
        self.files = files

    def of(self, transformers: Mapping[str, Record]) -> dict[str, Any]:
        """What a tap changer has for fields: transformer, regulated bus, band and range.

        Parameters
        ----------
        transformers : mapping of str to Record
            By id: one, or those that are the windings of one, of which one has a tap that controls a voltage.

        Raises
        ------
        CaseError
            If it was read from another file, or its tap does not control a voltage there, or more of them do.
        """
        found = {id: self._rows(record, id) for id, record in transformers.items()}
        regulate = [id for id, (*_, winding) in found.items() if abs(winding.integer("COD")) == VOLTAGE]
        id = (regulate or [*found])[0]
        row, own, winding = found[id]
        if len(regulate) > 1:
            raise row.error(f"the taps of {listed(regulate)} control voltages, and the record is for one", "COD")
        bus, positions = winding.integer("CONT"), winding.integer("NTP")
        if not regulate or not bus or positions < 2:
            raise winding.error(f"the tap of '{id}' does not control the voltage of a bus: "
                                f"COD = {winding.text('COD')}, CONT = {bus}, NTP = {positions}", "COD")
        scale = transformers[id].fields["tap"] / (winding.number("WINDV") if winding.text("WINDV") else 1.0)
        high, low = winding.number("RMA") * scale, winding.number("RMI") * scale
        ends = [row.integer(name) for name in "IJK"]
        here = abs(bus) == ends[own] or (bus < 0 and abs(bus) not in ends)
        return {"transformer": id, "bus": abs(bus), "VMA": winding.number("VMA"), "VMI": winding.number("VMI"),
                "RMA": high, "RMI": low, "step": (low - high if here else high - low) / (positions - 1)}

    def _rows(self, transformer: Record, id: str) -> tuple[Row, int, Row]:
        """The record of a transformer, which of its windings has the tap, from 0, and the row of that."""
        tables = self.files.tables(transformer, id, "the band and the range of a tap stand")
        row, lines = next((row, lines) for row, lines in zip(
            tables.rows["transformer"], tables.further["transformer"]) if row.place == transformer.row)
        own = int(id[-1]) - 1 if len(lines) > TWO else 0
        return row, own, lines[1 + own]


def columns(changer: Instance, number: dict[str, int]) -> dict[str, Any]:
    """What :class:`Controls` reads, of the first winding; nothing where the steps do not fill the range."""
    values, bus = changer.values, number[changer.ports["bus"]]
    between = (values["RMA"] - values["RMI"]) / abs(values["step"])
    positions = round(between) + 1
    if abs(between + 1 - positions) > 1e-6:
        return {}
    return {"COD": VOLTAGE, "CONT": bus if values["step"] > 0 else -bus, "NTP": positions,
            **{name: values[name] for name in ("RMA", "RMI", "VMA", "VMI")}}


def called(bus: int, identifier: str, cls: type[Device]) -> list[str]:
    """What the transformers of a record may be called; the identifier is its other buses and circuit."""
    *others, circuit = identifier.split(" ", windings(cls) - 1)
    names = [element("TRANSFORMER" + "-".join(ends), circuit) for ends in itertools.permutations([str(bus), *others])]
    return names if len(others) == 1 else [f"{name}_w{k}" for name in names for k in (1, 2, 3)]
