"""The control of a tap: what a power-flow file of PSS/E says of it, for models whose record has only delays.

Siemens PTI, PSS/E Program Operation Manual, "Transformer data": where ``|COD|`` of the first winding is 1, its turns
ratio, from RMI to RMA in NTP positions, keeps the voltage of the bus CONT between VMI and VMA. A bus that is neither
end is on the side of the second winding, or of the first where CONT is below zero.
"""

from __future__ import annotations

from typing import Any

from gridcore.case import Instance
from gridcore.contract import Device, Record

from .power_flow_files import PowerFlowFiles
from .psse import Row, element

VOLTAGE = 1  # COD


def changes_tap(cls: type[Device]) -> bool:
    """Whether a class says (``dyr_tap``) that its devices change the tap of their transformer as its control asks."""
    return getattr(cls, "dyr_tap", False)


class Controls:
    """What power-flow files say of taps."""

    def __init__(self, files: PowerFlowFiles) -> None:
        self.files = files

    def of(self, transformer: Record, id: str) -> dict[str, Any]:
        """The regulated bus, the band and the range of a transformer, as fields of a tap changer.

        Raises
        ------
        CaseError
            If it was read from another file, or its tap does not control a voltage there.
        """
        row, winding = self._rows(transformer, id)
        ends, bus, positions = [row.integer("I"), row.integer("J")], winding.integer("CONT"), winding.integer("NTP")
        if abs(winding.integer("COD")) != VOLTAGE or not bus or positions < 2:
            raise winding.error(f"the tap of '{id}' does not control the voltage of a bus: "
                                f"COD = {winding.text('COD')}, CONT = {bus}, NTP = {positions}", "COD")
        scale = transformer.fields["tap"] / (winding.number("WINDV") if winding.text("WINDV") else 1.0)
        high, low = winding.number("RMA") * scale, winding.number("RMI") * scale
        first = abs(bus) == ends[0] or (bus < 0 and abs(bus) != ends[1])
        return {"bus": abs(bus), "VMA": winding.number("VMA"), "VMI": winding.number("VMI"), "RMA": high, "RMI": low,
                "step": (low - high if first else high - low) / (positions - 1)}

    def _rows(self, transformer: Record, id: str) -> tuple[Row, Row]:
        """The record of a transformer, and that of its first winding."""
        tables = self.files.tables(transformer, id, "the band and the range of a tap stand")
        return next((row, further[1]) for row, further in zip(
            tables.rows["transformer"], tables.further["transformer"]) if row.place == transformer.row)


def columns(changer: Instance, number: dict[str, int]) -> dict[str, Any]:
    """What :class:`Controls` reads, of the first winding; nothing where the steps do not fill the range."""
    values, bus = changer.values, number[changer.ports["bus"]]
    between = (values["RMA"] - values["RMI"]) / abs(values["step"])
    positions = round(between) + 1
    if abs(between + 1 - positions) > 1e-6:
        return {}
    return {"COD": VOLTAGE, "CONT": bus if values["step"] > 0 else -bus, "NTP": positions,
            **{name: values[name] for name in ("RMA", "RMI", "VMA", "VMI")}}


def called(bus: int, identifier: str) -> list[str]:
    """What the transformer of a record may be called; the identifier is its other bus and circuit."""
    other, _, circuit = identifier.partition(" ")
    return [element(f"TRANSFORMER{ends}", circuit) for ends in (f"{bus}-{other}", f"{other}-{bus}")]


