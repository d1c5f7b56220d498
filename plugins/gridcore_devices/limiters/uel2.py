"""UEL2: limiter of under-excitation with a characteristic of straight lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, quantity
from gridcore_blocks import Lag

from .polygon import Polygon, along
from .under import UnderExcitationLimiter, terminal_power


class UEL2(UnderExcitationLimiter):
    """IEEE type UEL2, IEEE Std 421.5-2005, section 10.2, figure 10-4, as PSS/E's UEL2.

    :class:`~gridcore_devices.limiters.under.UnderExcitationLimiter` with the error ::

        F     = V / (1 + s TUV)
        P'    = P F^-K1 / (1 + s TUP),  Qref = Q'(P') F^K2
        error = Qref - Q / (1 + s TUQ) - KUF feedback

    P and Q are those of the machine at its terminals, on its own base, the feedback is the exciter's. Q'(P) goes
    through (P0, Q0) to (P10, Q10) in straight lines, of which the first and the last go on beyond their ends; pairs of
    zeros behind the last point are not there. With ``MIRROR = 0`` the magnitude of P' is taken. Feedback of what a gate
    passes (KFB and TUL of the record) is not modelled.
    """

    K1 = Param("", 0.0, doc="exponent of the voltage by which the active power is divided")
    K2 = Param("", 0.0, doc="exponent of the voltage by which the limit is multiplied")
    MIRROR = Param("", 0.0, ge=0, le=1, doc="limit for P below zero: 0 that for -P, 1 the first line goes on")
    TUV = Param("s", 0.0, ge=0, doc="time constant of the measured voltage")
    TUP = Param("s", 0.0, ge=0, doc="time constant of the measured active power")
    TUQ = Param("s", 0.0, ge=0, doc="time constant of the measured reactive power")
    F = Lag(lambda s, bus: bus.Vm, T="TUV", init=1.0, doc="measured voltage")
    P = Lag(lambda s, machine, bus: terminal_power(machine, bus)[0] * s.F ** -s.K1, T="TUP", init=0.5,
            doc="measured active power at one pu voltage")
    Q = Lag(lambda s, machine, bus: terminal_power(machine, bus)[1], T="TUQ", doc="measured reactive power")
    curve = Polygon(lambda s: mirrored(s, s.P), x="P", y="Q", last=10,
                    doc="limit of the reactive power at one pu voltage")
    dyr = ("K1", "K2", "MIRROR", "TUV", "TUP", "TUQ", "KUI", "KUL", "VUIMAX", "VUIMIN", "KUF", None, None, "TU1", "TU2",
           "TU3", "TU4", *(f"{name}{k}" for k in range(11) for name in "PQ"), "VULMAX", "VULMIN")

    @quantity("pu", "how far the operating point is beyond the limit")
    def error(s: Any, exciter: Any) -> Any:
        return s.curve * s.F ** s.K2 - s.Q - s.KUF * exciter.feedback

    @quantity("pu", "lowest reactive power that the limit allows at this active power and voltage")
    def lowest(s: Any, machine: Any, bus: Any) -> Any:
        P = mirrored(s, terminal_power(machine, bus)[0] * bus.Vm ** -s.K1)
        return along(s, "P", "Q", 10, P) * bus.Vm ** s.K2

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        P = [values[f"P{k}"] for k in range(11)]
        ends = next((k for k in range(1, 11) if not P[k] > P[k - 1]), 11)
        if any(values[f"{name}{k}"] != 0 for k in range(ends, 11) for name in "PQ"):
            return f"P{ends} must be above P{ends - 1}, or this pair and those behind it zeros"
        return super().check(values)


def mirrored(s: Any, P: Any) -> Any:
    """The active power at which the limit is read."""
    return np.where(np.logical_and(s.MIRROR < 0.5, P < 0), -P, P)
