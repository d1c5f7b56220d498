"""Events of a study: what their times must be."""

from __future__ import annotations

import math

import pytest

import gridcore as gc
from gridcore.errors import CaseError


def nine_buses(**times):
    case = gc.load_case("wscc9")
    for name, time in times.items():
        case.set(name.replace("_", "."), time)
    return case


@pytest.mark.parametrize(("t", "clear"), [(0.1, 0.1), (0.1, 0.05), (math.inf, 0.183)])
def test_a_fault_is_cleared_after_it_strikes(t, clear):
    with pytest.raises(CaseError, match="clear must be after t: the fault is there in between"):
        gc.build(nine_buses(fault_t=t, fault_clear=clear))


@pytest.mark.parametrize(("t", "clear", "events"), [
    (0.1, math.inf, ["strikes"]), (math.inf, math.inf, []), (0.1, 0.15, ["strikes", "clears", "opens"])])
def test_what_is_never_does_not_come(t, clear, events):
    """The trip of the line is at the clearing."""
    run = gc.simulate(gc.build(nine_buses(fault_t=t, fault_clear=clear)), 0.2)
    assert [event.item for event in run.events if event.device in ("fault", "trip")] == events


@pytest.mark.parametrize(("t", "reclose", "good"), [
    (0.1, 0.1, False), (0.1, 0.05, False), (0.1, math.inf, True), (math.inf, math.inf, True), (0.1, 0.15, True),
    (math.inf, 0.1, True)])
def test_a_branch_closes_after_it_has_opened_or_was_open(t, reclose, good):
    case = nine_buses(fault_t=math.inf, fault_clear=math.inf)
    case.add(gc.BranchTrip(id="again", branch="LINE7-8", t=t, reclose=reclose))
    if good:
        gc.build(case)
    else:
        with pytest.raises(CaseError, match="reclose must be after t"):
            gc.build(case)


@pytest.mark.parametrize("name", ["smib", "microgrid", "wscc9"])
def test_in_a_shipped_case_the_branch_opens_when_the_fault_is_cleared_whenever_that_is(name):
    case = gc.load_case(name)
    case.set("fault.clear", 0.6543)
    run = gc.simulate(case, 0.7)
    planned = [event for event in run.events if event.device in ("fault", "trip", "islanded")]
    assert [(event.item, event.t) for event in planned[1:]] == [("clears", 0.6543), ("opens", 0.6543)]
