"""TR-BDF2 is of order two, smooth and through events; it damps what it does not resolve; runs are recomputed alike."""

from __future__ import annotations

import math
from typing import Any

import closed_forms
import numpy as np
import pytest
from devices_for_tests import Driven, Limited, LinearDAE, system
from scenes import case_of, record
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State, guard, timer
from gridcore_devices.hybrid.bouncing_ball import BouncingBall
from gridcore_devices.hybrid.switched_linear import SwitchedLinear
from gridcore_trbdf2.stepper import TrBdf2

PRECISE = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}


def runs(s: Any, t_end: float, h: float) -> list[gc.Run]:
    """At h, h/2 and h/4."""
    return [gc.simulate(s, t_end, h / part, method="trbdf2") for part in (1, 2, 4)]


def orders(errors: Any) -> np.ndarray:
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_order_on_a_smooth_equation() -> None:
    exact = solve_ivp(lambda t, x: -x + np.sin(t) + 0.3 * x * x, (0, 2), [0.5], **PRECISE).y[0, -1]
    errors = [abs(run.X[-1, 0] - exact) for run in runs(system(Driven(id="D")), 2.0, 0.01)]
    np.testing.assert_allclose(orders(errors), 2, atol=0.05)


def test_order_through_six_state_events() -> None:
    times, exact = closed_forms.hiskens_pai(0.2)
    found = runs(system(SwitchedLinear(id="S")), 0.2, 2e-4)
    assert [len(run.events) for run in found] == [6, 6, 6]
    np.testing.assert_allclose(orders([np.linalg.norm(run.X[-1] - exact) for run in found]), 2, atol=0.1)
    np.testing.assert_allclose(orders([np.abs([e.t - t for e, t in zip(run.events, times)]).max() for run in found]),
                               2, atol=0.1)


def test_order_through_a_limit_and_back() -> None:
    found, exact = runs(system(Limited(id="L")), 2.6, 0.02), 0.5 + math.sin(2.6) - 1
    np.testing.assert_allclose(orders([abs(run.X[-1, 0] - exact) for run in found]), 2, atol=0.2)


@pytest.mark.parametrize("at", [0.7, 0.7037])
def test_order_through_a_timer_on_the_grid_and_off_it(at: float) -> None:
    x = solve_ivp(lambda t, x: -x + np.sin(t) + 0.3 * x * x, (0, at), [0.5], **PRECISE).y[:, -1]
    x = solve_ivp(lambda t, x: x + np.sin(t) + 0.3 * x * x, (at, 1.2), x, **PRECISE).y[0, -1]
    errors = [abs(run.X[-1, 0] - x) for run in runs(system(Driven(id="D", at=at)), 1.2, 0.02)]
    np.testing.assert_allclose(orders(errors), 2, atol=0.1)


def test_order_through_resets_that_read_states_parameters_and_time() -> None:
    s = gc.build(case_of(record("Hopper", id="hop")))
    fine, found = gc.simulate(s, 2.0, 2e-4, method="trbdf2"), runs(s, 2.0, 8e-3)
    assert {len(run.events) for run in (fine, *found)} == {len(fine.events)}
    assert len(fine.events) >= 3
    np.testing.assert_allclose(orders([np.linalg.norm(run.X[-1] - fine.X[-1]) for run in found]), 2, atol=0.15)
    np.testing.assert_allclose(orders([abs(run.events[-1].t - fine.events[-1].t) for run in found]), 2, atol=0.15)


class Late(Device):
    """``dx/dt = -x + y``, ``y² + y = 2 x``; its rate is halved some time after it fell below a threshold."""

    threshold, delay, factor = Param("", 0.7), Param("s", 0.1037), Param("", 1.0)
    x0 = Param("", 1.3)
    y = Algebraic("", init=0.9)
    x = State("", start_at="x0")

    def rates(s: Any) -> Any:
        return s.factor * (0.2 * s.y - s.x)

    def residuals(s: Any) -> Any:
        return s.y * s.y + s.y - 2.0 * s.x

    @guard("down", then={"factor": lambda s: 0.5 * s.factor}, delay="delay", cancel=False)
    def falls(s: Any) -> Any:
        """Too low"""
        return s.x - s.threshold


