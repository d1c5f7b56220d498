"""Transformer tap changer with delays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, PerUnit, Port, guard, quantity

from .transformer import Transformer

BEYOND = 0.01  # of a step: what sums of steps may be beyond the end of the range


class TapChanger(Device):
    """Steps the tap of its transformer while the voltage of a bus is out of its band, after delays.

    Sauer & Pai, "A comparison of discrete vs. continuous dynamic models of tap-changing-under-load transformers",
    Bulk Power System Voltage Phenomena III, Davos (1994), method 1: constant delays; with a shorter one between steps
    as in PSS/E's OLTC1T, and Van Cutsem & Vournas, *Voltage Stability of Electric Power Systems* (1998), section 4.4::

        in the band  --V < VMI or V > VMA for TD-->  moving  --TC: tap -> tap -+ step-->  out of the band
        out of the band  --TSD-->  moving            out of the band  --V back in the band-->  in the band

    A low voltage lowers the tap, which raises the voltage on the side of bus2; for a bus on the side of bus1 `step` is
    below zero. A movement that has begun is completed. Steps that would leave the range are not made. A band that is
    narrower than what a step makes of the voltage is hunted through without end.
    """

    attaches = (Port("transformer", Transformer), "bus")
    naming = "OLTC_{transformer}"
    dyr_tap = 2
    plausible = {"step": (-0.1, 0.1), "VMI": (0.5, "VMA")}
    VMA = Param(PerUnit("kV"), gt=0, doc="upper end of the voltage band")
    VMI = Param(PerUnit("kV"), gt=0, doc="lower end of the voltage band")
    step = Param("pu", 0.00625, doc="by how much a step changes the tap; below 0 for a bus on the side of the tap")
    RMA = Param("pu", 1.1, gt=0, doc="largest tap")
    RMI = Param("pu", 0.9, gt=0, doc="smallest tap")
    TD = Param("s", 30.0, ge=0, doc="time out of the band before the first step")
    TC = Param("s", 0.0, ge=0, doc="time that a movement takes")
    TSD = Param("s", 5.0, ge=0, doc="time out of the band before each further step")
    moving = Mode(0, doc="1 and -1 while the tap moves to raise and to lower the voltage")
    out = Mode(0, doc="1 and -1 where steps that raised and lowered the voltage did not bring it into the band yet")
    position = Mode(0, doc="steps that raised the voltage, less those that lowered it")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        if values["step"] == 0:
            return "step is zero: no step changes the tap"
        for low, high in (("VMI", "VMA"), ("RMI", "RMA")):
            if not values[low] < values[high]:
                return f"{low} = {values[low]:g} must be below {high} = {values[high]:g}"
        return None

    @quantity("pu", "tap of the transformer")
    def tap(s: Any, transformer: Any) -> Any:
        return transformer.tap

    @guard("down", when={"moving": 0, "out": 0}, then={"moving": 1}, delay="TD")
    def low(s: Any, bus: Any) -> Any:
        """Voltage below its band, the tap begins to move"""
        return np.where(_within(s, s.tap - s.step), bus.Vm - s.VMI, 1.0)

    @guard("down", when={"moving": 0, "out": 1}, then={"moving": 1}, delay="TSD", cancel=False)
    def still_low(s: Any, bus: Any) -> Any:
        """Voltage still below its band, the tap begins to move again"""
        return np.where(_within(s, s.tap - s.step), bus.Vm - s.VMI, 1.0)

    @guard("up", when={"moving": 0, "out": 0}, then={"moving": -1}, delay="TD")
    def high(s: Any, bus: Any) -> Any:
        """Voltage above its band, the tap begins to move"""
        return np.where(_within(s, s.tap + s.step), bus.Vm - s.VMA, -1.0)

    @guard("up", when={"moving": 0, "out": -1}, then={"moving": -1}, delay="TSD", cancel=False)
    def still_high(s: Any, bus: Any) -> Any:
        """Voltage still above its band, the tap begins to move again"""
        return np.where(_within(s, s.tap + s.step), bus.Vm - s.VMA, -1.0)

    @guard("up", when={"moving": 1}, delay="TC", then={
        "transformer.tap": lambda s: s.tap - s.step, "moving": 0, "out": 1, "position": lambda s: s.position + 1})
    def raises(s: Any) -> Any:
        """Step that raises the voltage"""
        return 1.0

    @guard("up", when={"moving": -1}, delay="TC", then={
        "transformer.tap": lambda s: s.tap + s.step, "moving": 0, "out": -1, "position": lambda s: s.position - 1})
    def lowers(s: Any) -> Any:
        """Step that lowers the voltage"""
        return 1.0

    @guard("up", when={"out": 1}, then={"out": 0})
    def no_longer_low(s: Any, bus: Any) -> Any:
        """Voltage back in its band"""
        return bus.Vm - s.VMI

    @guard("down", when={"out": -1}, then={"out": 0})
    def no_longer_high(s: Any, bus: Any) -> Any:
        """Voltage back in its band"""
        return bus.Vm - s.VMA


class OLTC1T(TapChanger):
    """PSS/E's tap changer of a transformer of two windings: its record has the delays, the RAW file all else."""

    dyr = ("TD", "TC", "TSD")


class OLTC3T(TapChanger):
    """PSS/E's tap changer of a transformer of three windings likewise, of the one that regulates a voltage."""

    dyr_tap = 3
    dyr = ("TD", "TC", "TSD")


def _within(s: Any, tap: Any) -> Any:
    """Whether a tap is in the range."""
    beyond = BEYOND * np.abs(s.step)
    return np.logical_and(tap > s.RMI - beyond, tap < s.RMA + beyond)
