"""Jump rules: both are their own transposes, `continuous` is what `discrete` tends to, and others can be added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scenes
from devices_for_tests import SMALL, Clockwork, registered, system

import gridcore as gc
from gridcore.contract import Device, Mode, Param, Reference, State, guard, timer
from gridcore.errors import EventError
from gridcore.registry import JumpRule
from gridcore.sensitivity import Discrete
from gridcore.sensitivity.operators import GrazingWarning


class Lob(Device):
    """``x = 2 t - t^2``, which turns back at 1 when t = 1; acts at `top`."""

    top, unit = Param("", 0.9), Param("", 1.0)
    zero = Param("", 0.0)
    x = State("", start_at="zero")
    passed = Mode(0)

    def rates(s: Any) -> Any:
        return 2.0 * (1.0 - s.time) * np.where(s.passed == 1, 0.5, 1.0)

    @guard("up", when={"passed": 0}, then={"passed": 1})
    def touches(s: Any) -> Any:
        """Touch"""
        return s.unit * (s.x - s.top)


class Holds(Device):
    """``x' = -a x + held``, where from `at` on a parameter holds what x was then by the nominal frequency per 60 Hz."""

    a, held, x0, at = Param("1/s", 1.5), Param("", 0.0), Param("", 2.0), Param("s", 0.333)
    x = State("", start_at="x0")

    def rates(s: Any) -> Any:
        return -s.a * s.x + s.held

    holds = timer("at", then={"held": lambda s: s.x**2 * s.omega_b / (120 * np.pi)}, doc="hold")


class Both(Device):
    """Doubles what is named first and trebles what is named second, from what they were just before."""

    first, second = Reference(), Reference()
    at = Param("s", 0.25)
    acts = timer("at", then={"first": lambda s: 2.0 * s.first, "second": lambda s: 3.0 * s.second})


@pytest.fixture(autouse=True)
def _devices() -> Iterator[None]:
    with registered(*SMALL, *scenes.DEVICES, Lob, Holds, Both):
        yield


@pytest.mark.parametrize("name", [
    "hiskens_pai", "swing_off_the_grid", "bouncing_ball", "resets_that_read_states_parameters_and_time",
    "regulator_limits", "regulator_limits_theta_07", "undervoltage_load_shedding", "own_cancellation_function",
    "recovery_loads_and_delayed_trip", "recovery_loads_and_cancelled_trip", "set_point_ramp_and_step", "event_at_t0",
    "timer_at_t_end", "kundur"])
def test_continuous_rule_forward_is_its_adjoint(name: str) -> None:
    study = scenes.STUDIES[name]()
    run = study.simulate()
    forward = gc.analyses.tsa(run, study.wrt, study.quantities, jumps="continuous").values
    ends = [gc.Terminal(lambda v, q=q: v[q]) for q in study.quantities]
    found = gc.adjoint(run, ends, study.wrt, jumps="continuous").values
    assert (np.abs(found - forward[-1]) <= 5e-12 * (np.abs(found) + np.abs(forward).max(axis=(0, 1)))).all()


def test_a_parameter_that_takes_what_a_state_was_carries_its_derivative() -> None:
    """It is asked for by nobody, and the derivative goes through it."""
    run = gc.simulate(system(Holds(id="H")), 1.0, 0.05)
    end, wrt = gc.Terminal(lambda v: v["H", "x"]), ["H.x0", "H.a", "H.at"]
    found = gc.adjoint(run, end, wrt)
    np.testing.assert_allclose(found, gc.differences(run, end, wrt), rtol=1e-7)
    np.testing.assert_allclose(found, gc.analyses.forward_gradient(run, end, wrt), rtol=1e-12)


def test_of_changes_of_one_parameter_by_two_references_the_last_one_counts() -> None:
    """``x(1) = speed / 4 + 3 speed 3/4``."""
    run = gc.simulate(system(Clockwork(id="C"), Both(id="B", first="C.speed", second="C.speed")), 1.0, 0.1)
    end = gc.Terminal(lambda v: v["C", "x"])
    assert run["C.x"][-1] == pytest.approx(2.5, rel=1e-13)
    for derivative in gc.adjoint, gc.analyses.forward_gradient:
        np.testing.assert_allclose(derivative(run, end, ["C.speed", "B.at"]), [[2.5, -2.0]], rtol=1e-13)


PARTS = (1, 0.93, 0.87, 0.83, 0.79, 0.71, 0.66, 0.61, 0.55)