def test_order_through_a_delay_with_algebraic_variables() -> None:
    with gc.registered(Late):
        s = gc.build(case_of(record("Late", id="late")))
        fine, found = gc.simulate(s, 1.5, 2e-4, method="trbdf2"), runs(s, 1.5, 0.02)
        assert [[e.kind for e in run.events] for run in found] == [["delay started", "switch"]] * 3
        np.testing.assert_allclose(orders([np.linalg.norm(run.X[-1] - fine.X[-1]) for run in found]), 2, atol=0.15)
        np.testing.assert_allclose(orders([abs(run.events[1].t - fine.events[1].t) for run in found]), 2, atol=0.15)


def test_it_is_exact_for_a_parabola_whatever_the_step() -> None:
    for step in (0.01, 0.1, 0.5):
        run = gc.simulate(system(BouncingBall(id="B")), 2.9, step, method="trbdf2")
        np.testing.assert_allclose([e.t for e in run.events], closed_forms.impacts(1.0, 0.8, 6), rtol=1e-13)


def test_a_linear_dae_takes_the_steps_of_the_formulas() -> None:
    run, h, x = gc.simulate(system(LinearDAE(id="D")), 1.0, 0.1, method="trbdf2"), 0.1, 1.0
    gamma = 2 - math.sqrt(2)
    for t in np.arange(10) * h:  # dx/dt = -1.5 x + sin(t) / 2
        middle = (x * (1 - 0.75 * gamma * h) + gamma * h / 4 * (math.sin(t) + math.sin(t + gamma * h))) / (
            1 + 0.75 * gamma * h)
        known = (middle - (1 - gamma) ** 2 * x) / (gamma * (2 - gamma))
        weight = (1 - gamma) / (2 - gamma) * h
        x = (known + weight * 0.5 * math.sin(t + h)) / (1 + 1.5 * weight)
    assert run.X[-1, 0] == pytest.approx(x, rel=1e-13)
    np.testing.assert_allclose(run["D", "x"] + 2 * run["D", "y"], np.sin(run.t), rtol=0, atol=1e-14)


class Stiff(Device):
    """``T dx/dt = target - x``; the target jumps."""

    T, target, at = Param("s", 1e-4), Param("", 0.0), Param("s", 0.1)
    x = State("", T="T")

    def rates(s: Any) -> Any:
        return s.target - s.x

    jumps = timer("at", then={"target": lambda s: s.target + 1.0}, doc="jump")


def test_a_mode_faster_than_the_step_is_gone_where_the_trapezoidal_rule_rings() -> None:
    with gc.registered(Stiff):
        s = gc.build(case_of(record("Stiff", id="s")))
        off = {m: gc.simulate(s, 0.3, 0.01, method=m)["s", "x"][-10:] - 1 for m in ("theta", "trbdf2")}
    assert np.abs(off["trbdf2"]).max() < 1e-12
    assert np.abs(off["theta"]).min() > 0.4
    assert (off["theta"][1:] * off["theta"][:-1] < 0).all()


def test_it_has_no_options() -> None:
    with pytest.raises(gc.errors.CaseError, match="no option 'theta'"):
        gc.simulate(gc.build("hiskens_pai"), 0.1, 1e-3, method="trbdf2", theta=0.6)


def test_work_is_counted_and_small() -> None:
    """Of each stage of a linear system: one iteration, and one that finds it done."""
    run = gc.simulate(system(LinearDAE(id="D")), 1.0, 0.01, method="trbdf2")
    assert run.counters["steps"] == 100
    assert 200 <= run.counters["newton_iterations"] <= 400
    assert run.counters["factorisations"] <= 4
    grid = gc.simulate(gc.build("ieee39"), 2.0, 0.01, method="trbdf2").counters
    assert grid["newton_iterations"] <= 5 * grid["steps"]


