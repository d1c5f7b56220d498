"""A run made again on its own mesh; on one that a variable step made: tests/ida/test_retrace.py."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import gridcore as gc
from gridcore.tape import GRID
from gridcore_ida.retrace import mismatch, same_events

MISMATCH = ("replay_mismatch", "replay_mismatch_events")


def made_again(run, **options):
    again = gc.retrace(run, **options)
    return again, [again.settings[name] for name in MISMATCH]


@pytest.mark.parametrize(("case", "t_end", "events"), [("wscc9", 0.3, 2), ("hiskens_pai", 0.2, 3), ("wscc9", 0.05, 0)])
def test_a_run_made_again_by_its_own_method_is_that_run(case, t_end, events):
    run = gc.simulate(case, t_end, 0.013)
    again, mismatch = made_again(run)
    assert mismatch == [0.0, 0.0]
    assert again.X.tobytes() == run.X.tobytes()
    assert again.t.tobytes() == run.t.tobytes()
    assert [e.words for e in again.events] == [e.words for e in run.events]
    assert len(run.events) >= events


def test_the_mismatch_is_the_largest_difference_where_both_are_under_the_same_modes():
    run = gc.simulate("wscc9", 0.3, 0.013)
    again, (mismatch, _) = made_again(run, theta=1.0)
    assert np.array_equal(again.t, run.t)
    difference = np.abs(again.X - run.X)
    assert mismatch == difference.max() > 1e-4
    assert again.settings["replay_mismatch_of"] == ".".join(run.system.variables[difference.max(axis=0).argmax()])
    assert again.settings | {"method": "theta", "mesh_of": "theta", "theta": 1.0, "t_end": 0.3} == again.settings


@pytest.mark.parametrize(("there", "here"), [(1, 0), (0, 1), (2, 1)])
def test_points_are_compared_that_are_under_the_same_modes_however_many_others_either_run_has(there, here):
    """Points of the grid at 1 to 5 s, one or two before, and a switch that one run has before and one after 3 s."""
    def run(more, settings, X):
        t = [*np.linspace(0.1, 0.2, more), 1.0, 2.0, 3.0, 3.0, 4.0, 5.0]
        return SimpleNamespace(
            t=np.array(t), tape=SimpleNamespace(point_clock=[GRID] * (more + 2) + settings[0] + [GRID] * 2), events=[],
            point_settings=np.array([0] * more + settings[1]), X=np.array([[9.0]] * more + [[x] for x in X]),
            system=SimpleNamespace(variables=[("D", "x")]))

    early = run(there, ([7, GRID], [0, 0, 0, 1, 1, 1]), [1.0, 1.0, 1.0, 5.0, 5.0, 5.0])
    late = run(here, ([GRID, 7], [0, 0, 0, 1, 1, 1]), [1.0, 1.25, 1.0, 5.0, 5.5, 5.0])
    found = mismatch(early, late)
    assert found == {"replay_mismatch": 0.5, "replay_mismatch_of": "D.x", "replay_mismatch_events": 0.0}


def test_the_mismatch_of_events_is_the_largest_of_their_times():
    run = gc.simulate("hiskens_pai", 0.2, 0.01)
    again, (_, mismatch) = made_again(run, theta=1.0)
    assert mismatch == max(abs(a.t - b.t) for a, b in zip(run.events, again.events)) > 0


@pytest.mark.parametrize(("there", "here", "said", "t"), [
    ("AB", "AC", r"event 2 of this run is C\.x \(switch\) in place of B\.x \(switch\)", 1.0),
    ("AB", "A", r"event 2 of this run is none in place of B\.x \(switch\)", 1.0),
    ("A", "AB", r"event 2 of this run is B\.x \(switch\) in place of none", 11.0)])
def test_the_first_event_that_is_another_is_told_with_its_time(there, here, said, t):
    def run(devices, begin):
        events = [SimpleNamespace(device=d, item="x", kind="switch", t=begin + k) for k, d in enumerate(devices)]
        return SimpleNamespace(events=events, settings={"method": "theta"})

    same_events(run(there, 0.0), run(there, 10.0))
    with pytest.raises(gc.errors.EventError, match=said) as error:
        same_events(run(there, 0.0), run(here, 10.0))
    assert error.value.t == t


class Ends(gc.Device):
    """Falls evenly; behind an event it falls faster and faster, to where solutions end."""

    start, x, m = gc.Param("", 1.0), gc.State("", start_at="start"), gc.Mode(0)

    def rates(s):
        return -1.0 / np.where(s.m == 1, np.sqrt(s.x - 0.5), 1.0)

    @gc.guard("down", then={"m": 1})
    def falls(s):
        return s.x - 0.503


def test_what_an_error_ended_between_points_of_the_grid_is_made_again_up_to_there():
    with gc.registered(Ends):
        case = gc.Case("ends")
        case.add("Ends", id="E")
        system = gc.build(case)
        with pytest.raises(gc.GridcoreError) as caught:
            gc.simulate(system, 2.0, 0.1)
        made = caught.value.run
        assert made.t[-1] == pytest.approx(0.497, abs=1e-12)
        again = gc.simulate(system, float(made.t[-1]), mesh=made)
        np.testing.assert_array_equal(again.t, [*made.t, made.t[-1]])  # the last is that of its grid
        np.testing.assert_allclose(again.X, [*made.X, made.X[-1]], rtol=0, atol=1e-14)
        assert [event.item for event in gc.retrace(made, "theta").events] == ["falls"]
        with pytest.raises(gc.errors.CaseError, match=r"t_end = 0\.6 must not be after the end of the mesh, 0\.497 s"):
            gc.simulate(system, 0.6, mesh=made)
