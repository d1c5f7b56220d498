"""LDS3BL and LVS3BL: load shedding in stages, by frequency and by voltage, and what they trip besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Device, Guard, Load, Mode, Param, PerUnit, Port, guard, quantity
from gridcore_blocks import Block

from .frequency import FrequencyRelay


class Stage(Block):
    """One stage of load shedding, with its parameters: a threshold, t, tb and frac, numbered.

    Where what is measured stays below the threshold for t it picks up, and the breaker opens tb later, whatever is
    measured then. It acts once; a stage with a threshold of zero does not act.
    """

    def __init__(self, number: int, threshold: str, unit: str, doc: str):
        super().__init__(unit, doc)
        self.number, self.threshold = number, f"{threshold}{number}"

    def parts(self) -> Mapping[str, Any]:
        k, picked, opened = self.number, f"{self.name}_picked", f"{self.name}_opened"
        part, alive = self.value(f"frac{k}"), {"load.status": 1}
        threshold = self.value(self.threshold)
        return {
            self.threshold: Param(self.unit, 0.0, ge=0, doc=f"threshold: {self.doc}"),
            f"t{k}": Param("s", 0.0, ge=0, doc=f"pick-up time: {self.doc}"),
            f"tb{k}": Param("s", 0.0, ge=0, doc=f"time of the breaker: {self.doc}"),
            f"frac{k}": Param("pu", 0.0, ge=0, le=1, doc=f"part of the whole load: {self.doc}"),
            picked: Mode(0, doc=f"1 once it has picked up: {self.doc}"),
            opened: Mode(0, doc=f"1 once its breaker has opened: {self.doc}"),
            f"{self.name}_picks_up": Guard(
                lambda s: np.where(threshold(s) > 0, s.measured - threshold(s), 1.0), -1, {picked: 0, **alive},
                {picked: 1}, f"t{k}", doc=f"{self.doc} picks up"),
            f"{self.name}_sheds": Guard(
                lambda s: getattr(s, picked) - 0.5, 1, {opened: 0, **alive},
                {opened: 1, "load.k": lambda s, load: np.maximum(load.k - part(s), 0.0)},
                f"tb{k}", False, doc=f"{self.doc} sheds its part")}


def order(threshold: str) -> tuple[str, ...]:
    """The values of the five stages in a record."""
    return tuple(f"{name}{k}" for k in range(1, 6) for name in (threshold, "t", "tb", "frac"))


class SheddingRelay(Device):
    """Base of the relays that shed a load in five stages: :class:`Stage`. PSS/E model library, LDS3BL and LVS3BL.

    Parts are of the load at t0. The record, its five stages and its transfer trips are those of InterPSS, whose tests
    hold the sum of both times to PSS/E's: once the first stage has picked up, a :class:`TransferTrip` trips a generator
    or a branch, each with a time of its own. The shedding of shunts is refused.
    """

    attaches = Port("load", node=Load)
    dyr_family = True
    dyr_trips: ClassVar[type[Device]]  # what a record becomes besides, for all that it trips
    SC = Param("", 0.0, ge=0, le=0, doc="1: shunts are shed, too")


class LDS3BL(SheddingRelay, FrequencyRelay):
    """Under-frequency load shedding relay of one load. PSS/E model library, LDS3BL.

    :class:`SheddingRelay` by the frequency, measured as
    :class:`~gridcore_devices.protection.frequency.FrequencyRelay` says.
    """

    naming = "LDS3BL_{load}"
    dyr = ("trip1@bus", "trip1@id", "SC", *order("f"), "trip1@delay")
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
    dyr = ("trip1@from", "trip1@to", "trip1@circuit", "trip2@from", "trip2@to", "trip2@circuit", "SC", *order("v"),
           "trip1@delay", "trip2@delay")
    first = Stage(1, "v", PerUnit("kV"), "first stage")
    second = Stage(2, "v", PerUnit("kV"), "second stage")
    third = Stage(3, "v", PerUnit("kV"), "third stage")
    fourth = Stage(4, "v", PerUnit("kV"), "fourth stage")
    fifth = Stage(5, "v", PerUnit("kV"), "fifth stage")

    @quantity("pu", "what is measured")
    def measured(s: Any, bus: Any) -> Any:
        return bus.Vm


class TransferTrip(Device):
    """A device that a relay trips, ttb after the first of its stages has picked up.

    PSS/E model library, LDS3BL and LVS3BL, as InterPSS has them. Records of these relays name a generator, or two
    branches; here it is any device, and there may be several.
    """

    attaches = (Port("relay", SheddingRelay), "device")
    naming = "TRANSFER_{relay}_{device}"
    ttb = Param("s", 0.0, ge=0, doc="time of the breaker")
    opened = Mode(0, doc="1 once the breaker has opened")

    @guard("up", when={"opened": 0, "device.status": 1}, then={"opened": 1, "device.status": 0}, delay="ttb",
           cancel=False)
    def trips(s: Any, relay: Any) -> Any:
        """The breaker of what is tripped opens"""
        return (relay.first_picked + relay.second_picked + relay.third_picked + relay.fourth_picked
                + relay.fifth_picked - 0.5)


SheddingRelay.dyr_trips = TransferTrip
