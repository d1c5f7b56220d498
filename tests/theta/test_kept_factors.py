"""On large systems factors serve steps of other lengths and after events; small ones are made to do so here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Algebraic, Device, Mode, Param, State, guard
from gridcore.errors import ConvergenceError
from gridcore.integrate import Stepper
from gridcore.linear import newton
from gridcore.linear.mixing import Mixing
from gridcore_stretch import on_bent_path
from gridcore_theta import Theta, stepper
from gridcore_theta.predictor import Predictor

STUDIES = {"wscc9": 2.0, "ieee39": 2.0, "hiskens_pai": 0.2, "kundur": 2.0}


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(newton, "MIXED", -np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", STUDIES)
def test_events_and_states_are_the_same_to_round_off(name: str, kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    system = gc.build(name)
    run = gc.simulate(system, STUDIES[name], 0.001 if name == "hiskens_pai" else 0.01)
    monkeypatch.undo()
    usual = gc.simulate(system, STUDIES[name], 0.001 if name == "hiskens_pai" else 0.01)
    assert [str(event) for event in run.events] == [str(event) for event in usual.events]
    np.testing.assert_allclose(run.t, usual.t, rtol=0, atol=1e-10)
    assert np.max(np.abs(run.X - usual.X) / (1 + np.abs(usual.X))) < 1e-9


class Waves(Device):
    """What moves with time, in differential and algebraic equations, through guards that count."""

    x0, level = Param("", 0.1), Param("", 0.25)
    x = State("", start_at="x0")
    y = Algebraic("", equals=lambda s: s.x + 0.2 * np.sin(5.0 * s.time) - 0.1 * s.y**3)
    early, late = Mode(1), Mode(0)

    def rates(s):
        return np.cos(3.0 * s.time) * s.early - 0.1 * s.late * s.y

    @guard("up", then={"late": lambda s: s.late + 1})
    def rises(s):
        return s.y - s.level

    @guard("down", then={"early": lambda s: -s.early})
    def falls(s):
        return s.x + s.y - 2.0 * s.level


def test_so_they_are_of_equations_that_time_stands_in(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with gc.registered(Waves):
        case = gc.Case("waves")
        case.add(Waves(id="W"))
        system = gc.build(case)
    run = gc.simulate(system, 4.0, 0.05, t0=-1.0)
    assert {event.item for event in run.events} == {"rises", "falls"}
    monkeypatch.undo()
    usual = gc.simulate(system, 4.0, 0.05, t0=-1.0)
    assert [event.item for event in run.events] == [event.item for event in usual.events]
    np.testing.assert_allclose(run.t, usual.t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.X, usual.X, rtol=0, atol=1e-11)
    for mode in ("early", "late"):
        assert np.array_equal(run["W", mode], usual["W", mode])


def test_adjoint_and_forward_sensitivities_are_the_same(kept: None) -> None:
    run = gc.simulate("wscc9", 1.0, 0.01)
    at, wrt = ("GEN2", "omega"), ["fault.clear", "GEN2.H", "EXC2.KA", "LOAD5.P0"]
    adjoint = gc.adjoint(run, gc.Terminal(lambda v: v[at]), wrt).values[0]
    forward = gc.analyses.tsa(run, wrt, [at]).isel(point=-1).values.ravel()
    np.testing.assert_allclose(adjoint, forward, rtol=1e-11, atol=1e-13)


def test_events_need_fewer_factorisations(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    system = gc.build("npcc140")
    counters = gc.simulate(system, 2.0, 0.01).counters
    monkeypatch.setattr(newton, "MIXED", np.inf)
    monkeypatch.setattr(Theta, "end_at_zero", Stepper.end_at_zero)
    usual = gc.simulate(system, 2.0, 0.01).counters
    assert counters["locations"] == usual["locations"] > 20
    assert counters["factorisations"] < 0.75 * usual["factorisations"]
    assert counters["newton_iterations"] < usual["newton_iterations"]
    assert counters["guard_evaluations"] < 0.75 * usual["guard_evaluations"]


@pytest.mark.usefixtures("short_segments")
def test_what_is_recomputed_from_checkpoints_is_the_same_to_the_last_bit(kept: None) -> None:
    system = gc.build("ieee39")
    whole = gc.simulate(system, 2.0, 0.01)
    again = gc.simulate(system, 2.0, 0.01, checkpoint=400_000)
    np.testing.assert_array_equal(again.X, whole.X)


def test_a_step_that_ends_at_a_guard_is_not_solved_to_where_it_would_have_ended(
        kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    system = gc.build("npcc140")
    run = gc.simulate(system, 2.0, 0.01)
    monkeypatch.setattr(newton.Newton, "approach", lambda self, coefficient, enough: False)
    whole = gc.simulate(system, 2.0, 0.01)
    assert [str(event) for event in run.events] == [str(event) for event in whole.events]
    np.testing.assert_allclose(run.t, whole.t, rtol=0, atol=1e-10)
    assert np.max(np.abs(run.X - whole.X) / (1 + np.abs(whole.X))) < 1e-9
    assert run.counters["locations"] == whole.counters["locations"] > 20
    assert run.counters["newton_iterations"] < whole.counters["newton_iterations"] - run.counters["locations"]


def test_where_steps_are_chosen_by_their_error_it_is_that_of_the_whole_step(
        kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    system, asked = gc.build("ieee39"), {"rtol": 1e-3}
    run = gc.simulate(system, 2.0, "auto", **asked)
    monkeypatch.setattr(newton.Newton, "approach", lambda self, coefficient, enough: False)
    whole = gc.simulate(system, 2.0, "auto", **asked)
    assert [(e.device, e.item) for e in run.events] == [(e.device, e.item) for e in whole.events]
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in whole.events], rtol=0, atol=1e-5)
    assert run.counters["steps"] == pytest.approx(whole.counters["steps"], rel=0.05)


def test_where_a_step_has_no_solution_behind_a_guard_the_guard_is_found_before_it(
        kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end is only approached, its guard not located, and then it cannot be solved: a shorter one can."""
    system = gc.build("ieee39")
    usual, state_at, asked = gc.simulate(system, 2.0, 0.01), Theta.state_at, []

    def nowhere(self: Theta, t: float) -> None:
        if not asked:
            asked.append(t)
            raise ConvergenceError("no solution")
        state_at(self, t)

    monkeypatch.setattr(Theta, "state_at", nowhere)
    monkeypatch.setattr(Theta, "end_at_zero", lambda *_: None)
    run = gc.simulate(system, 2.0, 0.01)
    assert asked
    assert [str(event) for event in run.events] == [str(event) for event in usual.events]
    np.testing.assert_allclose(run.t, usual.t, rtol=0, atol=1e-10)


