"""MAXEX2: limiter of over-excitation with an inverse time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Device, Mode, Param, State, guard, quantity


class MAXEX2(Device):
    """Maximum excitation limiter of the field voltage (``M = 0``) or the field current (1), as PSS/E's MAXEX2.

    PSS/E model library, MAXEX2; it is no type of IEEE Std 421.5, which has OEL1B and its like. ``x`` is Efd or XADIFD
    over EFDRATED::

        1 / time(x) is integrated while x is above EFD1, and forgotten when x falls below it; at 1 the limiter acts,
        and goes on acting
        dVOEL/dt = KMX EFDRATED (EFDDES - x), VLOW <= VOEL <= 0 (non-windup), once it acts; VOEL = 0 before

    time(x) goes through (EFD1, TIME1), (EFD2, TIME2) and (EFD3, TIME3) in straight lines, and is TIME3 beyond.
    ``passed`` is the share of the time that has passed, ``passed0`` that at t0.
    """

    attaches = "exciter"
    naming = "OEL_{exciter}"
    dyr = ("M", "EFDRATED", "EFD1", "TIME1", "EFD2", "TIME2", "EFD3", "TIME3", "EFDDES", "KMX", "VLOW")
    M = Param("", 0.0, ge=0, le=1, doc="what is limited: 0 field voltage, 1 field current")
    EFDRATED = Param("pu", gt=0, doc="rated field voltage or current")
    EFD1 = Param("", 1.1, gt=0, doc="first point of the characteristic, over the rated value")
    TIME1 = Param("s", 60.0, gt=0, doc="time at the first point")
    EFD2 = Param("", 1.2, gt=0, doc="second point of the characteristic, over the rated value")
    TIME2 = Param("s", 30.0, gt=0, doc="time at the second point")
    EFD3 = Param("", 1.5, gt=0, doc="third point of the characteristic, over the rated value")
    TIME3 = Param("s", 15.0, gt=0, doc="time at the third point and beyond")
    EFDDES = Param("", 1.0, gt=0, doc="what the limiter holds, over the rated value")
    KMX = Param("1/s", 0.002, gt=0, doc="gain")
    VLOW = Param("pu", -0.1, lt=0, doc="lower limit of the signal")
    passed0 = Param("", 0.0, ge=0, lt=1, doc="share of the time that has passed at t0")
    above = Mode(0, doc="1 while x is above EFD1")
    acts = Mode(0, doc="1 once the time has passed")
    passed = State("", start_at="passed0", rate=lambda s: np.where(counts(s), 1.0 / allowed(s, s.x), 0.0),
                   doc="share of the time that has passed")
    VOEL = State("pu", limits=("VLOW", 0.0), limit_names=("VLOW", "zero"), at_limit=1, drives="exciter.VOEL",
                 rate=lambda s: s.KMX * np.where(s.acts == 1, s.EFDRATED * (s.EFDDES - s.x), 1.0),
                 doc="signal, at its upper limit until the limiter acts")

    @quantity("", "field voltage or current over the rated value")
    def x(s: Any, machine: Any, exciter: Any) -> Any:
        return np.where(s.M > 0.5, machine.XadIfd, exciter.Efd) / s.EFDRATED

    @guard("up", when={"above": 0}, then={"above": 1}, cancel=False, settles=True)
    def rises(s: Any) -> Any:
        """What is limited rises above EFD1."""
        return s.x - s.EFD1

    @guard("down", when={"above": 1}, then={"above": 0, "passed": 0.0}, cancel=False)
    def falls(s: Any) -> Any:
        """What is limited falls below EFD1."""
        return s.x - s.EFD1

    @guard("up", when={"acts": 0}, then={"acts": 1}, cancel=False)
    def takes_over(s: Any) -> Any:
        """The time has passed."""
        return s.passed - 1.0

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse a characteristic whose points are out of order."""
        if values["EFD1"] < values["EFD2"] < values["EFD3"]:
            return None
        return "EFD1, EFD2 and EFD3 must be in this order"


def counts(s: Any) -> Any:
    """Whether the time goes on."""
    return np.logical_and(s.above == 1, s.acts == 0)


def allowed(s: Any, x: Any) -> Any:
    """time(x)."""
    first = s.TIME1 + (s.TIME2 - s.TIME1) * (x - s.EFD1) / (s.EFD2 - s.EFD1)
    second = s.TIME2 + (s.TIME3 - s.TIME2) * (x - s.EFD2) / (s.EFD3 - s.EFD2)
    return np.where(x < s.EFD1, s.TIME1, np.where(x < s.EFD2, first, np.where(x < s.EFD3, second, s.TIME3)))
