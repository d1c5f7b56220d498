"""A state that is not finite is never accepted, whatever made it."""

from __future__ import annotations

import numpy as np
import pytest
from devices_for_tests import Clockwork, Driven, registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.equations.native.compiler import NO_COMPILER, compiler_path
from gridcore.errors import ConvergenceError
from gridcore.registry import Integrator
from gridcore_theta import Theta

pytestmark = pytest.mark.usefixtures("small_devices")


class Careless(Theta):
    """Gives `value` for a state after `since`."""

    name = "careless"

    def __init__(self, step, value=np.nan, since=0.25, place=0, at_end=True):
        super().__init__(step)
        self.value, self.since, self.place, self.at_end = value, since, place, at_end

    def advance(self, t, target):
        reached = super().advance(t, target)
        if target > self.since and self.at_end:
            self.ws.X[self.place] = self.value
        return reached

    def stretch(self, *of):
        """Steps are made one by one."""

    def state_at(self, t):
        super().state_at(t)
        if not self.at_end and self.since < t != round(t, 1):
            self.ws.X[self.place] = self.value

    def end_at_zero(self, *of):
        found = super().end_at_zero(*of)
        if found is not None and not self.at_end:
            self.ws.X[self.place] = self.value
        return found


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_a_step_that_ends_nowhere_is_an_error_with_place_and_time(value, place):
    s = system(Driven(id="A"), Driven(id="B"))
    with registered(Integrator("careless", Careless)), pytest.raises(ConvergenceError) as caught:
        gc.simulate(s, t_end=1.0, step=0.1, method="careless", value=value, place=place)
    assert caught.value.place == ("A.x", "B.x")[place]
    assert caught.value.t == pytest.approx(0.3)
    assert caught.value.run.t[-1] == pytest.approx(0.2)
    assert np.isfinite(caught.value.run["A", "x"]).all()


def test_so_it_is_where_a_crossing_is_looked_for():
    s = system(Clockwork(id="A", threshold=0.45))
    with registered(Integrator("careless", Careless)), pytest.raises(ConvergenceError, match=r"not finite at A\.x"):
        gc.simulate(s, t_end=1.0, step=0.1, method="careless", at_end=False)


def test_large_numbers_are_finite():
    s = system(Clockwork(id="A", x0=1e200))
    assert gc.simulate(s, t_end=0.3, step=0.1)["A", "x"][-1] == 1e200


@pytest.mark.parametrize(("loads", "change", "t0", "t1"), [
    ((5, 6, 8), {"by": 3.0}, 1.0, 50.0), ((5,), {"scale": 3.0}, 0.0, 30.0)])
def test_a_ramp_of_constant_power_ends_in_an_error_not_in_nan(loads, change, t0, t1):
    case = gc.load_case("wscc9")
    for name in ("fault.t", "fault.clear", "trip.t"):
        case.set(name, np.inf)
    for bus in loads:
        for name, value in (("pZ", 0), ("pP", 1), ("qZ", 0), ("qP", 1)):
            case.set(f"LOAD{bus}.{name}", value)
    case.add(gc.Ramp(id="ramp", parameter="LOAD5.k", t0=t0, t1=t1, **change))
    s = gc.build(case)
    for t_end in (24.55, 24.6, 24.65, 24.7):
        failure = None
        try:
            run = gc.simulate(s, t_end=t_end, step=0.05)
        except ConvergenceError as error:
            failure, run = error, error.run
        assert failure is None or (failure.t > 24 and failure.place)
        assert np.isfinite(run.tape.X).all()


class Root(Device):
    """``y = sqrt(|x|)`` of an x that falls."""

    x0 = Param("", 0.5)
    x, y = State("", init=0.5, start_at="x0"), Algebraic("")

    def rates(s):
        return -1.0

    def residuals(s):
        return s.y - np.sqrt(abs(s.x))


@pytest.mark.parametrize("derive", [
    lambda run: gc.adjoint(run, gc.Terminal(lambda v: v["R", "y"]), wrt="R.x0"),
    lambda run: gc.analyses.tsa(run, ["R.x0"], [("R", "y")])], ids=["adjoint", "forward"])
def test_a_derivative_through_a_point_where_there_is_none_is_an_error_with_its_time(derive):
    """It comes to zero at a point of the grid, exactly."""
    with registered(Root):
        run = gc.simulate(system(Root(id="R")), 0.625, 1 / 16)
        assert 0.0 in run["R", "x"]
        with pytest.raises(ConvergenceError) as caught:
            derive(run)
    assert caught.value.t == 0.5


@pytest.mark.parametrize("compiler", ["0", "1"])
def test_so_it_is_where_corrections_are_mixed_compiled_or_not(monkeypatch, compiler):
    """``x' = -1 / sqrt(x)`` ends at x = 0, after a third of ``x0^1.5`` twice over."""
    class Falls(Device):
        x0 = Param("", 0.5)
        x = State("", start_at="x0")

        def rates(s):
            return -1 / np.sqrt(s.x)

    monkeypatch.setattr("gridcore.linear.newton.MIXED", -1.0)
    monkeypatch.setenv(NO_COMPILER, compiler.strip("0"))
    compiler_path.cache_clear()
    try:
        with registered(Falls), pytest.raises(ConvergenceError) as caught:
            gc.simulate(system(Falls(id="F")), 1.0, 0.01)
    finally:
        compiler_path.cache_clear()
    assert caught.value.place == "F.x"
    assert caught.value.t == pytest.approx(2 / 3 * 0.5**1.5, abs=0.02)
    assert np.isfinite(caught.value.run.X).all()
