"""Steps that are chosen by their local error: as accurate as asked, data on the tape, the same when made again."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from devices_for_tests import Clockwork, Driven, Explosion, Sliding, system
from short_segments import POINTS

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.errors import CaseError, ConvergenceError, EventError
from gridcore.integrate import Advance, Stepper
from gridcore.integrate.control import Controlled
from gridcore.linear import Newton
from gridcore.numerics import SHORTEST
from gridcore.registry import Integrator, registered
from gridcore.tape import Method
from gridcore_bdf.stepper import Bdf
from gridcore_theta.stepper import Theta
from gridcore_trbdf2.stepper import TrBdf2

pytestmark = pytest.mark.usefixtures("small_devices", "short_segments")
METHODS = pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
RELAY = gc.Terminal(lambda v: v["GEN2", "omega"]), gc.Integral(lambda v: v["BUS6", "Vm"] ** 2)


class Euler(Stepper):
    """Backward Euler, somebody's own: what its steps would be by the rule of order two is the estimate."""

    name, order = "euler", 1

    def __init__(self, step):
        self.ws, self.tested = None, 0

    def restart(self, ws, t):
        self.ws, self.newton, self.known = ws, Newton(ws), False

    def advance(self, t, target):
        self.t0, self.X0, self.f0 = t, self.ws.X.copy(), self.ws.rhs().copy()
        self.state_at(target)
        self.known, known = True, self.known
        self.skip = not known
        return Advance(target)

    def state_at(self, t):
        ws, self.h = self.ws, t - self.t0
        ws.mass[:] = ws.differential
        ws.c[:], ws.base[:], ws.Z[-1] = np.where(ws.differential, self.h, -1.0), ws.mass * self.X0, t
        self.newton.solve()

    def local_error(self):
        return None if self.skip else self.ws.mass * (self.ws.X - self.X0 - self.h * self.f0) / 2


@functools.cache
def built(name):
    return gc.build(name)


@functools.cache
def precise(name, t_end):
    return gc.simulate(built(name), t_end, method="ida", rtol=1e-10, atol=1e-12)


def relay():
    """The recovery loads, whose relay acts at once, with a threshold that is passed fast."""
    case = gc.load_case("wscc9_recovery_loads")
    for address, value in {"up.t0": 0.3, "up.t1": 2.3, "down.t0": 2.3, "down.t1": 4.3}.items():
        case.set(address, value)
    case.set("RELAY14.threshold", 0.8)
    return gc.build(case)


@METHODS
@pytest.mark.parametrize("rtol", [1e-3, 1e-4])
@pytest.mark.parametrize("name", ["wscc9", "ieee39"])
def test_errors_are_within_ten_times_the_tolerance(name, rtol, method):
    run, true = gc.simulate(built(name), 2.0, "auto", method, rtol=rtol, atol=rtol), precise(name, 2.0)
    assert [e.words for e in run.events] == [e.words for e in true.events]
    error = np.abs(run.X[-1] - true.X[-1]) / (built(name).workspace().scale + np.abs(true.X[-1]))
    assert error.max() < 10 * rtol


@METHODS
def test_errors_are_proportional_to_the_tolerance(method):
    system, true = built("ieee39"), precise("ieee39", 2.0)
    parts = []
    for rtol in (1e-3, 1e-4, 1e-5):
        run = gc.simulate(system, 2.0, "auto", method, rtol=rtol, atol=rtol)
        error = np.abs(run.X[-1] - true.X[-1]) / (system.workspace().scale + np.abs(true.X[-1]))
        parts.append(error.max() / rtol)
    assert max(parts) < 3 * min(parts)


@pytest.mark.parametrize(("method", "options", "order"), [
    ("theta", {}, 2), ("theta", {"theta": 1.0}, 1), ("theta", {"theta": 0.7}, 1), ("trbdf2", {}, 2)])
def test_steps_are_as_many_as_the_order_says(method, options, order):
    coarse, fine = (gc.simulate(system(Driven(id="D")), 2.0, "auto", method, rtol=rtol, atol=rtol, **options)
                    for rtol in (3e-4, 3e-4 / 4**order))
    assert fine.counters["steps"] / coarse.counters["steps"] == pytest.approx(4, rel=0.25)


