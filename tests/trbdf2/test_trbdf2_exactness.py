"""Gradients by TR-BDF2 and by BDF are the derivative of the program: its complex step, through every kind of event."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scenes
from industry_studies import INDUSTRY
from shared_data import shared
from studies import SAME, Study, compare

import gridcore as gc

HYBRID = ("hiskens_pai", "two_events_in_one_step", "swing_off_the_grid",
          "resets_that_read_states_parameters_and_time", "timers_at_one_instant", "limited_state_with_explicit_time",
          "own_cancellation_function", "event_at_t0_of_a_moving_state", "delay_ends_at_t_end",
          "timer_and_delay_at_one_instant")
NINE_BUSES = ("regulator_limits", "regulator_limits_direct_dispatch", "limited_state_without_time_constant",
              "undervoltage_load_shedding", "relay_trips_the_line_that_feeds_a_fault", "set_point_ramp_and_step")


METHODS = pytest.mark.parametrize("method", ["trbdf2", "bdf"])


def by(method: str, make: Callable[[], Study]) -> Study:
    study = make()
    study.method = method
    return study


@pytest.mark.parametrize(("method", "name"), [
    *((method, name) for method in ("trbdf2", "bdf") for name in (*HYBRID, *NINE_BUSES)),
    ("trbdf2", "two_bounces_in_one_step"), ("bdf", "bouncing_ball")])
def test_forward_and_adjoint_are_the_complex_step_of_the_program(method: str, name: str) -> None:
    compare(by(method, scenes.STUDIES[name]))


@pytest.mark.parametrize("name", [*HYBRID, *NINE_BUSES, "bouncing_ball"])
def test_so_they_are_where_a_history_begins_with_the_trapezoidal_rule(name: str) -> None:
    study = by("bdf", scenes.STUDIES[name])
    study.start = 2
    compare(study)


@pytest.mark.parametrize("name", [*HYBRID, "regulator_limits", "undervoltage_load_shedding"])
def test_so_they_are_where_the_order_changes(name: str) -> None:
    """Down and up, from times between points of the grid on, and with each event back to the highest."""
    study = by("bdf", scenes.STUDIES[name])
    study.start = 2
    study.changes = [(part * study.t_end, order) for part, order in (
        (0.1237, 3), (0.2371, 1), (0.3123, 4), (0.4711, 2), (0.5917, 5), (0.6713, 2), (0.8379, 4))]
    compare(study)


@METHODS
@pytest.mark.slow
def test_governors_at_their_limits(method: str) -> None:
    compare(by(method, scenes.STUDIES["governors_at_their_limits"]))


@METHODS
@pytest.mark.slow
def test_new_england_with_its_stabilizers(method: str) -> None:
    compare(by(method, INDUSTRY["new_england_as_it_is_with_stabilizers_and_relays"]))


def same(run: gc.Run, wrt: list[str], quantities: list[tuple[str, str]]) -> np.ndarray:
    """Adjoint and forward of the end are the same; returns them."""
    ends = [gc.Terminal(lambda v, q=q: v[q]) for q in quantities]
    adjoint = gc.adjoint(run, ends, wrt).values
    forward = gc.analyses.tsa(run, wrt, quantities).values
    largest = np.abs(forward).max(axis=(0, 1))
    assert (np.abs(adjoint - forward[-1]) <= 1e-16 + SAME * (np.abs(adjoint) + largest)).all()
    return adjoint


@pytest.mark.parametrize(("method", "rtol"), [("trbdf2", 1e-6), ("bdf", 3e-6)])
def test_npcc140(method: str, rtol: float) -> None:
    s = gc.build("npcc140")
    run = gc.simulate(s, 2.0, 0.01, method=method)
    assert run.events
    near = gc.simulate(s, 2.0, 0.01)
    assert [e.item for e in run.events] == [e.item for e in near.events]
    machines = [(id, "omega") for id in s.case.ids() if (id, "omega") in near.system.variables][:3]
    assert machines
    for q in machines:
        np.testing.assert_allclose(run[q], np.interp(run.t, near.t, near[q]), atol=1e-4)
    inertia = f"{machines[0][0]}.H"
    found = same(run, ["fault.clear", inertia], machines)
    exact = gc.differences(run, gc.Terminal(lambda v: v[machines[0]]), inertia).values
    np.testing.assert_allclose(found[:1, 1:], exact, rtol=rtol, atol=1e-4 * rtol)


@METHODS
@pytest.mark.slow
def test_activsg2000(method: str) -> None:
    case = gc.load_case(shared("activsg2000/ACTIVSg2000.RAW"), shared("activsg2000/ACTIVSg2000_dynamics.dyr"),
                        loads="I/Z")
    case.add_event(gc.BusFault(id="fault", bus=7095, t=0.1, clear=0.16))
    s = gc.build(case)
    run = gc.simulate(s, 0.4, 0.01, method=method)
    assert run.t[-1] == 0.4
    bus = ("BUS7095", "Vm")
    assert run[bus].min() < 0.02
    assert run[bus][-1] > 0.8
    assert np.isfinite(same(run, ["fault.clear"], [bus])).all()
