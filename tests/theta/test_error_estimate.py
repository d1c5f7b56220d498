"""Theta's estimate of its local error: exact for cubics, of third order, told with the run, and free of effect."""

from __future__ import annotations

import itertools
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from devices_for_tests import system as small

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State, timer
from gridcore.equations import Workspace
from gridcore.equations.native import compiler
from gridcore.errors import ConvergenceError
from gridcore.integrate import Stepper
from gridcore.linear import newton
from gridcore.registry import registered
from gridcore_theta import StepWarning, Theta
from gridcore_theta.predictor import Predictor, error_weights
from gridcore_verbs.summary import describe_run


@pytest.mark.parametrize(("theta", "power"), [(0.5, 3), (0.5, 2), (1.0, 2)])
def test_it_is_the_error_of_a_step_on_a_polynomial(theta: float, power: int) -> None:
    """``x' = power t^(power - 1)`` from the exact point: what the rule leaves, on a grid of unequal steps."""
    t = np.array([0.3, 0.35, 0.46, 0.53]) if theta == 0.5 else np.array([0.3, 0.4, 0.5, 0.6])
    h, slopes = np.diff(t)[::-1], (np.diff(t**power) / np.diff(t))[::-1]
    rate = power * t ** (power - 1)
    error = h[0] * slopes[0] - h[0] * ((1 - theta) * rate[-2] + theta * rate[-1])
    assert np.dot(error_weights(theta, h), slopes) == pytest.approx(error, abs=1e-16)


def of_a_power(power: int) -> Workspace:
    """``x' = power t^(power - 1)``, and ``z = 2 x`` follows."""

    class Power(Device):
        x0 = Param("", 0.0)
        x = State("", start_at="x0")
        z = Algebraic("")

        def rates(s: Any) -> Any:
            return power * s.time ** (power - 1)

        def residuals(s: Any) -> Any:
            return s.z - 2.0 * s.x

    with registered(Power):
        return loaded(small(Power(id="P")))


def loaded(system: Any) -> Workspace:
    ws = system.workspace()
    ws.load(system.Z0)
    ws.differential[:] = system.differential(ws.Z)
    return ws


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_behind_a_kink_each_variable_has_the_smaller_estimate(theta: float) -> None:
    """One goes on as a polynomial, of which the steps before know; the other begins to move, which they do not know."""
    power = 3 if theta == 0.5 else 2

    class Beside(Device):
        x0, k0 = Param("", 0.0), Param("", 0.0)
        x, k = State("", start_at="x0"), State("", start_at="k0")

        def rates(s: Any) -> Any:
            return power * s.time ** (power - 1), np.where(s.time >= 0.5, 1.0, 0.0)

    with registered(Beside):
        ws = loaded(small(Beside(id="B")))
    ws.mass[:] = 1.0
    predictor, t = Predictor(ws), np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    ws.X[:], ws.Z[-1] = (t[0] ** power, 0.0), t[0]
    for begin, end in itertools.pairwise(t):
        if begin == 0.5:
            predictor.kink()
        h = end - begin
        predictor.begin(end, h, theta)
        ws.X[:] = end**power, max(end - 0.5, 0.0)
        estimate = predictor.local_error(h, theta)
        predictor.end(h)
        rates = power * np.array([begin, end]) ** (power - 1)
        if begin > 0.35:
            error = end**power - begin**power - h * ((1 - theta) * rates[0] + theta * rates[1])
            assert estimate[0] == pytest.approx(error, abs=1e-15)
        if begin >= 0.5 and theta == 0.5:
            assert abs(estimate[1]) < (1e-15 if begin < 0.65 else 0.02)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("theta", "power", "made"), [
    (0.5, 3, 1), (0.5, 3, 2), (0.5, 3, 3), (0.5, 3, 5), (1.0, 2, 0), (1.0, 2, 1), (1.0, 2, 2), (1.0, 2, 4)])