@METHODS
def test_where_nothing_happens_steps_are_as_long_as_the_run_and_after_an_event_short(method):
    run = gc.simulate(built("wscc9"), 0.2, "auto", method)
    h = np.diff(run.t)
    fault = int(np.flatnonzero(run.t == 0.1)[0])
    assert fault == 1
    assert 0 < h[fault + 1] < (0.02 if method == "bdf" else 5e-3) < h[0]


@METHODS
def test_the_mesh_of_a_run_repeats_it(method):
    run = gc.simulate(relay(), 6.0, "auto", method)
    assert {e.item for e in run.events} >= {"overload", "begins"}
    again = gc.simulate(run.system, 6.0, mesh=run)
    assert [e.words for e in again.events] == [e.words for e in run.events]
    np.testing.assert_allclose(again.t, run.t, rtol=0, atol=1e-11)
    np.testing.assert_allclose(again.X, run.X, rtol=1e-9, atol=1e-9)  # what moves at 100 per s moves by that in 1e-11 s
    assert "rejections" not in again.counters
    half = gc.simulate(run.system, 3.0, mesh=run, method="trbdf2")
    assert set(half.t[half.tape.mesh()]) - {3.0} == {t for t in run.t[run.tape.mesh()] if t < 3}
    assert half.settings["mesh_of"] == method


@METHODS
def test_gradients_are_exact_for_the_steps_that_were_made(method):
    run, wrt = gc.simulate(relay(), 6.0, "auto", method), ["RELAY14.threshold", "RELAY14.delay", "up.t0", "LOAD5.Tp"]
    gradient = gc.adjoint(run, RELAY, wrt)
    forward = gc.analyses.forward_gradient(run, RELAY, wrt)
    largest = np.abs(gradient.values).max(axis=0)
    assert (np.abs(forward.values - gradient.values) < 1e-11 * largest).all()
    steps = (1e-5, 1e-5, 3e-4, 3e-3)  # short beside the first ones after an event, and more than round-off
    held = np.hstack([gc.differences(run, RELAY, each, relative_step=by) for each, by in zip(wrt, steps, strict=True)])
    assert (np.abs(held - gradient.values) < 1e-6 * largest).all()


def test_a_mesh_chosen_anew_moves_a_difference_by_no_more_than_the_tolerance_of_the_run():
    run = gc.simulate(built("wscc9"), 1.0, "auto")
    end = gc.Terminal(lambda v: v["GEN2", "delta"])
    held, anew = (gc.differences(run, end, "GEN2.H", relative_step=0.02, mesh=mesh).item() for mesh in ("held", "anew"))
    assert 1e-6 < abs(anew / held - 1) < 0.05
    with pytest.raises(CaseError, match="mesh = 'new' must be 'held' or 'anew'"):
        gc.differences(run, end, "GEN2.H", mesh="new")


@pytest.mark.parametrize("method", ["theta", "trbdf2"])
def test_what_is_recomputed_is_the_same_to_the_last_bit(method):
    run = gc.simulate(built("wscc9"), 5.0, "auto", method)
    n, segments = built("wscc9").n, len(run.t) // POINTS
    assert segments >= 2
    kept = gc.simulate(built("wscc9"), 5.0, "auto", method, checkpoint=8 * n * (POINTS + 8 + 4))
    assert np.array_equal(kept.t, run.t)
    assert np.array_equal(kept.X, run.X)


@METHODS
def test_a_run_goes_on_from_its_end_also_one_of_a_file(method, tmp_path):
    first = gc.simulate(built("wscc9"), 0.5, "auto", method, rtol=1e-4, atol=1e-6)
    first.save(tmp_path / "run.nc")
    for begun in (first, gc.load_run(tmp_path / "run.nc")):
        run = gc.simulate(begun, 1.0)
        assert run.settings == {**first.settings, "t_end": 1.0}
        assert np.array_equal(run.X[:len(first.t)], first.X)
        true = precise("wscc9", 1.0).X[-1]
        assert (np.abs(run.X[-1] - true) < 1e-3 * (1 + np.abs(true))).all()
        assert run.counters["steps"] > first.counters["steps"]


