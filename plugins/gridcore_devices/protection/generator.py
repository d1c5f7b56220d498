"""FRQTPAT and VTGTPAT: relays that trip a generator by the frequency or the voltage of a bus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gridcore.contract import Device, Mode, Param, PerUnit, Port, Source, guard, quantity

from .frequency import FrequencyRelay


class GeneratorRelay(Device):
    """Base of the relays that trip a generator, by what they measure at a bus. PSS/E model library, FRQTPAT, VTGTPAT.

    Where what is measured stays beyond its band for the pick-up time TP, the relay picks up, and the breaker opens TB
    later, whatever is measured then. What comes back into the band before the pick-up time is over starts anew. The
    record begins with a number of the relay's own; it is that of GridPACK and InterPSS, whose tests hold the sum of
    both times to PSS/E's.
    """

    attaches = ("bus", Port("machine", node=Source))
    dyr_numbered = True
    TP = Param("s", 0.0, ge=0, doc="pick-up time")
    TB = Param("s", 0.0, ge=0, doc="time of the breaker")
    picked = Mode(0, doc="1 once it has picked up")
    opened = Mode(0, doc="1 once the breaker has opened")

    @guard("down", when={"picked": 0, "machine.status": 1}, then={"picked": 1}, delay="TP")
    def low(s: Any) -> Any:
        """The relay picks up below its band"""
        return s.under

    @guard("up", when={"picked": 0, "machine.status": 1}, then={"picked": 1}, delay="TP")
    def high(s: Any) -> Any:
        """The relay picks up above its band"""
        return s.over

    @guard("up", when={"opened": 0, "machine.status": 1}, then={"opened": 1, "machine.status": 0}, delay="TB",
           cancel=False)
    def trips(s: Any) -> Any:
        """The breaker of the generator opens"""
        return s.picked - 0.5


class FRQTPAT(GeneratorRelay, FrequencyRelay):
    """Under- and over-frequency generator trip relay. PSS/E model library, FRQTPAT.

    :class:`GeneratorRelay` by the frequency between FL and FU, which is measured as
    :class:`~gridcore_devices.protection.frequency.FrequencyRelay` says.
    """

    dyr = ("bus@bus", "machine@bus", "machine@id", "FL", "FU", "TP", "TB")
    FL = Param("Hz", doc="lower end of the band")
    FU = Param("Hz", doc="upper end of the band")

    @quantity("Hz", "frequency above the lower end of the band")
    def under(s: Any) -> Any:
        return s.frequency - s.FL

    @quantity("Hz", "frequency above the upper end of the band")
    def over(s: Any) -> Any:
        return s.frequency - s.FU

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["FL"] < values["FU"] else "FL must be below FU"


class VTGTPAT(GeneratorRelay):
    """Under- and over-voltage generator trip relay. PSS/E model library, VTGTPAT.

    :class:`GeneratorRelay` by the voltage between VL and VU.
    """

    dyr = ("bus@bus", "machine@bus", "machine@id", "VL", "VU", "TP", "TB")
    VL = Param(PerUnit("kV"), doc="lower end of the band")
    VU = Param(PerUnit("kV"), doc="upper end of the band")

    @quantity("pu", "voltage above the lower end of the band")
    def under(s: Any, bus: Any) -> Any:
        return bus.Vm - s.VL

    @quantity("pu", "voltage above the upper end of the band")
    def over(s: Any, bus: Any) -> Any:
        return bus.Vm - s.VU

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["VL"] < values["VU"] else "VL must be below VU"
