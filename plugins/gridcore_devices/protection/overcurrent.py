"""Relays that trip a branch that carries too much, for too long."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, PerUnit, guard


class OverCurrentRelay(Device):
    """Trips its branch when the current at bus1 has been above the threshold for `delay`.

    Definite-time over-current protection, IEEE Std C37.112. Where the current falls back below
    the threshold before the delay is over, the trip is cancelled.
    """

    attaches = "branch"
    naming = "RELAY_{branch}"
    threshold = Param(PerUnit("kA"), gt=0, doc="largest current allowed, system base")
    delay = Param("s", 0.0, ge=0, doc="time above the threshold before the trip")

    @guard("up", when={"branch.status": 1}, then={"branch.status": 0}, delay="delay")
    def overload(s: Any, branch: Any) -> Any:
        """over-current trip"""
        return branch.I1 - s.threshold
