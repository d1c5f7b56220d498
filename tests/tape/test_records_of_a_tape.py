"""The tape: what is put into it comes out of it."""

import pickle

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import arrays

from gridcore.tape import GRID, InMemory, Records, Settings, Switch, Tape

values = arrays(float, (5,), elements=st.sampled_from([0.0, 1.0, -2.5, np.inf, np.nan]))


@given(st.lists(values, min_size=1, max_size=12), st.lists(st.integers(0, 11), max_size=20))
def test_settings_come_back_whole_in_any_order(whole, order):
    settings = Settings(whole)
    assert len(settings) == len(whole)
    for number in order:
        if number < len(whole):
            np.testing.assert_array_equal(settings[number], whole[number])
    np.testing.assert_array_equal(np.array(settings), np.array(whole))
    np.testing.assert_array_equal(settings[-1], whole[-1])


@given(values, st.lists(st.dictionaries(st.integers(0, 4), st.sampled_from([0.0, -0.0, 1.0, np.nan])), max_size=8),
       st.sets(st.integers(0, 4)))
def test_settings_that_are_told_what_has_changed_are_those_that_look_for_it(first, changes, others):
    told, whole, now = Settings([first]), Settings([first]), first.copy()
    for change in changes:
        now[list(change)] = list(change.values())
        told.append(now, np.array([*others, *change], dtype=int))
        whole.append(now)
    assert np.array(told).tobytes() == np.array(whole).tobytes()
    assert len(pickle.dumps(told)) == len(pickle.dumps(whole))


def test_settings_keep_only_what_changed():
    first = np.arange(10_000.0)
    settings = Settings([first])
    for k in range(100):
        first = first.copy()
        first[k] = -1.0
        settings.append(first)
    assert len(pickle.dumps(settings)) < 3 * first.nbytes


def test_settings_do_not_follow_the_array_they_were_given():
    given_array = np.zeros(3)
    settings = Settings([given_array])
    given_array[0] = 1.0
    assert settings[0][0] == 0.0


@given(st.integers(1, 400))
def test_points_survive_growth_and_trimming(count):
    tape = Tape(InMemory(2))
    for k in range(count):
        tape.point(0.1 * k, np.array([k, -k], dtype=float), GRID)
    tape.states.trim()
    np.testing.assert_array_equal(tape.X[:, 0], np.arange(count))
    assert tape.X.nbytes == 16 * count


def test_the_settings_of_a_point_are_those_after_the_switches_before_it():
    tape = Tape(InMemory(1))
    for k in range(5):
        tape.point(float(k), np.zeros(1), GRID)
    tape.records = Records([Switch(1, (("timer", 0),), 1), Switch(3, (("guard", 2),), 2)])
    np.testing.assert_array_equal(tape.point_settings(), [0, 0, 1, 1, 2])
    tape.records.append(Switch(4, (("timer", 0),), 3))  # and no more: what follows was never made
    np.testing.assert_array_equal(tape.point_settings(), [0, 0, 1, 1, 2])
