"""Thermal overload relay."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, PerUnit, guard


class OverloadRelay(Device):
    """Trips its branch when the apparent power at bus1 has been above the threshold for `delay`.

    As :class:`~gridcore_devices.protection.overcurrent.OverCurrentRelay`, with ``|S|`` in place of
    ``|I|``, as ratings of lines are given.
    """

    attaches = "branch"
    naming = "RELAY_{branch}"
    threshold = Param(PerUnit("MVA", "MW"), gt=0, doc="largest apparent power allowed, system base")
    delay = Param("s", 0.0, ge=0, doc="time above the threshold before the trip")

    @guard("up", when={"branch.status": 1}, then={"branch.status": 0}, delay="delay")
    def overload(s: Any, branch: Any) -> Any:
        """Overload trip"""
        return branch.S1 - s.threshold
