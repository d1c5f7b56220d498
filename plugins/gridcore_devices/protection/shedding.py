"""LDS3BL and LVS3BL: load shedding in stages, by frequency and by voltage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Block, Device, Guard, Load, Mode, Param, Port, quantity

from .frequency import FrequencyRelay


class Stage(Block):
    """One stage of load shedding, with its parameters: a threshold, t, tb and frac, numbered.

    Where what is measured stays below the threshold for t it picks up, and the breaker opens tb later, whatever is
    measured then. It acts once; a stage that sheds nothing does not act.
    """

    def __init__(self, number: int, threshold: str, unit: str, doc: str):
        super().__init__(unit, doc)
        self.number, self.threshold = number, f"{threshold}{number}"

    def parts(self) -> Mapping[str, Any]:
        k, picked, opened = self.number, f"{self.name}_picked", f"{self.name}_opened"
        threshold, part, alive = self.value(self.threshold), self.value(f"frac{k}"), {"load.status": 1}
        return {
            self.threshold: Param(self.unit, 0.0, ge=0, doc=f"threshold: {self.doc}"),
            f"t{k}": Param("s", 0.0, ge=0, doc=f"pick-up time: {self.doc}"),
            f"tb{k}": Param("s", 0.0, ge=0, doc=f"time of the breaker: {self.doc}"),
            f"frac{k}": Param("pu", 0.0, ge=0, le=1, doc=f"part of the whole load: {self.doc}"),
            picked: Mode(0, doc=f"1 once it has picked up: {self.doc}"),
            opened: Mode(0, doc=f"1 once its breaker has opened: {self.doc}"),
            f"{self.name}_picks_up": Guard(
                lambda s: np.where(part(s) > 0, s.measured - threshold(s), 1.0), -1, {picked: 0, **alive}, {picked: 1},
                f"t{k}", doc=f"{self.doc} picks up"),
            f"{self.name}_sheds": Guard(
                lambda s: getattr(s, picked) - 0.5, 1, {opened: 0, **alive},
                {opened: 1, "load.k": lambda s, load: np.maximum(load.k - part(s), 0.0)},
                f"tb{k}", False, doc=f"{self.doc} sheds its part")}


def order(threshold: str) -> tuple[str, ...]:
    """The values of the five stages in a record."""
    return tuple(f"{name}{k}" for k in range(1, 6) for name in (threshold, "t", "tb", "frac"))


class SheddingRelay(Device):
    """Base of the relays that shed a load in five stages: :class:`Stage`. PSS/E model library, LDS3BL and LVS3BL.

    Parts are of the load at t0. The record, and its five stages, are those of InterPSS, whose tests hold the sum of
    both times to PSS/E's. The transfer trips of the original, of a generator or of branches, and the shedding of
    shunts are refused.
    """

    attaches = Port("load", node=Load)
    dyr_family = True
    SC = Param("", 0.0, ge=0, le=0, doc="1: shunts are shed, too")


class LDS3BL(SheddingRelay, FrequencyRelay):
    """Under-frequency load shedding relay of one load. PSS/E model library, LDS3BL.

    :class:`SheddingRelay` by the frequency, measured as
    :class:`~gridcore_devices.protection.frequency.FrequencyRelay` says.
    """

    naming = "LDS3BL_{load}"
    dyr = ("JBUS", None, "SC", *order("f"), None)
    JBUS = Param("", 0.0, ge=0, le=0, doc="bus of the generator that is tripped: 0, none")
    first = Stage(1, "f", "Hz", "first stage")
    second = Stage(2, "f", "Hz", "second stage")
    third = Stage(3, "f", "Hz", "third stage")
    fourth = Stage(4, "f", "Hz", "fourth stage")
    fifth = Stage(5, "f", "Hz", "fifth stage")

    @quantity("Hz", "what is measured")
    def measured(s: Any) -> Any:
        return s.frequency


class LVS3BL(SheddingRelay):
    """Under-voltage load shedding relay of one load. PSS/E model library, LVS3BL.

    :class:`SheddingRelay` by the voltage of the bus.
    """

    naming = "LVS3BL_{load}"
    dyr = ("IBUS1", None, None, "IBUS2", None, None, "SC", *order("v"), None, None)
    IBUS1 = Param("", 0.0, ge=0, le=0, doc="first bus of the first branch that is tripped: 0, none")
    IBUS2 = Param("", 0.0, ge=0, le=0, doc="first bus of the second branch that is tripped: 0, none")
    first = Stage(1, "v", "pu", "first stage")
    second = Stage(2, "v", "pu", "second stage")
    third = Stage(3, "v", "pu", "third stage")
    fourth = Stage(4, "v", "pu", "fourth stage")
    fifth = Stage(5, "v", "pu", "fifth stage")

    @quantity("pu", "what is measured")
    def measured(s: Any, bus: Any) -> Any:
        return bus.Vm
