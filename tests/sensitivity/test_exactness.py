"""Gradients are the derivative of the program: forward and adjoint against its complex step, through every event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from devices_for_tests import SMALL, registered
from scenes import DEVICES, NINE, STUDIES, case_of, nine_bus, record
from studies import compare

import gridcore as gc


@pytest.fixture(autouse=True)
def _devices() -> Iterator[None]:
    with registered(*SMALL, *DEVICES):
        yield


@pytest.mark.parametrize("name", STUDIES)
def test_forward_and_adjoint_are_the_complex_step_of_the_program(name: str) -> None:
    compare(STUDIES[name]())


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
@pytest.mark.parametrize("name", [
    "hiskens_pai", "two_events_in_one_step", "swing_off_the_grid", "bouncing_ball", "own_cancellation_function",
    "resets_that_read_states_parameters_and_time", "timer_and_delay_at_one_instant", "limited_state_with_explicit_time",
    "regulator_limits"])
def test_the_same_on_a_mesh_that_was_chosen_by_its_error(name: str, method: str) -> None:
    study = STUDIES[name]()
    study.step, study.method = "auto", method
    compare(study)


def test_a_guard_that_round_off_puts_on_a_point_of_the_grid_still_moves_with_its_threshold() -> None:
    """0.1 is no binary number: whether a guard is zero before, at or after a point of the grid is up to round-off.

    ``x(1) = threshold + speed/3 (1 - threshold/speed)``, and the method is exact for it.
    """
    numbers = range(1, 10)
    case = case_of(*(record("Kink", id=f"k{n}", threshold=n / 10) for n in numbers))
    run = gc.simulate(gc.build(case), 1.0, 0.1)
    assert len(run.events) == len(numbers)
    ends = [gc.Terminal(lambda v, n=n: v[f"k{n}", "x"]) for n in numbers]
    wrt = [f"k{n}.{name}" for name in ("threshold", "speed") for n in numbers]
    expected = np.hstack([np.eye(len(numbers)) * 2 / 3, np.eye(len(numbers)) / 3])
    np.testing.assert_allclose(gc.adjoint(run, ends, wrt), expected, rtol=0, atol=1e-13)
    forward = gc.analyses.tsa(run, wrt, [(f"k{n}", "x") for n in numbers])
    np.testing.assert_allclose(forward[-1], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("limit", ["Qmax", "Qmin"])
def test_a_source_at_its_reactive_limit_is_one_that_injects_it(limit: str) -> None:
    """The power flow makes its bus PQ: its limit does what Q0 does of a source with control = "PQ", and V0 nothing."""
    at = 0.0 if limit == "Qmax" else 0.2
    wrt, gradients = ["GEN2.P0", "GEN1.V0", "LOAD5.Q0", "TRANSFORMER2-7.x"], []
    for own, fields, options in (
            (f"GEN2.{limit}", {f"GEN2__{limit}": at, "GEN2__V0": 1.025}, {"enforce_q_limits": True}),
            ("GEN2.Q0", {"GEN2__control": "PQ", "GEN2__Q0": at}, {})):
        case = nine_bus(**fields)
        case.add(gc.BusFault(id="fault", bus=7, t=0.1, clear=0.15))
        run = gc.simulate(gc.build(case, **options), 0.3, 0.01)
        ends = [gc.Terminal(lambda v, q=q: v[q]) for q in NINE]
        gradients.append(gc.adjoint(run, ends, [own, *wrt]).values)
        forward = gc.analyses.tsa(run, [own, *wrt], NINE).values[-1]
        np.testing.assert_allclose(forward, gradients[-1], rtol=1e-11, atol=1e-12)
        if options:
            assert not gc.adjoint(run, ends, "GEN2.V0").values.any()
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-9, atol=1e-10)
    assert np.abs(gradients[0][:, 0]).min() > 1e-3


def test_through_an_island_that_goes_dead() -> None:
    """Load 5 loses both its lines: against extrapolated differences of the whole program."""
    case = nine_bus()
    case.add(gc.BranchTrip(id="a", branch="LINE4-5", t=0.1013))
    case.add(gc.BranchTrip(id="b", branch="LINE5-7", t=0.1513))
    wrt, seen = ["a.t", "b.t", "LOAD5.P0", "GEN2.H"], [("GEN2", "omega"), ("BUS7", "Vm"), ("GEN3", "delta")]

    def run(changed: gc.Case) -> Any:
        return gc.simulate(gc.build(changed, deenergise=True), 0.3, 0.01)

    def difference(name: str) -> np.ndarray:
        device, _, field = name.rpartition(".")
        ends, h = [], 1e-3 * case[device].fields[field]
        for part in (-1.0, -0.5, 0.5, 1.0):
            changed = case.copy()
            changed.set(name, case[device].fields[field] + part * h)
            end = run(changed)
            ends.append(np.array([end[q][-1] for q in seen]))
        return (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (6 * h)

    found = gc.adjoint(run(case), [gc.Terminal(lambda v, q=q: v[q]) for q in seen], wrt).values
    assert run(case)["BUS5", "Vm"][-1] < 1e-12
    np.testing.assert_allclose(found, np.stack([difference(name) for name in wrt], axis=1), rtol=1e-7, atol=1e-9)


def test_a_run_that_begins_later_begins_where_the_equations_are_solved() -> None:
    """``x = sin(t)``, and ``dx/dt = -1.5 x + 0.5 sin(t)`` by way of an algebraic variable."""
    case = case_of(record("Sine", id="s"), record("LinearDAE", id="d"))
    run = gc.simulate(gc.build(case), 2.0, 0.01, t0=1.0)
    np.testing.assert_allclose(run["s", "x"][1:], np.sin(run.t[1:]), rtol=1e-13)  # the first point is before that
    np.testing.assert_allclose((run["d", "x"] + 2 * run["d", "y"])[1:], np.sin(run.t[1:]), rtol=0, atol=1e-14)
    slope = gc.adjoint(run, gc.Terminal(lambda v: v["d", "x"]), ["d.x0", "s.amplitude"]).values[0]
    np.testing.assert_allclose(slope, [((1 - 0.0075) / (1 + 0.0075)) ** 100, 0.0], rtol=1e-12)