def gap(name: str, step: float, theta: float) -> float:
    """Largest difference of the two rules, relative to the largest derivative of each objective."""
    study = scenes.STUDIES[name]()
    study.step, study.theta = step, theta
    objectives = [kind(lambda v, q=q: v[q] ** 2) for q in study.quantities for kind in (gc.Terminal, gc.Integral)]
    objectives += [gc.Sampled(study.t_end * np.array([0.31, 0.83]), lambda v, q=q: v[q]) for q in study.quantities]
    exact, formula = (gc.adjoint(study.simulate(), objectives, study.wrt, jumps=rule).values
                      for rule in ("discrete", "continuous"))
    return float(np.max(np.abs(formula - exact) / np.abs(exact).max(axis=1, keepdims=True)))


@pytest.mark.parametrize(("theta", "order"), [(0.5, 2), (1.0, 1)])
@pytest.mark.parametrize(("name", "step"), [("hiskens_pai", 1e-3), ("regulator_limits", 5e-3),
                                            ("set_point_ramp_and_step", 1e-2)])
def test_the_rules_tend_to_each_other_at_the_order_of_the_method(name: str, step: float, theta: float, order: int
                                                                 ) -> None:
    """Where events fall within steps makes single gaps erratic, so the largest of several steps is taken."""
    gaps = [max(gap(name, step * part / halved, theta) for part in PARTS) for halved in (1, 4)]
    assert order - 0.35 < np.log2(gaps[0] / gaps[1]) / 2 < order + 0.7


@pytest.mark.parametrize(("theta", "order"), [(0.5, 2), (1.0, 1)])
def test_so_they_do_for_integrals_of_what_jumps(theta: float, order: int) -> None:
    """The bounds of an integral move with its events, whatever the states do: by the values on both sides."""
    of, wrt = gc.Integral(lambda v: v["H", "x"] + 3.0 * v["H", "held"]), "H.at"
    gaps = []
    for halved in (1, 4):
        runs = [gc.simulate(system(Holds(id="H")), 1.0, 0.04 * part / halved, theta=theta) for part in PARTS]
        found = [[gc.adjoint(run, of, wrt, jumps=jumps).item() for jumps in ("discrete", "continuous")] for run in runs]
        gaps.append(max(abs(exact - formula) for exact, formula in found))
    assert order - 0.35 < np.log2(gaps[0] / gaps[1]) / 2 < order + 0.7


def test_published_derivatives_of_the_switched_linear_system() -> None:
    """Reference A1: complex step of the discretised program, six events, state and derivatives at 0.2 s."""
    run = gc.simulate(gc.build("hiskens_pai"), 0.2, 1e-3)
    ends = [gc.Terminal(lambda v, x=x: v["HP", x]) for x in ("x1", "x2")]
    expected = [-0.0155057682999269, 0.0120480543158379]
    exact = gc.adjoint(run, ends, "HP.p1")
    np.testing.assert_allclose(exact.values[:, 0], expected, rtol=1e-13)
    np.testing.assert_allclose(exact.value, [-0.0196299279712484, -0.0130620897988687], rtol=0, atol=1e-14)
    forward = gc.analyses.tsa(run, "HP.p1", [("HP", "x1"), ("HP", "x2")])
    np.testing.assert_allclose(forward.values[-1, :, 0], expected, rtol=1e-13)
    formula = gc.adjoint(run, ends, "HP.p1", jumps="continuous").values[:, 0]
    assert formula[0] == pytest.approx(-0.0155127, abs=5e-8)


def height(t: float, gravity: complex, restitution: complex, height0: complex) -> complex:
    """A ball after its first and before its second impact."""
    impact = np.sqrt(2 * height0 / gravity)
    return restitution * np.sqrt(2 * gravity * height0) * (t - impact) - gravity / 2 * (t - impact) ** 2


