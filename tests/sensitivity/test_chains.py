"""Which instants are told as one-sided: in order, with the grid where it is one, and not where each moves the next."""

from __future__ import annotations

import warnings

import pytest
from scenes import nine_bus, record

import gridcore as gc
from gridcore.sensitivity import CoincidenceWarning

END = [gc.Terminal(lambda v: v["GEN2", "omega"])]


def told(case: gc.Case, wrt: list[str], step: float, t_end: float = 0.3) -> list[str]:
    run = gc.simulate(gc.build(case), t_end, step)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gc.adjoint(run, END, wrt)
    return [str(warning.message).partition(";")[0] for warning in caught if warning.category is CoincidenceWarning]


def disturbed(t: float, trip: float, clear: float = 0.25) -> gc.Case:
    case = nine_bus()
    case.add(gc.BusFault(id="fault", bus=7, t=t, clear=clear))
    case.add(gc.BranchTrip(id="trip", branch="LINE5-7", t=trip))
    return case


def test_a_chain_in_which_each_moves_the_next_is_passed_over_and_later_ones_are_told() -> None:
    """A relay without delay acts at the fault, and the line opens with the clearing."""
    case = disturbed(0.1, 0.183, 0.183)
    case.add(record("UnderVoltageLoadShedding", id="R", load="LOAD5", threshold=0.8, delay=0.0, shed=0.3))
    assert told(case, ["fault.t", "trip.t"], 0.0131) == ["at 0.183 s: fault.clear, then trip.t"]


def test_an_event_at_t0_is_told_with_the_point_of_the_grid_that_a_run_begins_with() -> None:
    assert told(disturbed(0.0, 0.1131), ["fault.t"], 0.0131) == ["at 0 s: a point of the grid, then fault.t"]


def test_events_of_the_first_step_have_no_point_of_the_grid() -> None:
    assert told(disturbed(0.004, 0.004), ["fault.t", "trip.t"], 0.0131) == ["at 0.004 s: fault.t, then trip.t"]


@pytest.mark.parametrize("at", [0.0, 0.004])
def test_of_two_instants_that_follow_each_other_each_is_told_by_itself(at: float) -> None:
    case = disturbed(at, at + 0.0131)
    case.add(gc.BranchTrip(id="also", branch="LINE4-6", t=at + 0.0131))
    found = told(case, ["trip.t"], 0.0131)
    assert [line.partition(":")[0] for line in found][-1] == f"at {at + 0.0131:.9g} s"
