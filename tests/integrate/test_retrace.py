"""A run made again on its own mesh; on one that a variable step made: tests/ida/test_retrace.py."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc

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


def test_the_mismatch_of_events_is_the_largest_of_their_times():
    run = gc.simulate("hiskens_pai", 0.2, 0.01)
    again, (_, mismatch) = made_again(run, theta=1.0)
    assert mismatch == max(abs(a.t - b.t) for a, b in zip(run.events, again.events)) > 0
