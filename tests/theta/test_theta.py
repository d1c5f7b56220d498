from __future__ import annotations

import math
import re

import closed_forms
import numpy as np
import pytest
from devices_for_tests import Clockwork, Driven, Explosion, Limited, LinearDAE, registered, system
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard
from gridcore.integrate import Stepper
from gridcore_devices.hybrid.bouncing_ball import BouncingBall
from gridcore_devices.hybrid.switched_linear import SwitchedLinear
from gridcore_theta import Theta


def orders(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


@pytest.mark.parametrize(("theta", "order"), [(0.5, 2), (1.0, 1), (0.6, 1)])
def test_order_of_convergence_on_a_smooth_equation(small_devices, theta, order):
    exact = solve_ivp(lambda t, x: -x + np.sin(t) + 0.3 * x * x, (0, 2), [0.5], method="DOP853", rtol=1e-13, atol=1e-14)
    s = system(Driven(id="D"))
    errors = [abs(gc.simulate(s, 2.0, h, theta=theta).X[-1, 0] - exact.y[0, -1]) for h in (0.004, 0.002, 0.001)]
    np.testing.assert_allclose(orders(errors), order, atol=0.05)
    assert Theta(0.1, theta).order == order


@pytest.mark.parametrize(("theta", "order"), [(0.5, 2), (1.0, 1)])
def test_order_of_convergence_through_six_state_events(theta, order):
    times, exact = closed_forms.hiskens_pai(0.2)
    s = system(SwitchedLinear(id="S"))
    runs = [gc.simulate(s, 0.2, h, theta=theta) for h in (1e-4, 5e-5, 2.5e-5)]
    assert [len(r.events) for r in runs] == [6, 6, 6]
    np.testing.assert_allclose(orders([np.linalg.norm(r.X[-1] - exact) for r in runs]), order, atol=0.1)
    np.testing.assert_allclose(orders([np.abs([e.t - t for e, t in zip(r.events, times)]).max() for r in runs]),
                               order, atol=0.1)


@pytest.mark.parametrize(("theta", "order"), [(0.5, 2), (1.0, 1)])
def test_order_of_convergence_through_a_limit_and_back(small_devices, theta, order):
    s = system(Limited(id="L"))
    runs = [gc.simulate(s, 2.6, h, theta=theta) for h in (0.02, 0.01, 0.005)]
    exact = 0.5 + math.sin(2.6) - 1
    np.testing.assert_allclose(orders([abs(r.X[-1, 0] - exact) for r in runs]), order, atol=0.15)


@pytest.mark.parametrize("at", [0.7, 0.7037])
def test_order_is_kept_through_a_timer_on_the_grid_and_off_it(small_devices, at):
    f = [lambda t, x: -x + np.sin(t) + 0.3 * x * x, lambda t, x: x + np.sin(t) + 0.3 * x * x]
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    x = solve_ivp(f[0], (0, at), [0.5], **options).y[:, -1]
    x = solve_ivp(f[1], (at, 1.2), x, **options).y[0, -1]
    s = system(Driven(id="D", at=at))
    errors = [abs(gc.simulate(s, 1.2, h).X[-1, 0] - x) for h in (0.02, 0.01, 0.005)]
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


def test_hiskens_pai_as_published():
    run = gc.simulate(system(SwitchedLinear(id="S")), 0.2, 1e-3)
    assert len(run.events) == 6
    assert round(run.events[0].t, 7) == 0.0957333
    np.testing.assert_allclose(run.X[-1], [-0.0196299279712484, -0.0130620897988687], rtol=0, atol=1e-14)


def test_algebraic_equations_hold_at_every_point(small_devices):
    s = system(LinearDAE(id="D"))
    for theta in (0.5, 1.0):
        run = gc.simulate(s, 1.0, 0.01, theta=theta)
        np.testing.assert_allclose(run["D", "x"] + 2 * run["D", "y"], np.sin(run.t), rtol=0, atol=1e-14)


def test_linear_dae_takes_the_steps_of_the_trapezoidal_rule_exactly(small_devices):
    run, h = gc.simulate(system(LinearDAE(id="D")), 1.0, 0.1), 0.1
    x = 1.0
    for t in np.arange(10) * h:
        x = (x * (1 - 0.75 * h) + h / 4 * (math.sin(t) + math.sin(t + h))) / (1 + 0.75 * h)
    assert run.X[-1, 0] == pytest.approx(x, rel=1e-13)


def test_trapezoidal_rule_is_exact_for_a_parabola_whatever_the_step():
    for step in (0.01, 0.1, 0.5):
        run = gc.simulate(system(BouncingBall(id="B")), 2.9, step)
        np.testing.assert_allclose([e.t for e in run.events], closed_forms.impacts(1.0, 0.8, 6), rtol=1e-13)


def test_work_is_counted(small_devices):
    run = gc.simulate(system(LinearDAE(id="D")), 1.0, 0.01)
    assert run.counters["steps"] == 100
    assert 100 <= run.counters["newton_iterations"] <= 200  # linear: one iteration, and one that finds it done
    assert run.counters["solves"] >= run.counters["newton_iterations"]
    assert run.counters["factorisations"] <= 3  # one step size, one matrix


def test_a_matrix_is_factorised_for_each_length_of_steps_and_at_each_restart(small_devices, monkeypatch):
    monkeypatch.setattr(Theta, "stretch", Stepper.stretch)  # step by step: the loop in C has factors of its own
    dae = system(LinearDAE(id="D"))
    spacings = {0.1: 1, ((0, 0.1), (1, 0.05)): 2}
    assert {s: gc.simulate(dae, 2.0, s).counters["factorisations"] for s in spacings} == spacings
    restarted = gc.simulate(system(LinearDAE(id="D"), Clockwork(id="C", at=0.5)), 1.0, 0.1)
    assert restarted.counters["factorisations"] == 2  # two segments, and nothing moves between them


def test_theta_outside_its_range_is_refused(small_devices):
    for theta in (0.4, 1.1, math.nan):
        with pytest.raises(gc.errors.CaseError, match="theta"):
            gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, theta=theta)


