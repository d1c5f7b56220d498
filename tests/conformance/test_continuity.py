"""An equation that jumps without an event, or is no number with defaults, is not well."""

from __future__ import annotations

import numpy as np
import pytest

from gridcore.contract import Device, Load, Mode, Param, State, guard
from gridcore.testing import device_checks


class Lagging(Load):
    """A load behind a lag; Kundur (1994), eq. 7.1."""

    T = Param("s", 0.1, gt=0, doc="time constant")
    x = State("pu", init=1.0, doc="voltage that it answers")

    def rates(s, bus):
        return (bus.Vm - s.x) / s.T

    def currents(s, bus):
        P, Q = s.k * s.P0, s.k * s.Q0
        return -(P * bus.Vr + Q * bus.Vi) / bus.V2, -(P * bus.Vi - Q * bus.Vr) / bus.V2

    def start(s, bus):
        return {"x": bus.Vm}


def problems(cls: type[Device]) -> list[str]:
    return device_checks.report(cls).problems


def test_one_with_kinks_and_without_jumps_is_well():
    class Kinked(Lagging):
        limited = Mode(0, doc="whether it is seen to be above")

        def rates(s, bus):
            above = np.where(s.limited, 0.3, 0.0)  # of a mode, which does not change by itself
            return (np.maximum(bus.Vm, 0.9) + np.abs(s.x - 1.0) - above - s.x) / s.T

        def start(s, bus):
            return {"x": bus.Vm}

    assert [line for line in problems(Kinked) if line.startswith(("continuous", "numbers"))] == []


@pytest.mark.parametrize("jumping", [
    lambda s, bus: np.where(bus.Vm > 0.8, bus.Vm, 0.0), lambda s, bus: bus.Vm * np.sign(s.x - 0.6),
    lambda s, bus: np.floor(1.5 * s.x), lambda s, bus: np.where(s.time > 2.5, bus.Vm, 1.1)])
def test_an_equation_that_jumps_is_told_with_its_place(jumping):
    class Jumps(Lagging):
        def rates(s, bus):
            return (jumping(s, bus) - s.x) / s.T

    told, = (line for line in problems(Jumps) if line.startswith("continuous"))
    assert told.startswith("continuous: rate of x jumps by ")
    assert " x = " in told
    assert told.endswith(": let a guard find what decides that, and set a mode")


def test_a_jump_of_a_guard_is_left_to_the_run_that_meets_it():
    class Inhibited(Lagging):
        low = Mode(0, doc="whether it was low")

        @guard("down", when={"low": 0}, then={"low": 1})
        def falls(s, bus):
            """Its voltage falls, unless that of the bus is lower."""
            return np.where(bus.Vm < 0.3, 1.0, s.x - 0.4)

    assert problems(Inhibited) == []


def test_a_default_that_is_divided_by_is_told_though_drawn_values_are_well():
    class Divides(Lagging):
        lag = Param("s", 0.0, doc="time constant")

        def rates(s, bus):
            return (bus.Vm - s.x) / s.lag

    assert "numbers: rate of x is no number where parameters have their defaults, lag = 0" in problems(Divides)
