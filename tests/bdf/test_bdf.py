"""Runs by backward differentiation formulas: their order, their error, their steps, and how they are continued."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from devices_for_tests import Driven, system
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.contract import Device, Param, State
from gridcore.errors import CaseError
from gridcore.integrate import Stepper
from gridcore.linear import newton
from gridcore.testing import integrator_checks
from gridcore_bdf import past
from gridcore_bdf.orders import Orders
from gridcore_bdf.stepper import Bdf

PRECISE = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}


def after(t_end: float) -> float:
    """Where the equation of `Driven` leads."""
    return float(solve_ivp(lambda t, x: -x + np.sin(t) + 0.3 * x * x, (0, t_end), [0.5], **PRECISE).y[0, -1])


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_the_local_error_of_a_step_has_one_power_more_than_the_order_and_is_estimated(order: int) -> None:
    """From exact points; of an exponential, all derivatives of which are alike."""
    errors = []
    for h in (0.04, 0.02):
        s = system(Driven(id="D", b=0.0, c=0.0))
        ws, stepper = s.workspace(), Bdf(h, order=order)
        ws.load(s.Z0)
        ws.differential[:] = s.differential(ws.Z)
        times = h * np.arange(order + 2)
        stepper.restart(ws, 0.0)
        for t, target in itertools.pairwise(times):
            ws.X[:], ws.Z[-1] = np.exp(-t), t
            stepper.advance(t, target)
        errors.append(ws.X[0] - np.exp(-times[-1]))
        assert stepper.order == order
        assert stepper.local_error()[0] == pytest.approx(errors[-1], rel=8 * h)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.25)


@pytest.mark.parametrize("tiny", [0.0, 1e-6])
@pytest.mark.parametrize("order", [1, 2, 5])
def test_so_is_that_of_the_first_step_and_of_one_behind_a_tiny_one(order: int, tiny: float) -> None:
    """By the trapezoidal rule, and how slopes change where it begins: -x of -x is x."""
    errors = []
    for h in (0.04, 0.02):
        s = system(Driven(id="D", b=0.0, c=0.0, x0=1.0))
        ws, stepper = s.workspace(), Bdf(h, order=order, start=2)
        ws.load(s.Z0)
        ws.differential[:] = s.differential(ws.Z)
        stepper.restart(ws, 0.0)
        assert stepper.begins(np.array([1.0])) == min(order, 2)
        for t, target in ((0.0, tiny), (tiny, h)) if tiny else ((0.0, h),):
            ws.X[:], ws.Z[-1] = np.exp(-t), t
            stepper.advance(t, target)
        errors.append(ws.X[0] - np.exp(-h))
        assert stepper.order == min(order, 2)
        assert stepper.local_error()[0] == pytest.approx(errors[-1], rel=8 * h)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(min(order, 2) + 1, abs=0.25)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_the_number_of_steps_grows_with_the_power_of_the_order(order: int) -> None:
    """Errors are of the size of the tolerance, whatever the order; so many steps does it take."""
    s, true, steps = system(Driven(id="D")), after(12.0), []
    for rtol in (1e-4, 1e-6):
        run = gc.simulate(s, 12.0, "auto", "bdf", order=order, rtol=rtol, atol=rtol)
        assert abs(run.X[-1, 0] - true) < 20 * rtol
        steps.append(run.counters["steps"])
    assert np.log(steps[1] / steps[0]) / np.log(100) < 1.3 / order


def test_after_a_start_the_order_rises_from_two_by_one_a_step_and_steps_grow_twice_at_most(
        monkeypatch: pytest.MonkeyPatch) -> None:
    orders, advance = [], Bdf.advance

    def tried(self: Bdf, t: float, target: float) -> Any:
        reached = advance(self, t, target)
        orders.append((t, self.order))
        return reached

    assert gc.simulate(system(Driven(id="D")), 0.1, 0.05, "bdf").tape.methods[-1].options == {"order": 5, "start": 1}
    monkeypatch.setattr(Bdf, "advance", tried)
    monkeypatch.setattr(Bdf, "stretch", Stepper.stretch)  # step by step
    run = gc.simulate(system(Driven(id="D", at=1.0)), 2.0, "auto", "bdf", rtol=1e-5)
    made = dict(orders)  # of those from one time the last
    for start in (0.0, 1.0):
        times = sorted(t for t in made if start <= t < start + 1.0)
        assert [made[t] for t in times] == [2, 2, 3, 4, *[5] * (len(times) - 4)]
        h = np.diff(times)
        assert 1.3 < (h[1:] / h[:-1]).max() < 2.0 + 1e-9
    assert len(run.events) == 1
    assert run.tape.methods[-1].options == {"order": 5, "start": 2}
    again = gc.simulate(run.system, mesh=run)
    assert again.tape.methods == run.tape.methods
    np.testing.assert_allclose(again.X, run.X, rtol=0, atol=1e-14)


def test_fewer_steps_than_by_methods_of_order_two() -> None:
    s = gc.build("ieee39")
    counts = {method: gc.simulate(s, 10.0, "auto", method, rtol=1e-5, atol=1e-7).counters["steps"]
              for method in ("theta", "bdf")}
    assert 5 * counts["bdf"] < counts["theta"]


@pytest.mark.parametrize(("constant", "bend"), [(4.0, 0.0), (1.0, 4.0), (0.0, 5.0), (-3.0, 1e-3), (1e6, 0.0)])
@pytest.mark.filterwarnings("error")
def test_the_first_step_is_longer_than_that_of_euler_where_the_bend_is_small_beside_the_slope(
        constant: float, bend: float) -> None:
    """``h^3 / 6 x''^2 / x'`` of ``x' = constant + bend t``; no variable moves by more than its size, slopes that stay
    ask for nothing.
    """

    class Ramp(Device):
        constant, bend = Param(""), Param("")
        x0 = Param("", 1.0)
        x = State("", start_at="x0")

        def rates(s: Any) -> Any:
            return s.constant + s.bend * s.time

    with gc.registered(Ramp):
        run = gc.simulate(system(Ramp(id="R", constant=constant, bend=bend)), 1e3, "auto", "bdf")
    tolerated = Bdf.share * (1e-3 + 1e-5)
    euler = np.sqrt(tolerated / max(abs(bend), abs(constant)))
    longer = np.cbrt(3 * tolerated * abs(constant) / bend**2) if bend else np.inf
    assert run.t[1] == pytest.approx(min(max(euler, longer), 2.0 / abs(constant) if constant else np.inf), rel=1e-6)


@given(seed=st.integers(0, 2**31), highest=st.integers(1, 5), start=st.integers(1, 2))
@settings(max_examples=40, deadline=None)
def test_the_loops_of_c_are_those_of_numpy(seed: int, highest: int, start: int) -> None:
    """Random points at random distances, tiny ones too, steps that are tried again, and new starts."""
    rng, s = np.random.default_rng(seed), gc.build("wscc9")
    pair, changes = [], [(t, rng.integers(1, highest, endpoint=True)) for t in (0.02, 0.1, 0.3)]
    for compiled in (True, False):
        ws = s.workspace()
        ws.differential[:] = ws.mass[:] = s.differential(ws.Z)
        with pytest.MonkeyPatch.context() as patch:
            if not compiled:
                patch.setattr(type(ws.runtime), "functions", lambda *source, **types: {})
            pair.append((ws, past.Past(ws, Orders([(0.0, highest), *changes]), min(start, highest))))
    t = 0.0
    for _ in range(14):
        ends = t + 10.0 ** rng.uniform(-5, -1, size=2)
        if rng.random() < 0.1:
            for _, each in pair:
                each.forget()
        X, bend, noise = pair[0][0].X * (1 + 1e-3 * rng.normal(size=s.n)), rng.normal(size=s.n), rng.normal(size=s.n)
        part = 10 ** rng.uniform(-8, -2)
        for number, end in enumerate(ends):
            b = []
            for ws, each in pair:
                ws.X[:], ws.Z[-1] = X, t
                each.begin(t)
                each.bend[:] = bend
                b.append(each.equations(end, lead=not number))
            (one, of_one), (other, of_other) = pair
            assert b[0] == pytest.approx(b[1], rel=1e-13)
            assert of_one.order == of_other.order
            for a, c in ((one.X, other.X), (one.base, other.base), (one.c, other.c), (of_one.led, of_other.led)):
                np.testing.assert_allclose(a, c, rtol=0, atol=1e-11 * (1 + np.abs(c).max()))
            for size in 1e-6, 1e-5, 1e-4, 1e-3:  # algebraic variables alone are off, or all are
                errors = []
                for ws, each in pair:
                    each.led[:], ws.X[:] = X, X + np.where(ws.mass, size, 1e-3) * noise
                    each.tolerate(part)
                    errors.append(each.error())
                (a, follow), (c, other_follows) = errors
                assert follow == other_follows
                np.testing.assert_allclose(a, c, rtol=1e-12)
        t = float(ends[1])


@pytest.mark.parametrize("degree", range(7))
def test_a_polynomial_that_the_points_determine_is_bent_exactly_off_its_chord(degree: int) -> None:
    s, t = gc.build("wscc9"), 0.0
    ws = s.workspace()
    points, exact = past.Past(ws, Orders(5), 1), np.random.default_rng(1).normal(size=(degree + 1, ws.n))

    def at(t: float) -> np.ndarray:
        return np.polynomial.polynomial.polyval(t, exact)

    for h in (0.1, 0.07, 0.2, 0.1, 0.15, 0.0):
        ws.X[:] = at(t)
        points.begin(t)
        begun, t = t, t + h
    for low, end, high in ((0.0, 0.04, 0.13), (0.02, 0.1, 0.11)):
        part = (end - low) / (high - low)
        ws.X[:] = chord = (1 - part) * at(begun + low) + part * at(begun + high)
        points.curve(begun + low, begun + end, begun + high)
        assert (np.abs(ws.X - at(begun + end)).max() < 1e-12) == (degree < 6)
        assert degree < 2 or np.abs(chord - at(begun + end)).max() > 1e-5


@pytest.mark.parametrize("name", ["ieee39", "kundur", "hiskens_pai"])
@pytest.mark.parametrize("step", [2e-3, "auto"])
@pytest.mark.parametrize("mixed", [np.inf, -np.inf])
def test_events_are_located_by_the_method_itself_where_they_are_by_halving(
        name: str, step: Any, mixed: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With factors of their own, and with those of earlier steps, as in large systems."""
    s, t_end, found = gc.build(name), 0.2 if name == "hiskens_pai" else 2.0, []
    by_itself = Bdf.end_at_zero
    monkeypatch.setattr(Bdf, "end_at_zero", Stepper.end_at_zero)
    usual = gc.simulate(s, t_end, step, "bdf", rtol=1e-4) if step == "auto" else gc.simulate(s, t_end, step, "bdf")
    monkeypatch.setattr(Bdf, "end_at_zero", lambda self, *of: found.append(by_itself(self, *of)) or found[-1])
    monkeypatch.setattr(newton, "MIXED", mixed)
    run = gc.simulate(s, mesh=usual) if step == "auto" else gc.simulate(s, t_end, step, "bdf")
    assert [str(event) for event in run.events] == [str(event) for event in usual.events]
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in usual.events], rtol=0, atol=1e-10)
    assert len([t for t in found if t is not None]) > len(found) / 2
    assert np.max(np.abs(run.X[-1] - usual.X[-1]) / (1 + np.abs(usual.X[-1]))) < 1e-8