class Steep(Device):
    """``T dx/dt = target - x - (exp(x) - 1) / 10``; the target falls."""

    T, target, at = Param("s", 1e-4), Param("", 0.0), Param("s", 0.1)
    x = State("", T="T")

    def rates(s: Any) -> Any:
        return s.target - s.x - 0.1 * (np.exp(s.x) - 1.0)

    falls = timer("at", then={"target": lambda s: s.target - 1.0}, doc="fall")


@pytest.mark.parametrize("before", [1e-3, 1e-5, 1e-8])
def test_a_short_step_after_an_event_does_not_lead_the_next_one_astray(before: float) -> None:
    """A parabola through the beginning of a fast transient leads to x = 5000."""
    with gc.registered(Steep):
        s = gc.build(case_of(record("Steep", id="s", at=0.1 - before)))
        run = gc.simulate(s, 0.3, 0.01, method="trbdf2")
    assert run.t[-1] == 0.3
    assert run.counters["newton_iterations"] <= 8 * run.counters["steps"]
    x = run["s", "x"][-1]
    assert -1 - x == pytest.approx(0.1 * (np.exp(x) - 1))


@pytest.mark.usefixtures("short_segments")
@pytest.mark.parametrize(("name", "t_end", "step"), [("hiskens_pai", 0.2, 1e-4), ("wscc9", 3.0, 5e-3)])
def test_what_is_recomputed_from_checkpoints_is_the_same_to_the_last_bit(name: str, t_end: float, step: float) -> None:
    s = gc.build(name)
    whole = gc.simulate(s, t_end, step, method="trbdf2")
    light = gc.simulate(s, t_end, step, method="trbdf2", checkpoint=8 * s.n * 320)
    assert light.tape.points == whole.tape.points > 320
    for k in range(whole.tape.points - 1, -1, -97):
        np.testing.assert_array_equal(light.tape.states.row(k), whole.tape.states.row(k))
    device, quantity = ("HP", "x1") if name == "hiskens_pai" else ("GEN2", "omega")
    wrt = ["HP.p1", "HP.a12"] if name == "hiskens_pai" else ["GEN*.H", "fault.clear"]
    end = gc.Integral(lambda v: v[device, quantity] ** 2)
    np.testing.assert_array_equal(gc.adjoint(light, end, wrt).values, gc.adjoint(whole, end, wrt).values)


def test_a_step_that_is_ended_where_it_began_can_go_on() -> None:
    """A location may ask for any time between the two ends of a step, its start among them."""
    s = gc.build("hiskens_pai")
    ws, stepper = s.workspace(), TrBdf2(1e-3)
    ws.load(s.Z0)
    ws.differential[:] = s.differential(s.Z0)
    stepper.restart(ws, 0.0)
    stepper.advance(0.0, 1e-3)
    whole = ws.X.copy()
    for t in (0.0, 4e-4, 1e-3):
        stepper.state_at(t)
        if t == 0.0:
            np.testing.assert_allclose(ws.X, s.Z0[: s.n], rtol=1e-14)
    np.testing.assert_allclose(ws.X, whole, rtol=1e-13)


def test_its_embedded_formula_tells_the_local_error() -> None:
    """``x' = -x + sin t + 0.3 x^2`` in one step, against the exact solution; half a step has an eighth."""
    s, errors = system(Driven(id="D")), []
    for h in (0.02, 0.01):
        ws = s.workspace()
        ws.load(s.Z0)
        ws.differential[:] = s.differential(ws.Z)
        stepper = TrBdf2(h)
        stepper.restart(ws, 0.0)
        stepper.advance(0.0, h)
        exact = solve_ivp(lambda t, x: -x + np.sin(t) + 0.3 * x * x, (0, h), [0.5], **PRECISE).y[0, -1]
        errors.append(stepper.local_error()[0])
        assert errors[-1] == pytest.approx(ws.X[0] - exact, rel=0.05)
    assert errors[0] / errors[1] == pytest.approx(8, rel=0.05)