def test_the_way_to_choose_steps_may_change_where_a_run_goes_on():
    run = gc.simulate(gc.simulate(built("wscc9"), 0.5, "auto", rtol=1e-4), 0.6, step=0.01)
    assert run.settings["step"] == [(0.0, 0.5), (0.5, 0.01)]
    np.testing.assert_allclose(run.t[-10:], 0.51 + 0.01 * np.arange(10))
    run = gc.simulate(gc.simulate(run, 0.65), 1.0, step="auto", rtol=1e-2)
    assert run.settings["rtol"] == 1e-2
    assert np.diff(run.t)[-3:].min() > 0.01


def test_a_run_on_a_mesh_goes_on_with_steps_chosen_anew():
    run = gc.simulate(built("wscc9"), 0.8, mesh=gc.simulate(built("wscc9"), 0.8, "auto", rtol=1e-4))
    on = gc.simulate(run, 1.0)
    assert np.array_equal(on.X[:len(run.t)], run.X)
    assert on.settings["rtol"] == 1e-4


def test_a_run_that_fails_has_what_was_before_and_goes_on():
    case = gc.build("wscc9")
    failed = []
    with pytest.raises(RuntimeError) as caught:
        gc.simulate(case, 1.0, "auto", progress=lambda t: failed.append(t) or (_ for _ in ()).throw(RuntimeError)
                    if t > 0.3 else None)
    run = caught.value.run
    assert run.t[-1] == failed[0]
    on = gc.simulate(run, 1.0)
    assert np.array_equal(on.X[:len(run.t)], run.X)


def test_progress_is_told_of_every_step_that_was_chosen():
    seen = []
    run = gc.simulate(built("wscc9"), 0.5, "auto", progress=seen.append)
    assert np.array_equal(seen, run.t[run.tape.mesh()])


@pytest.mark.parametrize("t_end", [0.5, 0.45])
def test_progress_on_a_mesh_is_told_once_at_each_of_its_points(t_end):
    seen = []
    run = gc.simulate(built("wscc9"), t_end, mesh=gc.simulate(built("wscc9"), 0.5, "auto"), progress=seen.append)
    assert np.array_equal(seen, run.t[run.tape.mesh()])
    assert (np.diff(seen) > 0).all()
    assert seen[-1] == t_end


@METHODS
def test_attempts_that_were_not_accurate_enough_are_counted_and_few(monkeypatch, method):
    """What was tried is what was accepted and what was not; a rejected length is shortened so that few are."""
    attempts = []
    stepper = {"theta": Theta, "trbdf2": TrBdf2, "bdf": Bdf}[method]
    advance = stepper.advance
    monkeypatch.setattr(stepper, "advance", lambda self, t, end: attempts.append(end - t) or advance(self, t, end))
    monkeypatch.setattr(stepper, "stretch", Stepper.stretch)  # step by step
    counters = gc.simulate(built("wscc9"), 1.0, "auto", method=method).counters
    assert 0 < counters["rejections"] == len(attempts) - counters["steps"]
    assert counters["rejections"] < counters["steps"] / 4


@METHODS
def test_a_rejected_step_is_shortened_by_what_its_error_says_and_by_a_fifth_at_most(monkeypatch, method):
    """Where errors are thousandfold, a method of order two would ask for a tenth, and at most a fifth is taken."""
    lengths = []
    stepper = {"theta": Theta, "trbdf2": TrBdf2, "bdf": Bdf}[method]
    advance, error = stepper.advance, stepper.local_error

    def tried(self, t, end):
        lengths.append(end - t)
        return advance(self, t, end)

    def much(self):
        found = error(self)
        return None if found is None else np.where(len(lengths) in (20, 21), 1e9, 1.0) * found

    monkeypatch.setattr(stepper, "advance", tried)
    monkeypatch.setattr(stepper, "local_error", much)
    gc.simulate(built("wscc9"), 1.0, "auto", method=method)
    assert np.divide(lengths[20:22], lengths[19:21]) == pytest.approx(0.2, rel=1e-6)


made = []  # instances of Told