class Stiff(Device):
    """Two rates, 1e6 apart, around a solution that is a cosine (A. Prothero, A. Robinson, Math. Comp. 28, 1974)."""

    rate = Param("1/s", 1e6)
    x0 = Param("", 1.0)
    x = State("", start_at="x0")

    def rates(s: Any) -> Any:
        return -s.rate * (s.x - np.cos(s.time)) - np.sin(s.time)


def test_what_is_stiff_does_not_shorten_steps() -> None:
    with gc.registered(Stiff):
        runs = [gc.simulate(system(Stiff(id="S", rate=rate)), 10.0, "auto", "bdf", rtol=1e-6, atol=1e-8)
                for rate in (1.0, 1e6)]
    for run in runs:
        assert abs(run.X[-1, 0] - np.cos(10.0)) < 4e-6
    assert runs[1].counters["steps"] < 2 * runs[0].counters["steps"]


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"order": 1}])
def test_the_conformance_check_is_well(options: dict[str, int]) -> None:
    report = integrator_checks.report(Bdf, **options)
    assert report.ok, report
    assert [line.split(":")[0] for line in report.passed if "not examined" in line] == ["order", "restart"]


@pytest.mark.parametrize("order", [0, 6, 2.5, "3", None])
def test_an_order_that_there_is_not_is_refused(order: Any) -> None:
    with pytest.raises(CaseError, match=r"start = 3 must be 1 \(backward Euler\) or 2"):
        gc.simulate("wscc9", 1.0, 0.01, method="bdf", start=3)
    with pytest.raises(CaseError, match=r"order = .* must be a whole number from 1 to 5"):
        gc.simulate("smib", 0.1, method="bdf", order=order)


