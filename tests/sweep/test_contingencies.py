"""Contingency lists, and what a contingency does to a run."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.case import validate
from gridcore_sweep.contingencies import contingencies
from gridcore_sweep.scenarios import without_events
from gridcore_sweep.study import study
from gridcore_sweep.worker import system_of, work

CASE = gc.load_case("wscc9")
VALID = validate(CASE)
BARE = without_events(CASE, VALID)


def names(**asked):
    return [s.name for s in contingencies(VALID, **asked)]


def test_all_is_every_bus_and_every_branch_at_both_ends():
    assert names(faults="all") == [f"fault BUS{k}" for k in range(1, 10)]
    assert names(trips="all") == [f"TRANSFORMER{p} opens" for p in ("1-4", "2-7", "3-9")] + [
        f"LINE{p} opens" for p in ("4-5", "4-6", "5-7", "6-9", "7-8", "8-9")]
    both = names(line_faults="all")
    assert len(both) == 18
    assert {"fault BUS7, LINE5-7 opens", "fault BUS5, LINE5-7 opens"} <= set(both)


def test_patterns_numbers_and_other_devices_choose():
    assert names(faults=[7, "8", "BUS[12]"]) == ["fault BUS7", "fault BUS8", "fault BUS1", "fault BUS2"]
    assert names(line_faults="LINE7-*") == ["fault BUS7, LINE7-8 opens", "fault BUS8, LINE7-8 opens"]
    assert names(trips=["LINE4-*", "GEN2", "LOAD5"]) == [
        "LINE4-5 opens", "LINE4-6 opens", "GEN2 trips", "LOAD5 trips"]


def test_what_is_out_of_service_is_no_contingency():
    case = CASE.copy()
    case["LINE4-5"].fields["status"] = 0
    found = [s.name for s in contingencies(validate(case), trips="all")]
    assert "LINE4-5 opens" not in found
    assert len(found) == 8


@pytest.mark.parametrize(("asked", "said"), [
    ({"faults": "BUS77"}, "no bus matches 'BUS77'; did you mean BUS7"),
    ({"faults": "GEN1"}, "no bus matches 'GEN1'"),
    ({"line_faults": "LINE7-88"}, "no branch matches 'LINE7-88'; did you mean LINE7-8"),
    ({"line_faults": "GEN1"}, "no branch matches"),
    ({"trips": "BUS1"}, "no device matches 'BUS1'"),
    ({"trips": "fault"}, "no device matches 'fault'"),
    ({"faults": "all", "at": -1.0}, "at = -1.0 must be a number of seconds from 0"),
    ({"faults": "all", "clear": 0.0}, "clear = 0.0 must be a number of seconds above 0"),
    ({"faults": "all", "clear": "soon"}, "clear = 'soon' must be a number of seconds above 0, or 'critical'"),
    ({"faults": "all", "at": "1 kV"}, "at = '1 kV' must be a number of seconds from 0"),
    ({"faults": "all", "within": 2.0}, "within = 2 s must be less than longest = 1 s"),
    ({"trips": "all", "at": 2.0, "t_end": 2.0}, "at = 2 s must be before a run ends, t_end = 2 s"),
    ({"faults": "all", "at": 1.5, "clear": 0.5, "t_end": 2.0}, "at + clear = 2 s must be before a run ends"),
    ({"line_faults": "all", "at": 1.5, "clear": "critical", "t_end": 2.0},
     "at + longest = 2.5 s must be before a run ends, t_end = 2 s")])
def test_what_is_not_there_or_no_time_is_refused(asked, said):
    with pytest.raises(gc.errors.CaseError) as error:
        contingencies(VALID, **asked)
    assert said in str(error.value)


def test_a_device_that_trips_needs_no_time_to_be_cleared():
    assert contingencies(VALID, trips="GEN1", at=1.95, t_end=2.0) == contingencies(VALID, trips="GEN1", at=1.95)


def test_times_may_have_units():
    plain = contingencies(VALID, faults="BUS5", at=0.2, clear=0.05)
    assert contingencies(VALID, faults="BUS5", at="200 ms", clear="3 cycles") == plain


def by_hand(*events):
    case = BARE.copy()
    for event in events:
        case.add(event)
    return gc.simulate(gc.build(case), t_end=1.0)


@pytest.mark.parametrize(("asked", "events"), [
    ({"faults": 8, "clear": 0.15}, [gc.BusFault(bus=8, t=0.1, clear=0.25)]),
    ({"faults": 8, "at": 0.2, "r": 0.01, "x": 0.02}, [gc.BusFault(bus=8, t=0.2, clear=0.2 + 0.1, r=0.01, x=0.02)]),
    ({"trips": "LINE8-9"}, [gc.BranchTrip(branch="LINE8-9", t=0.1)]),
    ({"trips": "GEN3"}, [gc.Trip(device="GEN3", t=0.1)]),
    ({"line_faults": "LINE8-9"}, [gc.BusFault(bus=8, t=0.1, clear=0.2), gc.BranchTrip(branch="LINE8-9", t=0.2)])])
def test_a_contingency_is_the_run_of_the_case_with_its_events(asked, events):
    """All events of a sweep stand in one system, at no time: that must make no difference."""
    trips = [*([asked["trips"]] if "trips" in asked else []), "LINE4-6"]
    alone, among_others = (study("wscc9", contingencies=c, t_end=1.0) for c in (asked, {**asked, "trips": trips}))
    assert len(among_others.scenarios) == len(alone.scenarios) + 1
    expected = by_hand(*events)
    for one in (alone, among_others):
        run = gc.simulate(system_of(one.setup, one.tasks[0].values), t_end=1.0)
        assert [(e.t, e.place, e.what) for e in run.events] == [(e.t, e.place, e.what) for e in expected.events]
        for quantity in ("omega", "delta"):
            machines = ["GEN1", "GEN2", "GEN3"]
            assert np.allclose(run.of(machines, quantity), expected.of(machines, quantity), rtol=0, atol=1e-10)


def test_events_of_the_case_happen_only_if_asked_for():
    quiet, own = (study("wscc9", contingencies={"trips": "LINE8-9", "at": 0.5}, t_end=1.0, own_events=flag)
                  for flag in (None, True))
    # the case opens LINE5-7, and with LINE8-9 gone, too, GEN2 is on its own with bus 8
    assert [work(s.setup, s.tasks[0]).row["islands"] for s in (quiet, own)] == [1, 2]
    events = [gc.simulate(system_of(s.setup, s.tasks[0].values), t_end=1.0).events for s in (quiet, own)]
    assert [len(e) for e in events] == [1, 4]


def test_the_critical_clearing_time_lies_between_a_run_that_is_stable_and_one_that_is_not():
    """The book's fault: stable after 83 ms, not after 95 ms (the remarks of the case)."""
    made = study("wscc9", contingencies={"line_faults": "LINE5-7", "clear": "critical", "within": 5e-4})
    [scenario] = [k for k, s in enumerate(made.scenarios) if s.name == "fault BUS7, LINE5-7 opens"]
    row = work(made.setup, made.tasks[scenario]).row
    assert 0.083 < row["critical"] < row["unstable_from"] < 0.095
    assert 0 < row["unstable_from"] - row["critical"] <= 5e-4
    verdicts = [study("wscc9", contingencies={"line_faults": "LINE5-7", "clear": row[end]})
                for end in ("critical", "unstable_from")]
    assert [work(s.setup, s.tasks[scenario]).row["stable"] for s in verdicts] == [True, False]
    assert row["stable"]


def test_a_search_that_never_or_always_finds_it_stable_says_so():
    never, always = (study("wscc9", contingencies={"faults": 7, "clear": "critical", "longest": longest,
                                                   "within": within}, t_end=2.0)
                     for longest, within in ((0.6, 0.5), (0.05, 0.01)))
    row = work(never.setup, never.tasks[0]).row
    assert (row["critical"], row["unstable_from"], row["stable"]) == (0.0, 0.5, False)
    row = work(always.setup, always.tasks[0]).row
    assert (row["critical"], row["unstable_from"], row["runs"]) == (0.05, np.inf, 1)


def test_a_search_without_machines_is_refused():
    with pytest.raises(gc.errors.CaseError, match="has no machines that a fault could send out of step"):
        study(without_machines(), contingencies={"faults": "all", "clear": "critical"})


def without_machines():
    case = BARE.copy()
    case.records = [r for r in case.records if r.model not in ("TwoAxis", "IEEEType1")]
    case.add(gc.Record("InfiniteBus", {"bus": 1, "control": "slack"}))
    return case