def test_on_a_polynomial_it_is_the_error_as_soon_as_it_is_known(
        theta: float, power: int, made: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a step from exact points: the trapezoidal rule needs one behind, of any length; backward Euler none."""
    if not compiled:
        monkeypatch.setattr(compiler, "compiler_path", lambda: None)
    ws = of_a_power(power)
    ws.mass[:] = ws.differential
    predictor, t = Predictor(ws), np.cumsum([0.3, *0.1 * 1.2 ** np.arange(made + 1)])
    ws.X[:], ws.Z[-1] = np.array([1.0, 2.0]) * t[0] ** power, t[0]
    for begin, end in itertools.pairwise(t):
        h = end - begin
        predictor.begin(end, h, theta)
        ws.X[:] = np.array([1.0, 2.0]) * end**power
        estimate = predictor.local_error(h, theta)[0]
        predictor.end(h)
    rates = power * t[-2:] ** (power - 1)
    error = end**power - begin**power - h * ((1 - theta) * rates[0] + theta * rates[1])
    assert abs(estimate) == pytest.approx(abs(error), rel=1e-9)


@pytest.mark.parametrize(("theta", "power", "made"), [
    (0.5, 3, 1), (0.5, 3, 2), (0.5, 3, 4), (1.0, 2, 0), (1.0, 2, 1), (1.0, 2, 2)])
def test_it_is_known_from_the_second_step_on(theta: float, power: int, made: int) -> None:
    """``x' = 3 t^2`` or ``2 t``; steps grow from one to the next."""
    ws = of_a_power(power)
    stepper, t = Theta(0.1, theta), 0.2 * np.cumsum([1, *1.3 ** np.arange(made + 1)])
    ws.Z[-1] = t[0]
    stepper.restart(ws, t[0])
    for begin, end in itertools.pairwise(t):
        x = ws.X[0]
        stepper.advance(begin, end)
    error = ws.X[0] - x - (t[-1] ** power - t[-2] ** power)
    estimate = np.abs(stepper.local_error())
    assert 0.5 < estimate[0] / abs(error) < 2.001
    assert estimate[1] == pytest.approx(2 * estimate[0], rel=1e-9)


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_of_what_decays_within_a_step_it_is_the_estimate_that_its_slopes_give(theta: float) -> None:
    """No filter makes it small, as that of the step's own matrix would."""

    class Decays(Device):
        x0 = Param("", 1.0)
        x = State("", start_at="x0", rate=lambda s: -40.0 * s.x)

    with registered(Decays):
        system = small(Decays(id="D"))
    ws = loaded(system)
    stepper, path = Theta(0.1, theta), [ws.X[0]]
    stepper.restart(ws, 0.0)
    for k in range(4):
        stepper.advance(0.1 * k, 0.1 * (k + 1))
        path.append(ws.X[0])
    slopes = np.diff(path)[::-1][:3] / 0.1
    expected = np.dot(error_weights(theta, (0.1, 0.1, 0.1)), slopes)
    assert stepper.local_error()[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("h", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize(("short", "knows"), [(1.0, True), (1e-2, True), (0.9e-3, False), (1e-5, False)])
def test_a_step_that_is_tiny_beside_the_next_ends_what_is_known_in_any_unit_of_time(
        h: float, short: float, knows: bool) -> None:
    class Rises(Device):
        x0, pace = Param("", 1.0), Param("1/s")
        x = State("", start_at="x0", rate=lambda s: s.pace)

    with registered(Rises):
        system = small(Rises(id="R", pace=1 / h))
    ws = loaded(system)
    stepper = Theta(h)
    stepper.restart(ws, 0.0)
    for begin, end in itertools.pairwise(h * np.cumsum([0.0, 1.0, 1.0, 1.0, short, 1.0])):
        stepper.advance(begin, end)
    assert stepper.predictor.knows == knows


@pytest.mark.parametrize(("short", "estimated"), [(1.0, True), (1e-5, False)])
def test_nothing_is_estimated_with_fewer_steps_behind_than_it_needs(short: float, estimated: bool) -> None:
    """A tiny step has ended what was known: Euler's rule, with which the next could be compared, is not as good."""
    ws, stepper, t = of_a_power(3), Theta(0.1), np.cumsum([0.2, 0.1, 0.1 * short, 0.1, 0.1])
    ws.Z[-1] = t[0]
    stepper.restart(ws, t[0])
    for begin, end in itertools.pairwise(t):
        stepper.advance(begin, end)
    assert stepper.error_estimate > 0 if estimated else stepper.error_estimate == 0


@pytest.mark.parametrize("jumped", [False, True])
def test_after_a_switch_it_is_made_again_of_steps_since_and_no_earlier(
        jumped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what was before it is remembered, too: one that spans it would be that of a kink. Where a history begins,
    the first slope is one more.
    """
    monkeypatch.setattr(newton, "MIXED", -np.inf)
    ws, made, t = of_a_power(1), [], 0.125 * np.arange(13)
    stepper = Theta(0.125)
    estimate = stepper.estimate
    monkeypatch.setattr(stepper, "estimate", lambda h: (made.append(ws.Z[-1]), estimate(h)))
    ws.Z[-1] = 0.0
    stepper.restart(ws, 0.0)
    for number, (begin, end) in enumerate(itertools.pairwise(t)):
        if number == 5:
            stepper.switch(ws, begin, jumped=jumped)
        stepper.advance(begin, end)
    assert made == [t[2], t[7 if jumped else 8]]


def test_an_attempt_that_has_no_solution_leaves_what_is_known() -> None:
    """There is none beyond x = 1."""

    class Ends(Device):
        x0 = Param("", 0.0)
        x, y = State("", start_at="x0", rate=lambda s: 1.0), Algebraic("", init=1.0)

        def residuals(s: Any) -> Any:
            return s.y * s.y + s.x - 1.0

    with registered(Ends):
        ws = loaded(small(Ends(id="E")))
    stepper = Theta(0.25)
    stepper.restart(ws, 0.0)
    for begin, end in itertools.pairwise([0.0, 0.25, 0.5, 0.75]):
        stepper.advance(begin, end)
    start = ws.X.copy()
    with pytest.raises(ConvergenceError):
        stepper.advance(0.75, 1.5)
    ws.X[:], ws.Z[-1] = start, 0.75
    stepper.advance(0.75, 0.875)
    assert stepper.predictor.knows
    assert ws.X == pytest.approx([0.875, np.sqrt(0.125)], rel=1e-12)


def estimate(case: str, step: float, theta: float = 0.5) -> float:
    return gc.simulate(gc.build(case), 1.0, step, theta=theta).counters["error_estimate"]


@pytest.mark.parametrize(("theta", "order"), [(0.5, 3), (1.0, 2)])
def test_it_falls_with_the_order_of_the_local_error(theta: float, order: int) -> None:
    coarse, fine = (estimate("swing", step, theta) for step in (0.005, 0.0025))
    assert coarse / fine == pytest.approx(2**order, rel=0.35)


@pytest.mark.parametrize("at", [0.0, 0.5])
def test_it_is_made_as_soon_as_it_can_be_after_a_start_and_after_an_event(at: float) -> None:
    """Of ``x' = x`` from 1 in the second step, of its slope, that of the first, and that at the start, beside 1 + x;
    nothing moves before.
    """

    class Grows(Device):
        x0, pace, at = Param("", 1.0), Param("1/s", 0.0), Param("s", 0.5)
        x = State("", start_at="x0", rate=lambda s: s.pace * s.x)
        begins = timer("at", then={"pace": 1.0})

    with registered(Grows):
        system = small(Grows(id="G", pace=float(at == 0)))
    run, h = gc.simulate(system, at + 0.03, 0.01), 0.01
    growth = (1 + h / 2) / (1 - h / 2)
    slopes = (growth**2 - growth) / h, (growth - 1) / h, 1.0
    error = -np.dot(error_weights(0.5, (h, h, 0.0)), slopes) / (1 + growth**2)
    assert run.counters["error_estimate"] == pytest.approx(error, rel=0.02)
    assert 0.5 < error / (h**3 / 12 * growth**2 / (1 + growth**2)) < 2


def test_one_that_is_not_small_is_made_again_in_the_next_step() -> None:
    """Of a swing in steps of a sixth of its period the largest is met, wherever the swing is at the first."""

    class Swings(Device):
        x0, y0 = Param(""), Param("")
        x = State("", start_at="x0", rate=lambda s: s.y)
        y = State("", start_at="y0", rate=lambda s: -s.x)

    found = []
    with registered(Swings):
        for phase in np.linspace(0.0, np.pi, 7):
            system = small(Swings(id="S", x0=np.cos(phase), y0=-np.sin(phase)))
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found.append(gc.simulate(system, 10.0, 1.0).counters["error_estimate"])
            assert any("too large" in str(warning.message) for warning in told)
    assert max(found) < 1.5 * min(found)


@pytest.mark.parametrize(("name", "step"), [("smib", 0.2), ("kundur_lcc", 0.1)])
def test_a_few_large_steps_among_events_are_told(name: str, step: float) -> None:
    with pytest.warns(StepWarning, match="too large"):
        run = gc.simulate(gc.build(name), 2.0, step)
    assert run.counters["error_estimate"] > 0.01


def test_it_is_made_again_on_the_way() -> None:
    """Of ``x = t^6`` it is a twelfth of ``h^3`` times the third derivative, beside 1 + x: far more at the end."""

    class Sixth(Device):
        x0 = Param("", 0.0)
        x = State("", start_at="x0", rate=lambda s: 6.0 * s.time ** 5)

    with registered(Sixth):
        found = gc.simulate(small(Sixth(id="S")), 1.0, 0.01).counters["error_estimate"]
    errors = [1e-6 / 12 * 120 * t**3 / (1 + t**6) for t in (0.8, 0.97)]
    assert min(errors) < found < 1.1 * max(errors)


def test_a_step_that_is_too_large_is_warned_of_once_with_variable_and_time() -> None:
    system = gc.build("wscc9")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = gc.simulate(system, 2.0, 0.1)
        fine = gc.simulate(system, 2.0, 0.01)
    told = [str(warning.message) for warning in caught if warning.category is StepWarning]
    assert len(told) == 1
    assert told[0].startswith("a step of 0.1 s is too large for EXC2.VR (GEN2, BUS2) at t = ")
    assert fine.counters["error_estimate"] < 1e-3 < 1e-2 < run.counters["error_estimate"]


def estimating(error: float) -> Theta:
    """Behind a step of that error in its second variable, 2 beside scale and value."""
    theta = Theta(0.1)
    theta.ws = SimpleNamespace(mass=np.array([1, 1, 0]), scale=np.array([1, 0.5, 1]), X=np.array([0, -1.5, 0]),
                               Z=np.array([0, -1.5, 0, 7, 0.25]), place=lambda k: "abc"[k])
    theta.predictor = SimpleNamespace(local_error=lambda h, theta: np.array([error / 4, -error, 9.0]))
    return theta


def test_the_warning_tells_variable_time_and_percent_once() -> None:
    theta = estimating(0.0692)
    said = r"a step of 0\.1 s is too large for b at t = 0\.25 s: .* is about 3\.5 %"
    with pytest.warns(StepWarning, match=said) as told:
        theta.estimate(0.1)
    assert theta.error_estimate == 0.0346
    assert told[0].filename == __file__  # who asked for it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theta.estimate(0.1)


@pytest.mark.parametrize("error", [0.0, 0.001, 0.02])
def test_of_one_percent_or_less_there_is_no_warning(error: float) -> None:
    theta = estimating(error)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theta.estimate(0.1)
    assert theta.error_estimate == error / 2


def test_it_changes_no_number_and_stays_with_a_saved_run(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theta, "stretch", Stepper.stretch)  # step by step
    system = gc.build("wscc9")
    run = gc.simulate(system, 0.5, 0.01)
    assert "error estimate" in "\n".join(text for _, text in describe_run(run))
    run.save(tmp_path / "run.nc")
    assert gc.load_run(tmp_path / "run.nc").counters == run.counters
    monkeypatch.setattr(Theta, "estimate", lambda self, h: None)
    without = gc.simulate(system, 0.5, 0.01)
    assert "error_estimate" not in without.counters
    np.testing.assert_array_equal(run.X, without.X)
    np.testing.assert_array_equal(run.t, without.t)
