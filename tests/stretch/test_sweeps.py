"""Tangents and adjoints that are taken over many steps at once are those that are taken over each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.equations.native import Native, runtime
from gridcore.results import Run
from gridcore.sensitivity import Replay, ReverseSweep
from gridcore.tape import Arm
from gridcore_bdf.stepper import Bdf
from gridcore_klu import solver
from gridcore_stretch import Sums, Sweeps
from gridcore_stretch.sweeps import MANY
from gridcore_theta.stepper import Theta
from gridcore_tsa.sweep import ForwardSweep

pytestmark = pytest.mark.skipif(not isinstance(runtime(), Native), reason="no C compiler")

METHODS = {
    "theta": {"step": 0.01}, "euler": {"step": 0.01, "theta": 1.0}, "theta, auto": {"step": "auto", "rtol": 1e-4},
    "bdf": {"step": 0.01, "method": "bdf"}, "bdf, auto": {"step": "auto", "method": "bdf", "rtol": 1e-4},
    "bdf from euler": {"step": 0.01, "method": "bdf", "start": 1, "order": 3},
    "bdf, orders": {"step": 0.01, "method": "bdf", "order": [(0.0, 5), (0.5, 2), (1.5, 4), (2.0, 1), (2.2, 5)]},
    "trbdf2": {"step": 0.01, "method": "trbdf2"}, "trbdf2, auto": {"step": "auto", "method": "trbdf2", "rtol": 1e-4}}
T_END = 3.0


def objectives(run: Run) -> list[gc.Objective]:
    """Of a state, of an algebraic variable and of a parameter, at the end and on the way."""
    machine = next(device for device, name in run.system.variables if name == "omega")
    bus = next(device for device, name in run.system.variables if name in ("Vm", "Vr"))
    voltage = next(name for device, name in run.system.variables if device == bus)
    return [gc.Integral(lambda v: v[machine, "H"] * (v[machine, "omega"] - 1) ** 2, name="swing"),
            gc.Terminal(lambda v: v[bus, voltage], name="end"),
            gc.Sampled(run.t[-1] * np.array([0.1, 0.411, 0.83]), lambda v: v[machine, "omega"], 1.0, name="samples")]


def parameters(run: Run, count: int) -> list[str]:
    """So many, of machines."""
    layout = run.system.layout
    return [f"{each.id}.H" for each in layout.instances if "H" in each.device.declares.params][:count]


def gradients(run: Run, count: int = 3) -> dict[str, np.ndarray]:
    of, wrt = objectives(run), parameters(run, count)
    quantities = [each for each in run.system.variables if each[1] in ("omega", "delta")][:4]
    return {"adjoint": gc.adjoint(run, of, wrt).values, "forward": gc.analyses.forward_gradient(run, of, wrt).values,
            "tsa": gc.analyses.tsa(run, wrt, quantities).values}


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Over how many steps a sweep comes at once, and one by one."""
    count = {"at once": 0, "alone": 0}

    def counted(cls: type, name: str, key: str, of: Callable[[Any], int]) -> None:
        method = getattr(cls, name)

        def wrapped(*args: Any) -> Any:
            result = method(*args)
            count[key] += of(result)
            return result

        monkeypatch.setattr(cls, name, wrapped)

    counted(ReverseSweep, "steps", "at once", lambda made: made or 0)
    counted(ForwardSweep, "steps", "at once", lambda made: made or 0)
    counted(Replay, "step", "alone", lambda _: 1)
    return count


def each_by_itself(run: Run, count: int = 3) -> dict[str, np.ndarray]:
    with pytest.MonkeyPatch.context() as patch:
        for sweep in (ReverseSweep, ForwardSweep):
            patch.setattr(sweep, "steps", lambda *of: 0)
        return gradients(run, count)


def assert_alike(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], within: float = 2e-11) -> None:
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=within * np.abs(values).max(), err_msg=name)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", ["wscc9", "ieee39"])
def test_gradients_over_many_steps_at_once_are_those_over_each(case: str, method: str, taken: dict[str, int]) -> None:
    run = gc.simulate(gc.build(case), T_END, **METHODS[method])
    found = gradients(run)
    assert taken["alone"] < taken["at once"] / 2 > len(run.t) / 2
    assert_alike(found, each_by_itself(run))


def test_the_adjoint_is_the_transpose_of_the_tangent_with_the_factors_of_both(taken: dict[str, int]) -> None:
    run = gc.simulate(gc.build("ieee39"), T_END, step="auto", method="bdf")
    found = gradients(run)
    assert taken["at once"]
    np.testing.assert_allclose(found["adjoint"], found["forward"], rtol=0, atol=2e-12 * np.abs(found["forward"]).max())


@pytest.mark.parametrize("method", ["theta", "trbdf2"])
@pytest.mark.parametrize("case", ["wscc9", "ieee39"])
def test_a_run_that_is_computed_again_has_the_gradient_of_one_in_memory_to_the_bit(
        case: str, method: str, taken: dict[str, int], short_segments: None) -> None:
    system = gc.build(case)
    held, again = (gc.simulate(system, T_END, **METHODS[method], **how) for how in ({}, {"checkpoint": 2_000_000}))
    expected, found = gradients(held), gradients(again)
    assert taken["at once"]
    for name, values in expected.items():
        assert np.array_equal(found[name], values), name


