"""A ball on a floor."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, State, guard


class BouncingBall(Device):
    """Free fall and a reset of the speed at each impact: the textbook hybrid system with a reset.

    van der Schaft & Schumacher, *An Introduction to Hybrid Dynamical Systems* (2000), chapter 2.

    ``dheight/dt = speed``, ``dspeed/dt = -gravity``; at ``height = 0`` the speed becomes
    ``-restitution speed``. The n-th impact after a drop from h is at
    ``sqrt(2 h / g) (1 + 2 (e + ... + e^(n-1)))``.
    """

    gravity = Param("m/s^2", 9.81, gt=0, doc="acceleration")
    restitution = Param("", 0.8, gt=0, le=1, doc="speed after an impact over the speed before it")
    height0 = Param("m", 1.0, gt=0, doc="height at t0")
    speed0 = Param("m/s", 0.0, doc="speed at t0, upwards")
    height = State("m", start_at="height0", doc="height above the floor")
    speed = State("m/s", start_at="speed0", doc="speed, upwards")

    def rates(s: Any) -> Any:
        return s.speed, -s.gravity

    @guard("down", then={"speed": lambda s: -s.restitution * s.speed})
    def impact(s: Any) -> Any:
        """Impact"""
        return s.height