@pytest.mark.parametrize("step", [0.01, "auto"])
def test_a_run_that_is_continued_begins_anew_and_is_differentiated_so(step: Any) -> None:
    s = gc.build("wscc9")
    first = gc.simulate(s, 1.0, step, "bdf")
    run = gc.simulate(first, 1.5)
    assert run.t[-1] == 1.5
    assert [method.name for method in run.tape.methods] == ["bdf", "bdf"]
    end, wrt = gc.Terminal(lambda v: v["GEN2", "omega"]), ["GEN2.H", "GEN3.H", "LOAD5.P0"]
    adjoint = gc.adjoint(run, end, wrt).values
    forward = gc.analyses.tsa(run, wrt, [("GEN2", "omega")]).values[-1]
    np.testing.assert_allclose(adjoint, forward, rtol=1e-11)
    if step != "auto":  # whose steps would be chosen anew
        ends = [gc.simulate(gc.simulate(s.with_values({"GEN2.H": H}), 1.0, step, "bdf"), 1.5)["GEN2", "omega"][-1]
                for H in (6.4 * (1 - 1e-5), 6.4 * (1 + 1e-5))]
        assert adjoint[0, 0] == pytest.approx((ends[1] - ends[0]) / (2e-5 * 6.4), rel=1e-6)


@pytest.mark.parametrize("start", [1, 2])
def test_the_step_after_a_tiny_one_is_as_good_as_another(start: int) -> None:
    """An event 1e-7 s before a point of the grid leaves a point that no formula is made of."""
    runs = [gc.simulate(system(Driven(id="D", at=at)), 1.5, 0.05, "bdf", start=start) for at in (0.7 - 1e-7, 0.7)]
    assert runs[0].X[-1, 0] == pytest.approx(runs[1].X[-1, 0], abs=1e-6)