@pytest.mark.parametrize("method", ["theta", "bdf", "trbdf2"])
def test_pivots_that_are_not_good_enough_are_searched_anew_and_the_gradient_is_the_same(
        method: str, taken: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    run = gc.simulate(gc.build("wscc9"), T_END, **METHODS[method])
    expected, ended = each_by_itself(run), []
    taken["alone"] = 0

    def counted(take: Callable[..., Any], made_of: Callable[[Any], int]) -> Callable[..., Any]:
        def wrapped(sweeps: Sweeps, sweep: Any, steps: Any, sums: Sums) -> Any:
            made = take(sweeps, sweep, steps, sums)
            if made_of(made) < len(sums.implicit) // (1 + bool(sums.stages)):
                ended.append(made_of(made))
            return made

        return wrapped

    monkeypatch.setattr(Sweeps, "transpose", counted(Sweeps.transpose, int))
    monkeypatch.setattr(Sweeps, "forward", counted(Sweeps.forward, len))
    monkeypatch.setattr(solver, "PIVOT_GROWTH", 0.95)
    assert_alike(gradients(run), expected)
    assert len(ended) > 10
    assert max(ended) > 1
    assert taken["at once"] > taken["alone"]


@pytest.mark.parametrize("count", [MANY - 1, MANY])
def test_many_rows_are_solved_for_together_step_by_step(count: int, taken: dict[str, int]) -> None:
    run = gc.simulate(gc.build("npcc140"), 0.5, 0.01)
    wrt = parameters(run, count)
    assert len(wrt) == count
    found = gc.analyses.forward_gradient(run, objectives(run), wrt).values
    assert (taken["at once"] > 0) == (count < MANY)
    expected = gc.adjoint(run, objectives(run), wrt).values
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-11 * np.abs(expected).max())


@pytest.mark.parametrize("method", ["theta", "bdf"])
def test_a_sweep_a_rule_and_a_replay_of_ones_own_are_asked_at_each_step(method: str, taken: dict[str, int]) -> None:
    run = gc.simulate(gc.build("wscc9"), 1.0, **METHODS[method])
    steps = len(run.tape.records.steps().k)
    expected = gc.adjoint(run, objectives(run), parameters(run, 2)).values
    assert taken.pop("at once") > steps / 2

    class Mine(ReverseSweep):
        def __init__(self, replay: Replay, run: Run, objectives: Any, weights: Any, rule: Any):
            super().__init__(replay, weights, rule)

        def step(self, record: Any) -> None:
            seen.append(record.k)
            super().step(record)

    class Rule(gc.sensitivity.Discrete):
        def step_transpose(self, operator: Any, aX: Any, aP: Any, aT1: Any) -> Any:
            seen.append(operator.record.k)
            return super().step_transpose(operator, aX, aP, aT1)

    taken["at once"] = 0
    seen: list[int] = []
    with gc.registered(gc.registry.Adjoint("mine", Mine)), gc.registered(gc.registry.JumpRule("own", Rule())):
        for how in ({"method": "mine"}, {"jumps": "own"}):
            seen.clear()
            found = gc.adjoint(run, objectives(run), parameters(run, 2), **how).values
            assert len(seen) == steps
            np.testing.assert_allclose(found, expected, rtol=0, atol=2e-11 * np.abs(expected).max())
    assert taken["at once"] == 0


def assert_rows_alike(found: np.ndarray, expected: np.ndarray, within: float = 2e-11) -> None:
    size = np.abs(expected).max(axis=1, keepdims=True)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=within)


@pytest.mark.parametrize("start", [1, 2])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_steps_whose_formulas_move_with_the_time_of_an_event_are_taken_at_once_too(
        order: int, start: int, taken: dict[str, int]) -> None:
    """All but the first after an event, and the one that ends at it."""
    run = gc.simulate(gc.build("ieee39"), 2.0, step="auto", method="bdf", order=order, start=min(order, start))
    of, wrt = objectives(run), ["fault.t", "fault.clear", *parameters(run, 3)]
    found = gc.adjoint(run, of, wrt).values
    beside = len(run.tape.records.moved().k)
    assert beside <= taken["alone"] <= beside + 2
    forward = gc.analyses.forward_gradient(run, of, wrt).values
    with pytest.MonkeyPatch.context() as patch:
        for sweep in (ReverseSweep, ForwardSweep):
            patch.setattr(sweep, "steps", lambda *of: 0)
        assert_rows_alike(found, gc.adjoint(run, of, wrt).values)
        assert_rows_alike(forward, gc.analyses.forward_gradient(run, of, wrt).values)
    assert_rows_alike(found, forward)


def test_steps_behind_a_trigger_whose_action_is_put_off_are_taken_at_once_where_they_do_not_read_it(
        taken: dict[str, int]) -> None:
    """It is a point that moves in the middle of a history."""
    run = gc.simulate(gc.build("wscc9_recovery_loads"), 40.0, step="auto", method="bdf")
    assert any(isinstance(record, Arm) for record in run.tape.records.others)
    of, wrt = objectives(run), ["RELAY14.delay", "up.t1", *parameters(run, 3)]
    found = gc.adjoint(run, of, wrt).values
    assert taken["at once"] > 5 * taken["alone"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReverseSweep, "steps", lambda *of: 0)
        assert_rows_alike(found, gc.adjoint(run, of, wrt).values)


@pytest.mark.parametrize("cls", [Theta, Bdf])
def test_a_run_of_two_methods_is_taken_back_by_both(cls: type) -> None:
    """Points that steps of the one have read are not those of the other."""
    other = {Theta: "bdf", Bdf: "theta"}[cls]
    first = gc.simulate(gc.build("wscc9"), 0.6, 0.01, method=cls.name)
    run = gc.simulate(first, T_END, 0.01, method=other)
    assert {method.name for method in run.tape.methods} == {cls.name, other}
    assert_alike(gradients(run), each_by_itself(run))
