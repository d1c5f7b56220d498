"""Small devices with closed-form solutions, registered for the tests by the fixture ``small_devices``."""

from __future__ import annotations

from typing import Any

import numpy as np

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard, timer
from gridcore.equilibrium import Equilibrium

NEVER = float("inf")


class Clockwork(Device):
    """``dx/dt = speed`` from `x0`; counts how often x passes `threshold`, either way, up, down, or by timer."""

    x0 = Param("", 0.0)
    speed = Param("1/s", 1.0)
    threshold = Param("", NEVER)
    at = Param("s", NEVER)
    x = State("", start_at="x0")
    up, timed = Mode(0), Mode(0)

    def rates(s: Any) -> Any:
        return s.speed

    @guard("up", then={"up": lambda s: s.up + 1})
    def rises(s: Any) -> Any:
        """Threshold passed"""
        return np.where(s.threshold < 1e300, s.x - s.threshold, -1.0)

    ticks = timer("at", then={"timed": lambda s: s.timed + 1, "speed": lambda s: 2 * s.speed}, doc="tick")


class Sine(Device):
    """``x = amplitude sin(t)`` as an explicit function of time."""

    amplitude = Param("", 1.0)
    x = Algebraic("")

    def residuals(s: Any) -> Any:
        return s.x - s.amplitude * np.sin(s.time)


class Delayed(Device):
    """``x = sin(t)``: acts `delay` after x rises above `threshold`, unless it falls back before."""

    threshold = Param("", 0.5)
    delay = Param("s", 0.1)
    x = Algebraic("")
    acted = Mode(0)

    def residuals(s: Any) -> Any:
        return s.x - np.sin(s.time)

    @guard("up", when={"acted": 0}, then={"acted": 1}, delay="delay")
    def too_high(s: Any) -> Any:
        """Too high for too long"""
        return s.x - s.threshold


class DelayedOwnCancel(Device):
    """As :class:`Delayed`, but only x above `safe` cancels what is pending."""

    threshold = Param("", 0.5)
    safe = Param("", 0.9)
    delay = Param("s", 0.1)
    x = Algebraic("")
    acted = Mode(0)

    def residuals(s: Any) -> Any:
        return s.x - np.sin(s.time)

    @guard("up", when={"acted": 0}, then={"acted": 1}, delay="delay", cancel=lambda s: s.x - s.safe)
    def too_high(s: Any) -> Any:
        """Too high for too long"""
        return s.x - s.threshold


class DelayedForGood(Device):
    """As :class:`Delayed`, but nothing cancels."""

    threshold = Param("", 0.5)
    delay = Param("s", 0.1)
    x = Algebraic("")
    acted = Mode(0)

    def residuals(s: Any) -> Any:
        return s.x - np.sin(s.time)

    @guard("up", when={"acted": 0}, then={"acted": 1}, delay="delay", cancel=False)
    def too_high(s: Any) -> Any:
        """Too high"""
        return s.x - s.threshold


class Limited(Device):
    """``T dx/dt = cos(t)``, held between `low` and `high`."""

    T = Param("s", 1.0)
    low = Param("", -0.5)
    high = Param("", 0.5)
    x0 = Param("", 0.0)
    x = State("", T="T", limits=("low", "high"), start_at="x0")
    y = Algebraic("")

    def rates(s: Any) -> Any:
        return np.cos(s.time)

    def residuals(s: Any) -> Any:
        return s.y - 2 * s.x


class Sliding(Device):
    """A relay with no hysteresis: ``dx/dt = -sign(x)``, which slides on x = 0."""

    x0 = Param("", 0.105)
    x = State("", start_at="x0")
    positive = Mode(1)

    def rates(s: Any) -> Any:
        return np.where(s.positive == 1, -1.0, 1.0)

    @guard("down", when={"positive": 1}, then={"positive": 0})
    def falls(s: Any) -> Any:
        """X falls below zero"""
        return s.x

    @guard("up", when={"positive": 0}, then={"positive": 1})
    def climbs(s: Any) -> Any:
        """X climbs above zero"""
        return s.x


class Explosion(Device):
    """``dx/dt = x^2``, which leaves for infinity at ``1 / x0``."""

    x0 = Param("", 1.0)
    x = State("", start_at="x0")

    def rates(s: Any) -> Any:
        return s.x * s.x


class LinearDAE(Device):
    """``dx/dt = -x + y``, ``0 = x + 2 y - sin(t)``: index 1, ``dx/dt = -1.5 x + 0.5 sin(t)``."""

    x0 = Param("", 1.0)
    x = State("", start_at="x0")
    y = Algebraic("")

    def rates(s: Any) -> Any:
        return s.y - s.x

    def residuals(s: Any) -> Any:
        return s.x + 2 * s.y - np.sin(s.time)


class Driven(Device):
    """``dx/dt = a x + b sin(t) + c x^2``: a smooth nonlinear equation; from `at` on, a has the other sign."""

    a = Param("1/s", -1.0)
    b = Param("1/s", 1.0)
    c = Param("1/s", 0.3)
    x0 = Param("", 0.5)
    at = Param("s", NEVER)
    x = State("", start_at="x0")

    def rates(s: Any) -> Any:
        return s.a * s.x + s.b * np.sin(s.time) + s.c * s.x * s.x

    turns = timer("at", then={"a": lambda s: -s.a}, doc="sign of a")


SMALL = (Clockwork, Sine, Delayed, DelayedOwnCancel, DelayedForGood, Limited, Sliding, Explosion, LinearDAE, Driven)


registered = gc.registered


def system(*records: Any, **options: Any) -> Equilibrium:
    """An assembled system of these records."""
    case = gc.Case("test")
    for record in records:
        case.add(record)
    return gc.build(case, **options)