class Told(Stepper):
    """A method of order `order` whose steps have the errors that it is told, as parts of what is tolerated; it has no
    solution where that is None.
    """

    name = "told"

    def __init__(self, step, errors=(), order=2):
        self.errors, self.order, self.lengths, self.switched = list(errors), order, [], []
        made.append(self)

    def restart(self, ws, t):
        self.ws = ws

    def switch(self, ws, t, jumped):
        self.switched.append(jumped)

    def advance(self, t, target):
        self.lengths.append(target - t)
        self.error = self.errors.pop(0) if self.errors else 1e-3
        if self.error is None:
            raise ConvergenceError("no solution")
        self.state_at(target)
        return Advance(target)

    def state_at(self, t):
        self.ws.Z[-1] = t

    def local_error(self):
        """A part of 0.3 of the tolerance, for one step, where rtol is 1e-3."""
        if self.error == "unknown":
            return None
        return 0.3 * self.error * (1e-3 * np.abs(self.ws.X) + 1e-5 * self.ws.scale)


def lengths(*errors, order=2, t_end=1e6, of=None, **tolerances):
    """Of the steps that are tried where errors are these."""
    with registered(Integrator("told", Told)):
        gc.simulate(of or system(Driven(id="D", x0=1.0)), t_end, "auto", "told", errors=errors, order=order,
                    **tolerances)
    return np.array(made[-1].lengths)


@pytest.mark.parametrize("factors", [(4.0, 0.0, 0.0), (1.0, 4.0, 0.0), (0.0, 0.0, -2.0), (-3.0, 5.0, 1.0),
                                     (1e6, 0.0, 0.0)])