@pytest.mark.parametrize("mixed", [True, False])
def test_where_old_factors_converge_slowly_a_guard_is_located_with_new_ones(
        kept: None, monkeypatch: pytest.MonkeyPatch, mixed: bool) -> None:
    """Corrections that are not mixed do, and are not taken for round-off."""
    solve_with_time, made = newton.Newton.solve_with_time, []

    def told(self: newton.Newton, *of: object) -> float | None:
        before = self.counters()["factorisations"]
        found = solve_with_time(self, *of)  # type: ignore[arg-type]
        made.append((found, self.counters()["factorisations"] - before))
        return found

    monkeypatch.setattr(newton.Newton, "solve_with_time", told)
    if not mixed:
        monkeypatch.setattr(Mixing, "mix", lambda self, correction: None)
    run = gc.simulate("npcc140", 2.0, 0.01)
    assert len(made) >= run.counters["locations"] > 20
    assert all(found is not None for found, _ in made)
    assert max(factorisations for _, factorisations in made) <= 2
    assert mixed or sum(factorisations > 0 for _, factorisations in made) > len(made) / 2


def test_a_better_guess_of_a_crossing_is_made_where_factors_are_kept_and_takes_fewer_iterations(
        monkeypatch: pytest.MonkeyPatch) -> None:
    took, bend = [], Predictor.bend
    for mixed, guess in ((np.inf, on_bent_path), (-np.inf, on_bent_path), (-np.inf, lambda ws, t, guard, bend: t)):
        bent = 0

        def counted(self: Predictor, *of: float) -> None:
            nonlocal bent
            bent += 1
            bend(self, *of)

        monkeypatch.setattr(newton, "MIXED", mixed)
        monkeypatch.setattr(stepper, "on_bent_path", guess)
        monkeypatch.setattr(Predictor, "bend", counted)
        counters = gc.simulate("npcc140", 2.0, 0.01).counters
        took.append((counters["location_iterations"], bent / counters["locations"]))
    (_, small), (large, twice), (without, never) = took
    assert (small, twice, never) == (1, 2, 0)
    assert without - large > 0.03 * without  # 0.18 of them compiled, 0.07 interpreted


def test_where_the_guess_of_a_crossing_is_no_good_it_is_found_by_halving(
        kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guess may be where the equations are singular."""
    with gc.registered(Waves):
        case = gc.Case("waves")
        case.add(Waves(id="W"))
        system = gc.build(case)
    usual, asked = gc.simulate(system, 4.0, 0.05, t0=-1.0), []

    def singular(self: newton.Newton, t: float, *_: object) -> None:
        asked.append(t)
        raise ConvergenceError("the equations are singular")

    monkeypatch.setattr(newton.Newton, "solve_with_time", singular)
    run = gc.simulate(system, 4.0, 0.05, t0=-1.0)
    assert len(asked) >= len(run.events) > 0
    assert [event.item for event in run.events] == [event.item for event in usual.events]
    np.testing.assert_allclose(run.t, usual.t, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.X, usual.X, rtol=0, atol=1e-9)


def test_an_advance_whose_end_does_not_solve_its_equations_says_so(kept: None, monkeypatch: pytest.MonkeyPatch) -> None:
    advance, left = Theta.advance, {False: [0.0], True: [0.0]}

    def noted(self: Theta, t: float, target: float) -> object:
        reached = advance(self, t, target)
        assert self.ws is not None
        self.ws.residual()
        left[reached.rough].append(float(np.abs(self.ws.R).max()))
        return reached

    monkeypatch.setattr(Theta, "advance", noted)
    with gc.registered(Waves):
        case = gc.Case("waves")
        case.add(Waves(id="W"))
        gc.simulate(gc.build(case), 4.0, 0.05, t0=-1.0)
    assert max(left[False]) < 1e-11 < 1e-9 < max(left[True])
