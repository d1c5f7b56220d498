"""A device that is well by itself, and that no run can be made with, is not well."""

from __future__ import annotations

from gridcore.contract import Algebraic, Load, Mode, Param, State, guard
from gridcore.testing import device_checks


class Lagging(Load):
    """A load behind a lag; Kundur (1994), eq. 7.1."""

    T = Param("s", 0.1, gt=0, doc="time constant")
    x = State("pu", init=1.0, T="T", doc="voltage that it answers")

    def rates(s, bus):
        return (bus.Vm - s.x,)

    def currents(s, bus):
        P, Q = s.k * s.P0, s.k * s.Q0
        return -(P * bus.Vr + Q * bus.Vi) / bus.V2, -(P * bus.Vi - Q * bus.Vr) / bus.V2

    def start(s, bus):
        return {"x": bus.Vm}


def runs(cls):
    report = device_checks.report(cls)
    return [line for line in (*report.problems, *report.passed) if line.startswith("runs: ")]


def test_one_that_stays_at_rest_is_well():
    assert runs(Lagging) == ["runs: 10 steps from rest, 0 events"]


def test_guards_that_set_off_each_other_for_ever_are_told():
    class Chatters(Lagging):
        up = Mode(0, doc="which of the two was last")

        @guard("down", when={"up": 0}, then={"up": 1})
        def rises(s):
            """It is said to rise."""
            return s.x - 5.0 - 10.0 * s.up

        @guard("up", when={"up": 1}, then={"up": 0})
        def falls(s):
            """It is said to fall."""
            return 5.0 - s.x

    words, = runs(Chatters)
    assert "EventError" in words
    assert "chattering" in words


def test_data_that_have_no_solution_are_no_fault_of_the_class():
    class Vanishes(Lagging):
        y = Algebraic("", init=0.01, doc="whose equation has a solution up to 0.1 ms")

        def residuals(s, bus):
            return (s.y * s.y - 1e-4 + s.time,)

    words, = runs(Vanishes)
    assert words.startswith("runs: not examined: Newton's method does not converge at X")
