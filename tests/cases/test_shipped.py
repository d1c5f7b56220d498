"""What holds for every shipped case."""

import numpy as np
import pytest

import gridcore as gc
from gridcore.case.files import shipped

EVENTS = ("BusFault", "BranchTrip", "Ramp", "OverloadRelay")
NETWORKS = [name for name in sorted(shipped()) if name != "hiskens_pai"]  # which is not at rest


def undisturbed(name):
    case = gc.load_case(name)
    for record in list(case):
        if record.model in EVENTS:
            case.remove(case.ids()[case.records.index(record)])
    if name == "swing":
        case.set("SWING.t_fault", "inf s")
        case.set("SWING.t_clear", "inf s")
    return case


def test_the_cases_of_the_plan_are_there():
    assert {"smib", "hiskens_pai", "swing", "wscc9", "wscc9_paper", "wscc9_recovery_loads",
            "wscc9_recovery_cancelled", "kundur"} <= set(shipped())


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_case_says_where_it_comes_from(name):
    case = gc.load_case(name)
    assert case.name == name
    assert case.title
    assert {"source", "licence", "published"} <= set(case.about)


@pytest.mark.parametrize("name", NETWORKS)
def test_ten_seconds_without_a_disturbance_are_flat(name):
    run = gc.simulate(gc.build(undisturbed(name)), t_end=10.0, step=0.02)
    assert run.events == []
    assert np.abs(run.X - run.X[0]).max() < 1e-8