@pytest.mark.parametrize("jumps", ["discrete", "continuous"])
def test_bouncing_ball_has_the_derivatives_of_free_fall(jumps: str) -> None:
    """The trapezoidal rule is exact for a parabola: both rules give the derivative of the closed form."""
    values = np.array([9.81, 0.8, 1.0])
    run = gc.simulate(gc.build(scenes.case_of(scenes.record("BouncingBall", id="ball"))), 0.9, 0.07)
    found = gc.adjoint(run, gc.Terminal(lambda v: v["ball", "height"]),
                       ["ball.gravity", "ball.restitution", "ball.height0"], jumps=jumps).values[0]
    expected = [height(0.9, *(values + 1e-40j * np.eye(3)[k])).imag / 1e-40 for k in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


class Fixed(Discrete):
    """Events stay where they are, whatever the parameters."""

    name = "fixed"
    moving = False

    def step(self, operator: Any, dX: np.ndarray, dP: np.ndarray, dT0: np.ndarray, dT1: np.ndarray) -> Any:
        still = np.zeros_like(dT0)
        return operator.forward(dX, dP, still, still), still

    def step_transpose(self, operator: Any, aX: np.ndarray, aP: np.ndarray, aT1: np.ndarray) -> Any:
        return operator.transpose(aX, aP)[0], np.zeros_like(aT1), np.zeros_like(aT1)


@pytest.fixture
def fixed_rule() -> Iterator[None]:
    with gc.registered(JumpRule("fixed", Fixed())):
        yield


@pytest.mark.usefixtures("fixed_rule")
def test_a_third_partys_rule_is_used_by_its_name() -> None:
    """``x(1) = speed tau + speed/3 (1 - tau)`` with tau = threshold/speed held."""
    run = gc.simulate(gc.build(scenes.case_of(scenes.record("Kink", id="k", threshold=0.43))), 1.0, 0.1)
    wrt, expected = ["k.threshold", "k.speed"], [0.0, 0.43 + 0.57 / 3]
    found = gc.adjoint(run, gc.Terminal(lambda v: v["k", "x"]), wrt, jumps="fixed").values[0]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(gc.analyses.tsa(run, wrt, [("k", "x")], jumps="fixed").values[-1, 0], expected,
                               rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("jumps", ["discrete", "continuous"])
@pytest.mark.parametrize("below", [4e-16, 1e-14])
def test_a_grazing_guard_is_an_error_that_names_it_and_the_time(below: float, jumps: str) -> None:
    """The top of the lob is a point of the grid, and above the threshold by next to nothing."""
    run = gc.simulate(gc.build(scenes.case_of(scenes.record("Lob", id="lob", top=1.0 - below))), 1.5, 0.25)
    assert len(run.events) == 1
    end = gc.Terminal(lambda v: v["lob", "x"])
    for derivative in (gc.adjoint, gc.analyses.forward_gradient):
        with pytest.raises(EventError, match=r"lob\.touches grazes.* at t = (1|0\.99999\d*) s"):
            derivative(run, end, ["lob.top"], jumps=jumps)
    with pytest.warns(GrazingWarning, match=r"lob\.touches grazes"):
        gc.adjoint(run, end, ["lob.top"], jumps=jumps, allow_grazing=True)
    with pytest.warns(GrazingWarning, match=r"lob\.touches grazes"):
        gc.analyses.tsa(run, ["lob.top"], jumps=jumps, allow_grazing=True)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("below", [1e-9, 1e-4, 0.1])
def test_a_slow_crossing_is_not_a_grazing_one_whatever_the_unit_of_its_guard(below: float, unit: float) -> None:
    """``x(1.5) = top + (0.75 - top)/2``, so half; the crossing speed is ``2 sqrt(below)``."""
    case = scenes.case_of(scenes.record("Lob", id="lob", top=1.0 - below, unit=unit))
    run = gc.simulate(gc.build(case), 1.5, 0.25)
    found = gc.adjoint(run, gc.Terminal(lambda v: v["lob", "x"]), ["lob.top"]).item()
    assert found == pytest.approx(0.5, rel=1e-11)


class Recoil(Device):
    """``x' = v``, and v is turned by the guard itself, which reads both and is linear in neither."""

    v0, x0, level, kept = Param("", 1.0), Param("", 0.2), Param("", 0.7), Param("", 0.6)
    x, v = State("", start_at="x0"), State("", start_at="v0")

    def rates(s: Any) -> Any:
        return s.v, -0.3 * s.v * s.v

    @guard("up", then={"v": lambda s: -s.kept * s.v})
    def turns(s: Any) -> Any:
        """Turn"""
        return s.x * s.x * (1.0 + s.v * s.v) - s.level


def test_a_guard_is_linearised_at_the_point_before_what_it_changes() -> None:
    with registered(Recoil):
        run = gc.simulate(system(Recoil(id="R")), 1.0, 0.05)
    assert [e.item for e in run.events] == ["turns"]
    ends, wrt = [gc.Terminal(lambda v, q=q: v["R", q]) for q in "xv"], ["R.v0", "R.x0", "R.level", "R.kept"]
    found = gc.adjoint(run, ends, wrt)
    with registered(Recoil):
        np.testing.assert_allclose(found, gc.differences(run, ends, wrt), rtol=1e-7)
    np.testing.assert_allclose(found, gc.analyses.forward_gradient(run, ends, wrt), rtol=1e-12)