def test_a_run_that_fails_keeps_its_points_and_names_the_place_and_the_time(small_devices):
    with pytest.raises(gc.errors.ConvergenceError, match=r"E\.x at t = 0\.99 s") as caught:
        gc.simulate(system(Explosion(id="E"), Clockwork(id="C")), 2.0, 0.01)
    error = caught.value
    assert error.place == "E.x"
    assert error.t == pytest.approx(0.99)
    np.testing.assert_allclose(error.run.t, np.arange(99) * 0.01, atol=1e-12)
    np.testing.assert_allclose(error.run["E", "x"][:50], 1 / (1 - error.run.t[:50]), rtol=1e-3)


class Nose(Device):
    """``y² = 1 - x`` while x grows: no solution beyond x = 1, which an event at ``y = level`` prevents."""

    x0, level = Param("", 0.0), Param("", 0.2)
    beside, x = State("", start_at="x0"), State("", start_at="x0")
    y = Algebraic("", init=1.0)
    held = Mode(0)

    def rates(s):
        return 0.0, 1.0 - s.held

    def residuals(s):
        return s.y * s.y + s.x - 1.0

    @guard("down", when={"held": 0}, then={"held": 1})
    def holds(s):
        return s.y - s.level


class Fold(Device):
    """The same, and nothing that would prevent it."""

    x0 = Param("", 0.0)
    x, y = State("", start_at="x0"), Algebraic("", init=1.0)

    def rates(s):
        return 1.0

    def residuals(s):
        return s.y * s.y + s.x - 1.0


@pytest.mark.parametrize("t0", [0.0, -2.0])
def test_an_event_is_found_though_the_whole_step_has_no_solution_beyond_it(t0):
    with registered(Nose):
        run = gc.simulate(system(Nose(id="N")), t0 + 1.8, 0.3, t0=t0)
        assert [e.t - t0 for e in run.events] == pytest.approx([0.96], abs=1e-13)
        assert set(np.round(0.3 * np.arange(7), 9)) <= set(np.round(run.t - t0, 9))
        assert run.X[-1] == pytest.approx([0.0, 0.96, 0.2], abs=1e-12)
        end = gc.Integral(lambda v: v["N", "y"], name="y")
        exact = gc.adjoint(run, end, wrt=["N.level", "N.x0"])
        np.testing.assert_allclose(exact.values, gc.differences(run, end, wrt=["N.level", "N.x0"]).values, rtol=1e-6)


@pytest.mark.parametrize(("device", "values"), [(Nose, {"level": -1.0}), (Fold, {})])
def test_where_there_is_no_solution_and_no_event_before_the_run_ends_and_says_where(device, values):
    with registered(device), pytest.raises(gc.errors.ConvergenceError, match=r"at N\.[xy] at t = ") as caught:
        gc.simulate(system(device(id="N", **values)), 1.8, 0.3)
    assert caught.value.run.t[-1] == pytest.approx(0.9)
    assert caught.value.t == pytest.approx(1.2)
    told = re.search(r"; the last time with a solution is t = ([\d.]+) s$", str(caught.value))
    assert told
    assert float(told[1]) == pytest.approx(1.0, abs=1e-6)