@pytest.mark.parametrize("follows", [0.0, 3.0])
def test_with_the_first_step_the_rule_of_euler_would_make_half_the_error_that_is_tolerated(factors, follows):
    """``h^2 / 2 x''``, or with x' for x'' where that is larger, of ``x' = constant + bend t + rate x``; whatever
    algebraic variable follows it. And none moves by more than its size.
    """

    class Bends(Device):
        constant, bend, rate, follows = Param(""), Param(""), Param(""), Param("")
        x0 = Param("", 1.0)
        x = State("", start_at="x0")
        y = Algebraic("")

        def rates(s):
            return s.constant + s.bend * s.time + s.rate * s.x

        def residuals(s):
            return s.y - s.follows * s.x * s.x * s.time

    constant, bend, rate = factors
    slope = constant + rate
    curved = max(abs(bend + rate * slope), abs(slope))
    with registered(Bends):
        of = system(Bends(id="B", constant=constant, bend=bend, rate=rate, follows=follows))
    first = lengths(t_end=10.0, of=of)[0]
    half = np.sqrt(2 * 0.5 * 0.3 * (1e-3 + 1e-5) / curved)
    assert first == pytest.approx(min(half, (1.0 + 1.0) / abs(slope)), rel=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_lengths_of_steps_are_those_of_a_pi_controller(order):
    """Of gains 0.3 and 0.4: ``h+ = 0.9 h e^(-0.7 / (p + 1)) before^(0.4 / (p + 1))``; at first there is none before."""
    errors = np.array([0.1, 0.08, 0.1, 0.05, 0.05, 0.05])
    tried = lengths(*errors, order=order)
    grew = tried[1:7] / tried[:6]
    assert grew[0] == pytest.approx(0.9 * errors[0] ** (-1 / (order + 1)), rel=1e-9)
    expected = 0.9 * errors[1:] ** (-0.7 / (order + 1)) * errors[:-1] ** (0.4 / (order + 1))
    np.testing.assert_allclose(grew[1:], expected, rtol=1e-9)


def test_a_step_grows_fivefold_at_most_and_not_after_one_that_was_rejected():
    tried = lengths(1e-9, 1e-9, 8.0, 1e-9, 1e-9)
    grew = tried[1:6] / tried[:5]
    assert grew[:2] == pytest.approx([5.0, 5.0], rel=1e-9)
    assert grew[2:] == pytest.approx([0.9 * 8.0 ** (-1 / 3), 1.0, 5.0], rel=1e-9)


def test_a_step_of_which_nothing_is_known_is_taken_and_the_next_is_no_longer():
    tried = lengths("unknown", "unknown", 0.1, 0.1)
    assert tried[1:3] / tried[:2] == pytest.approx([0.9, 0.9], rel=1e-9)
    assert tried[3] / tried[2] == pytest.approx(0.9 * 0.1 ** (-0.7 / 3), rel=1e-9)


def test_what_is_left_is_made_in_two_halves_though_the_first_would_have_the_second_shorter():
    """It was shorter than it could have been; its error says nothing against as long a step again."""
    first = lengths(0.9)[0]
    np.testing.assert_allclose(lengths(0.9, 0.9, 0.9, 0.9, t_end=1.5 * first), [0.75 * first] * 2, rtol=1e-9)


def test_the_work_for_the_first_length_counts():
    """A derivative, and so a factorisation, of a method that makes none."""
    with registered(Integrator("told", Told)):
        counters = gc.simulate(system(Driven(id="D", x0=1.0)), 1e3, "auto", "told").counters
    assert counters["factorisations"] == 1
    assert counters["solves"] >= 1


def test_after_a_step_without_a_solution_none_is_longer_than_half_of_it():
    """Not that half at once: what has no solution may be far from one that has."""
    tried = lengths(1e-9, 1e-9, None, None, *[1e-9] * 5)
    assert tried[3:5] / tried[2:4] == pytest.approx([0.2, 0.2], rel=1e-9)
    np.testing.assert_allclose(tried[6:9], tried[3] / 2, rtol=1e-9)


@pytest.mark.parametrize("part", [0.99, 1.01])
@pytest.mark.parametrize(("rtol", "order", "share"), [
    (1e-3, 2, 0.3), (1e-5, 2, 0.03), (1e-5, 1, 0.003), (5e-3, 1, 1.0), (1e-1, 2, 1.0)])
def test_a_step_is_made_again_where_its_error_is_above_its_share_of_the_tolerance(rtol, order, share, part):
    """Of ``atol scale + rtol |x|``: 0.3 where rtol is 1e-3, else by the power 1 / p more or less, never above one."""
    class Sized(Device):
        x0 = Param("", 0.01)
        x = State("", start_at="x0", rate=lambda s: -s.x, scale=20.0)

    with registered(Sized):
        of = system(Sized(id="S"))
    errors = share / 0.3 * rtol / 1e-3 * np.array([part, *[0.1] * 100])
    tried = lengths(*errors, order=order, t_end=5.0, of=of, rtol=rtol, atol=rtol / 100)
    again = tried[0] if part > 1 else 0.0
    assert sum(tried) == pytest.approx(5.0 + again, rel=1e-9)
    assert tried[0] > 1e-4


def test_of_a_method_that_says_so_it_is_another_share():
    with registered(Integrator("careful", type("Careful", (Told,), {"share": 0.15}))):
        for part, more in ((0.99, False), (1.01, True)):
            gc.simulate(system(Driven(id="D", x0=1.0)), 1e6, "auto", "careful", errors=(part / 2,), order=2)
            tried = made[-1].lengths
            assert (sum(tried) > 1e6 * (1 + 1e-12)) == more


@pytest.mark.parametrize("rough", [True, False])
def test_a_state_that_is_only_near_its_target_is_solved_there_unless_its_error_is_too_large(rough):
    class Rough(Told):
        def advance(self, t, target):
            reached = super().advance(t, target)
            self.ws.X[:] += 0.25 * rough
            return Advance(reached.t, rough)

        def state_at(self, t):
            super().state_at(t)
            self.ws.X[:] = np.round(self.ws.X)
            solved.append(t)

    solved = []
    with registered(Integrator("told", Rough)):
        run = gc.simulate(system(Driven(id="D", x0=1.0)), 10.0, "auto", "told", errors=[0.1, 5.0, 0.1])
    assert (run["D", "x"] == 1.0).all()
    assert run.counters["rejections"] == 1
    assert len(solved) == len(made[-1].lengths) + rough * run.counters["steps"]


@pytest.mark.parametrize("says", [None, 1e9])
@pytest.mark.parametrize(("before", "speed"), [([], 1e30), ([0.5], 1.0)])
def test_no_attempt_is_shorter_than_the_first_that_is_as_short_as_a_step_may_be(before, speed, says):
    with pytest.raises(ConvergenceError):
        lengths(*before, *[says] * 100, of=system(Clockwork(id="C", speed=speed)))
    tried = np.array(made[-1].lengths)
    assert set(tried[tried <= SHORTEST]) == {tried.min()}
    assert tried.min() > 0.1 * SHORTEST


@pytest.mark.parametrize("method", ["theta", "trbdf2"])
def test_algebraic_variables_are_as_accurate_as_the_others(method):
    class Amplified(Device):
        gain, x0 = Param("", 1.0), Param("", 1.0)
        x = State("", start_at="x0")
        y = Algebraic("")

        def rates(s):
            return -s.x * s.x

        def residuals(s):
            return s.y - s.gain * s.x

    with registered(Amplified):
        plain, amplified = (gc.simulate(system(Amplified(id="A", gain=gain)), 2.0, "auto", method, rtol=1e-12,
                                        atol=1e-4) for gain in (1.0, 1e3))
    assert amplified.counters["steps"] / plain.counters["steps"] == pytest.approx(10, rel=0.3)


def test_a_step_that_would_have_to_be_too_short_is_an_error_with_variable_and_time():
    with pytest.raises(ConvergenceError, match=r"X\.x") as caught:
        gc.simulate(system(Explosion(id="X")), 2.0, "auto")
    assert caught.value.t == pytest.approx(1.0, abs=1e-2)


def test_chattering_is_told_as_on_a_grid():
    with pytest.raises(EventError, match=r"chattering: S\.falls \(\d+ times\), S\.climbs"):
        gc.simulate(system(Sliding(id="S"), Clockwork(id="C", threshold=0.05)), 1.0, "auto")


def test_a_method_of_ones_own_that_estimates_its_error_has_it_too():
    with registered(Integrator("euler", Euler)):
        coarse, fine = (gc.simulate(system(Driven(id="D")), 2.0, "auto", "euler", rtol=rtol, atol=rtol)
                        for rtol in (1e-3, 1e-3 / 4))
        assert coarse.tape.methods == [Method("euler", {})]
    assert fine.counters["steps"] / coarse.counters["steps"] == pytest.approx(4, rel=0.3)
    exact = gc.simulate(system(Driven(id="D")), 2.0, method="ida").X[-1, 0]
    assert abs(fine.X[-1, 0] - exact) < 1e-3 / 4


@pytest.mark.parametrize(("asked", "says"), [
    ({"method": "ida"}, "method 'ida' does not estimate the error of its steps; give a step in seconds, or another"),
    ({"rtol": 0.0}, "rtol = 0.0 must be a number greater than 0"),
    ({"rtol": -1e-3}, "rtol = -0.001 must be a number greater than 0"),
    ({"atol": math.inf}, "atol = inf must be a number greater than 0"),
    ({"atol": "x"}, "atol = 'x' must be a number greater than 0"),
    ({"tol": 1e-3}, "method 'theta' has no option 'tol'"),
])
def test_what_cannot_be_is_said(asked, says):
    with pytest.raises(CaseError, match=says):
        gc.simulate(system(Driven(id="D")), 1.0, "auto", **asked)


@pytest.mark.parametrize(("asked", "says"), [
    ({"step": 0.1}, "a run on the mesh of another has its steps and its t0: leave out step and t0"),
    ({"t_end": 1.5}, r"t_end = 1\.5 must not be after the end of the mesh, 1 s"),
])
def test_a_mesh_that_cannot_be_repeated_is_refused(asked, says):
    run = gc.simulate(system(Driven(id="D")), 1.0, "auto")
    with pytest.raises(CaseError, match=says):
        gc.simulate(run.system, **{"t_end": 1.0, "mesh": run, **asked})


def test_a_length_is_cut_off_only_by_a_target():
    # the length that was made is the difference of two times: of the proposed one but for round-off
    controlled = Controlled(Theta(0.1))
    controlled.restart(gc.build("wscc9").workspace(), 0.0)
    for made, factor in ((0.1, 0.9), (0.1 - 1e-16, 0.9), (0.1 * (1 - 1e-15), 0.9), (0.05, 1.0)):
        controlled.h, controlled._before = 0.1, math.nan
        controlled.propose(made, 1.0, rejected=False)
        assert controlled.h == pytest.approx(0.1 * factor, rel=1e-12)
