"""PSS/E's record CDC6T of a two-terminal line for direct current."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Mode, Param, guard
from gridcore_blocks import Lag

from .cdc4t import BLOCKED, BYPASSED, FREE, OPENED, ORDER, RELEASED, InterruptedLine

STOPPED = {**BLOCKED, "called": 0, "back": 0, "answered": 0}


class CDC6T(InterruptedLine):
    """Two-terminal line with line-commutated converters, CDC6T of PSS/E; a :class:`CDCInverter` is its other end.

    Siemens PTI, PSS/E model library, CDC6T; STEPS (Li Changgang, 2021), ``CDC6T.cpp``, which names what the ten further
    values are. The circuit (Kundur, 1994, chapter 10), the orders and their rise are those of :class:`CDC4T`; what
    differs is when it is blocked, released and bypassed, and that the DC voltage of the rectifier is measured itself.

    *Blocked* where the rectifier's AC voltage is below VBLOCK, or below VDEBLK for TDEBLK, or TCOMB after that of the
    inverter was below VINBLK. *Released* when it was blocked for TBLOCK, the rectifier's AC voltage is above VUNBL for
    TREBLK, and TCOMB after that of the inverter was above VUNBY for TINBLK. *Bypassed* where the inverter's DC voltage
    is below VBYPAS, or its AC voltage below VACBYP for TDEBYP; for TBYPAS, and then until its AC voltage is above VUNBY
    for TINBYP. STEPS has the rectifier's measurement (TVRDC) and does not use it; here a power that the rectifier holds
    is divided by it.
    """

    dyr = (*ORDER, "VDEBLK", "TDEBLK", "TREBLK", "VINBLK", "TCOMB", "VACBYP", "TDEBYP", "TINBLK", "TINBYP", "TVRDC")
    VDEBLK = Param("pu", 0.5, doc="AC voltage of the rectifier below which the line is blocked after a delay")
    TDEBLK = Param("s", 0.2, ge=0, doc="that delay")
    TREBLK = Param("s", 0.05, ge=0, doc="for how long the rectifier's AC voltage is above VUNBL before a release")
    VINBLK = Param("pu", 0.3, doc="AC voltage of the inverter below which the line is blocked after TCOMB")
    TCOMB = Param("s", 0.02, ge=0, doc="delay of communication between the converters")
    VACBYP = Param("pu", 0.5, doc="AC voltage of the inverter below which it is bypassed after a delay")
    TDEBYP = Param("s", 0.1, ge=0, doc="that delay")
    TINBLK = Param("s", 0.05, ge=0, doc="for how long the inverter's AC voltage is above VUNBY before a release")
    TINBYP = Param("s", 0.05, ge=0, doc="for how long it is before a bypass is opened")
    TVRDC = Param("s", 0.05, ge=0, doc="time constant of the measurement of the rectifier's DC voltage")
    called = Mode(0, doc="1 from when the inverter has asked for the line to be blocked until that is heard")
    back = Mode(0, doc="1 where the rectifier's AC voltage would allow a release")
    answered = Mode(0, doc="1 where that of the inverter would, 2 when that is heard")
    Vm1 = Lag("Vd1", T="TVRDC", init=250.0, unit="kV", doc="DC voltage of the rectifier, measured")

    @guard("down", when={"blocked": 0}, then=STOPPED)
    def blocks(s: Any, bus: Any) -> Any:
        """The AC voltage of the rectifier falls below VBLOCK, and the line is blocked."""
        return bus.Vm - s.VBLOCK

    @guard("down", when={"blocked": 0}, then=STOPPED, delay="TDEBLK")
    def blocks_late(s: Any, bus: Any) -> Any:
        """The AC voltage of the rectifier was below VDEBLK for its time, and the line is blocked."""
        return bus.Vm - s.VDEBLK

    @guard("down", when={"blocked": 0, "called": 0}, then={"called": 1})
    def calls(s: Any) -> Any:
        """The AC voltage of the inverter falls below VINBLK, and it asks for the line to be blocked."""
        return s.Vac2 - s.VINBLK

    @guard("up", when={"blocked": 0, "called": 1}, then=STOPPED, delay="TCOMB")
    def hears(s: Any) -> Any:
        """The rectifier hears it, and the line is blocked."""
        return 1.0

    @guard("up", when={"blocked": 1, "back": 0}, then={"back": 1}, delay="TREBLK")
    def comes_back(s: Any, bus: Any) -> Any:
        """The AC voltage of the rectifier was above VUNBL for its time."""
        return bus.Vm - s.VUNBL

    @guard("down", when={"blocked": 1, "back": 1}, then={"back": 0})
    def falls_again(s: Any, bus: Any) -> Any:
        """It falls below VUNBL again."""
        return bus.Vm - s.VUNBL

    @guard("up", when={"blocked": 1, "answered": 0}, then={"answered": 1}, delay="TINBLK")
    def answers(s: Any) -> Any:
        """The AC voltage of the inverter was above VUNBY for its time, and it says so."""
        return s.Vac2 - s.VUNBY

    @guard("up", when={"blocked": 1, "answered": 1}, then={"answered": 2}, delay="TCOMB")
    def hears_the_answer(s: Any) -> Any:
        """The rectifier hears it."""
        return 1.0

    @guard("up", when={"blocked": 1, "waited": 1, "back": 1, "answered": 2}, then=RELEASED)
    def releases(s: Any) -> Any:
        """Nothing is against it any more, and the line is released."""
        return 1.0

    @guard("down", when=FREE, then=BYPASSED)
    def bypasses(s: Any, bus: Any) -> Any:
        """The DC voltage falls below VBYPAS, and the inverter is bypassed."""
        return np.where(bus.Vm < s.VBLOCK, 1.0, s.Vfree - s.VBYPAS)

    @guard("down", when=FREE, then=BYPASSED, delay="TDEBYP")
    def bypasses_late(s: Any) -> Any:
        """The AC voltage of the inverter was below VACBYP for its time, and it is bypassed."""
        return s.Vac2 - s.VACBYP

    @guard("up", when={"bypassed": 2}, then=OPENED, delay="TINBYP")
    def opens(s: Any) -> Any:
        """The AC voltage of the inverter was above VUNBY for its time, and the bypass is opened."""
        return s.Vac2 - s.VUNBY
