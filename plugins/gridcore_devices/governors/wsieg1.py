"""WSIEG1: steam turbine and governor with dead band, backlash and a curve of the valve."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from gridcore.contract import Param, PerUnit, Setpoint, quantity
from gridcore_blocks import Block, Curve, Deadband, Lag, LeadLag, RateLimitedLag

from .ieeeg1 import IEEEG1, CrossCompound, CrossIEEEG1

_NEVER = 1e9  # pu: half the width of a band that nothing leaves


class Backlash(Block):
    """What a play moves: it stands while its input is within ``width`` of it, and is taken along at either end.

    At t0 it stands where its input does. The input is a state; `speed` is its rate. A width of zero is no play.
    """

    def __init__(self, u: str, *, speed: str, width: str, at: str, rest: str, unit: str = "pu", doc: str = ""):
        super().__init__(unit, doc)
        self.u, self.speed, self.width, self.at, self.rest = u, speed, width, at, rest

    def expand(self) -> None:
        u, speed, width, at = (self.value(name) for name in (self.u, self.speed, self.width, self.at))
        mode, moved = f"{self.name}_side", f"{self.name}_moved"
        self.mode(mode, f"1 taken upwards, -1 downwards, 0 it stands: {self.words}")
        self.state(moved, lambda s: np.where(getattr(s, mode) == 0, 0.0, speed(s)), start_at=self.rest,
                   doc=f"{self.words}: how far it was moved")

        def ahead(s: Any) -> Any:
            return u(s) - at(s) - getattr(s, moved)

        self.change("up", lambda s: np.where(width(s) > 0, ahead(s) - width(s), -1.0), 1, mode, 0, 1,
                    f"{self.name} is taken upwards")
        self.change("down", lambda s: np.where(width(s) > 0, ahead(s) + width(s), 1.0), -1, mode, 0, -1,
                    f"{self.name} is taken downwards")
        self.change("left_above", speed, -1, mode, 1, 0, f"{self.name} stands: its input turns down")
        self.change("left_below", speed, 1, mode, -1, 0, f"{self.name} stands: its input turns up")
        self.output(lambda s: np.where(width(s) > 0, at(s) + getattr(s, moved), u(s)))


class WSIEG1(IEEEG1):
    """IEEEG1 with a dead band of the speed, backlash of the valve and its curve.

    PSS/E model library, WSIEG1; IEC 61970-302, GovSteam1. The blocks are those of OpenIPSL, the record is that of
    GridPACK. :class:`~gridcore_devices.governors.ieeeg1.IEEEG1` with::

        speed    0 within DB1 of nominal, beyond that less ERR, or DB1 where ERR is zero, towards zero
        gate     the valve behind a play of DB2 to either side; it is what the valve's servomotor compares with the
                 reference
        steam    the curve through (GV1, PGV1) to (GV5, PGV5) at the gate, which goes on with its last slopes; the gate
                 itself where all of them are zero

    IBLOCK = 1 or 3 takes the valve at t0 for PMIN where that is zero, IBLOCK = 2 or 3 for PMAX.
    """

    dyr = (*IEEEG1.dyr, "DB1", "ERR", "DB2", "GV1", "PGV1", "GV2", "PGV2", "GV3", "PGV3", "GV4", "PGV4", "GV5", "PGV5",
           "IBLOCK")
    DB1 = Param(PerUnit("Hz"), 0.0, ge=0, doc="dead band of the speed, half of its width")
    ERR = Param("pu", 0.0, ge=0, doc="what a speed beyond the dead band is lessened by; 0: DB1")
    DB2 = Param("pu", 0.0, ge=0, doc="backlash of the valve, half of its width")
    GV1 = Param("pu", 0.0, doc="first gate of the curve")
    PGV1 = Param("pu", 0.0, doc="steam at GV1")
    GV2 = Param("pu", 0.0, doc="second gate of the curve")
    PGV2 = Param("pu", 0.0, doc="steam at GV2")
    GV3 = Param("pu", 0.0, doc="third gate of the curve")
    PGV3 = Param("pu", 0.0, doc="steam at GV3")
    GV4 = Param("pu", 0.0, doc="fourth gate of the curve")
    PGV4 = Param("pu", 0.0, doc="steam at GV4")
    GV5 = Param("pu", 0.0, doc="fifth gate of the curve")
    PGV5 = Param("pu", 0.0, doc="steam at GV5")
    IBLOCK = Param("", 0.0, ge=0, le=3, doc="limits that are the valve at t0 where they are 0: 1 PMIN, 2 PMAX, 3 both")
    unmoved = Param("pu", 0.0, doc="how far the backlash was moved at t0")
    valve0 = Setpoint("pu", init=0.5, equals=lambda s: s.valve, doc="valve at t0")

    @quantity(PerUnit("Hz"), "speed deviation")
    def slip(s: Any, machine: Any) -> Any:
        return machine.omega - 1.0

    band = Deadband("slip", width=lambda s: np.where(s.DB1 > 0, s.DB1, _NEVER), doc="speed beyond the dead band")

    @quantity(PerUnit("Hz"), "speed deviation behind the dead band")
    def banded(s: Any) -> Any:
        beyond = s.slip - s.band_side * np.where(s.ERR > 0, s.ERR, s.DB1)
        return np.where(s.DB1 > 0, np.where(s.band_side == 0, 0.0, beyond), s.slip)

    @quantity("pu", "lower limit of the valve")
    def lowest(s: Any) -> Any:
        return np.where(np.logical_and(_is(s.IBLOCK, 1, 3), s.PMIN == 0), s.valve0, s.PMIN)

    @quantity("pu", "upper limit of the valve")
    def highest(s: Any) -> Any:
        return np.where(np.logical_and(_is(s.IBLOCK, 2, 3), s.PMAX == 0), s.valve0, s.PMAX)

    droop = LeadLag("banded", T1="T2", T2="T1", K="K", doc="answer to the speed")
    valve = RateLimitedLag(lambda s: s.Pref - s.droop - s.gate + s.valve, T="T3", rates=("Uc", "Uo"),
                           limits=("lowest", "highest"), init=0.5, doc="valve position")

    @quantity("1/s", "rate of the valve, zero at its limits")
    def moving(s: Any) -> Any:
        return np.where(s.valve_limit == 0, s.valve_speed, 0.0)

    gate = Backlash("valve", speed="moving", width="DB2", at="valve0", rest="unmoved", doc="valve behind its backlash")
    curve = Curve(lambda s: np.where(s.GV5 > s.GV1, s.gate, -1.0), points=tuple(
        (f"GV{k}", f"PGV{k}") for k in range(1, 6)), doc="steam by the curve")
    x4 = Lag(lambda s: np.where(s.GV5 > s.GV1, s.curve, s.gate), T="T4", init=0.5, doc="steam behind T4")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        points = [[values[f"{name}{k}"] for k in range(1, 6)] for name in ("GV", "PGV")]
        if any(map(any, points)) and not all(a < b for row in points for a, b in pairwise(row)):
            return "GV1 to GV5 and PGV1 to PGV5 must rise, or all be zero for no curve"
        if values["ERR"] > values["DB1"]:
            return "ERR must not be above DB1"
        if values["IBLOCK"] and not (values["PMIN"] and values["PMAX"]):  # the limits are not those of the record
            values = {**values, "PMIN": -np.inf, "PMAX": np.inf}
        return super().check(values)

    def start(s: Any) -> Any:
        steam = s.Pm / (s.K1 + s.K3 + s.K5 + s.K7)
        points = tuple((getattr(s, f"GV{k}"), getattr(s, f"PGV{k}")) for k in range(1, 6))
        gate = np.where(s.GV5 > s.GV1, Curve.inverse(points, steam), steam)
        return {"droop_x": 0.0, **dict.fromkeys(("valve", "valve0", "Pref"), gate),
                **dict.fromkeys(("x4", "x5", "x6", "x7"), steam)}


def _is(code: Any, first: int, second: int) -> Any:
    """Whether a code is one of two numbers."""
    return np.logical_or(np.abs(code - first) < 0.5, np.abs(code - second) < 0.5)


class CrossWSIEG1(CrossCompound, WSIEG1):
    """Steam turbine and governor of a cross-compound unit: PSS/E's WSIEG1 with a second machine (JBUS, M).

    :class:`WSIEG1` for the high-pressure machine, :class:`~gridcore_devices.governors.ieeeg1.CrossCompound` for the
    low-pressure one.
    """

    dyr_record = "WSIEG1"
    dyr = (*CrossIEEEG1.dyr, *WSIEG1.dyr[len(IEEEG1.dyr):])
