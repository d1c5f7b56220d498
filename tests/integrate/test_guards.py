from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gridcore.integrate.guards import Watch
from gridcore.system import CROSSING_BACK

UP, DOWN, BOTH = 1, -1, 0


class Guards:
    """What :class:`Watch` asks of the switching: directions, and which guards the modes watch."""

    def __init__(self, *directions, cancel=None):
        self.directions = np.array(directions)
        self.on = np.ones(len(directions), dtype=bool)
        self.guards = [SimpleNamespace(cancel=c) for c in (cancel or [-1] * len(directions))]

    def active(self, Z, before=None, changed=None):
        return self.on.copy()

    def values(self, Z):
        return np.array(Z, dtype=float)


def watching(*directions, at, **options):
    watch = Watch(Guards(*directions, **options))
    watch.refresh(None, np.array(at, dtype=float))
    return watch


def fires(watch, *values):
    return list(watch.fired(np.array(values, dtype=float)))


def visible(guards, values):
    return np.abs(values) > 1e-12


def go(watch, *values):
    """An accepted point at which whatever is across fires."""
    gamma = np.array(values, dtype=float)
    fired = watch.fired(gamma)
    watch.accept(gamma, fired, visible)
    return list(fired)


@pytest.mark.parametrize(("direction", "rising", "falling"), [(UP, [0], []), (DOWN, [], [0]), (BOTH, [0], [0])])
def test_a_guard_fires_in_its_direction_only(direction, rising, falling):
    assert fires(watching(direction, at=[-1]), 1) == rising
    assert fires(watching(direction, at=[1]), -1) == falling


def test_a_guard_must_come_back_before_it_fires_again():
    watch = watching(UP, at=[-1])
    assert [go(watch, value) for value in (-0.5, 0.5, 0.7, -0.1, -0.2, 0.3)] == [[], [0], [], [], [], [0]]


@pytest.mark.parametrize("value", [1, -1])
def test_a_guard_of_both_directions_that_begins_at_zero_takes_the_side_to_which_it_leaves(value):
    watch = watching(BOTH, UP, at=[0, -1])
    assert [go(watch, x, -1) for x in (0, value, 2 * value, -value, value)] == [[], [], [], [0], [0]]


def test_a_guard_of_both_directions_fires_each_way():
    watch = watching(BOTH, at=[-1])
    assert [go(watch, value) for value in (1, 2, -1, -2, 3)] == [[0], [], [0], [], [0]]


def test_round_off_at_the_crossing_does_not_fire_twice():
    watch = watching(UP, at=[-1])
    watch.accept(np.array([-1e-17]), np.array([0]), visible)  # located, a hair short of zero
    assert fires(watch, 1e-3) == []


def test_round_off_behind_the_crossing_is_no_way_back():
    """Of guards that come to zero together each is made in turn, and the others are zero but for round-off then."""
    watch = watching(UP, UP, at=[-1, -1])
    assert [go(watch, x, y) for x, y in ((1e-17, 1e-17), (-1e-17, 0.0), (1e-3, 1e-3))] == [[0, 1], [], []]
    assert [go(watch, x, -1) for x in (-1e-3, 1e-3)] == [[], [0]]


@pytest.mark.parametrize(("direction", "value"), [(UP, -1.0), (DOWN, 1.0)])
def test_a_guard_that_a_switch_has_put_back_may_fire_again(direction, value):
    watch = watching(direction, at=[value])
    assert go(watch, -value) == [0]
    watch.put_back([0], np.array([1e-17 * value]), visible)
    assert fires(watch, -value) == []
    watch.put_back([0], np.array([value]), visible)
    assert fires(watch, -value) == [0]


def test_a_guard_already_across_when_it_begins_to_be_watched_fires_at_once():
    watch = watching(UP, DOWN, at=[2, -3])
    assert list(watch.fired_by_jump(np.array([2.0, -3.0]), visible)) == [0, 1]


def test_zero_to_round_off_is_not_a_jump_but_is_located_in_the_next_step():
    watch = watching(UP, at=[1e-16])
    assert list(watch.fired_by_jump(np.array([1e-16]), visible)) == []
    assert fires(watch, 0.1) == [0]


def test_a_guard_whose_modes_do_not_hold_never_fires():
    watch = watching(UP, UP, at=[-1, -1])
    watch.switching.on[0] = False
    watch.refresh(None, np.array([-1.0, -1.0]))
    assert fires(watch, 1, 1) == [1]


def test_a_cancellation_of_its_own_is_watched_while_the_action_is_pending_whatever_number_it_has():
    for first in (0, 1):  # the number of the one that cancels
        watch = watching(UP, UP, at=[-1, -1], cancel=[-1, 0] if first == 0 else [1, -1])
        watch.switching.on[first] = False
        watch.refresh(None, np.array([-1.0, -1.0]))
        assert go(watch, 1, 1) == [1 - first]
        watch.arm(1 - first, time=1.0, clock=3)
        assert list(watch.active) == [True, True]
        assert fires(watch, 1, 1) == [first]
        watch.disarm(1 - first)
        assert list(watch.active) == [first == 1, first == 0]


def test_a_pending_action_without_cancellation_has_no_other_guard_watched():
    watch = watching(UP, UP, at=[-1, -1])
    go(watch, 1, -1)
    watch.arm(0, time=1.0, clock=3)
    watch.switching.on[1] = False
    watch.refresh(None, np.array([1.0, -1.0]))
    assert list(watch.active) == [True, False]
    assert fires(watch, 1, 1) == []


def test_a_pending_action_is_cancelled_by_crossing_back():
    watch = watching(UP, at=[-1], cancel=[-2])
    assert go(watch, 1) == [0]
    watch.arm(0, 5.0, 0)
    assert fires(watch, 2) == []
    assert fires(watch, -1) == [0]
    assert watch.cancelled_by(0) == 0
    watch.disarm(0)
    assert not watch.pending
    assert go(watch, -1) == []
    assert go(watch, 1) == [0]  # and may begin again


def test_an_action_that_cannot_be_cancelled_stays_pending():
    watch = watching(UP, at=[-1], cancel=[-1])
    go(watch, 1)
    watch.arm(0, 5.0, 0)
    assert [go(watch, value) for value in (-1, 1, -1)] == [[], [], []]
    assert 0 in watch.pending


@pytest.mark.parametrize("cancel", [-1, CROSSING_BACK])
def test_an_action_without_a_cancellation_function_has_no_other_guard_watched(cancel):
    watch = watching(UP, UP, at=[-1, -1], cancel=[cancel, -1])
    watch.switching.on[1] = False
    watch.refresh(None, np.array([-1.0, -1.0]))
    go(watch, 1, -1)
    watch.arm(0, 5.0, 0)
    assert go(watch, 1, 1) == []
    watch.disarm(0)
    watch.switching.on[:] = True
    watch.refresh(None, np.array([1.0, -1.0]))
    watch.arm(0, 5.0, 0)
    watch.disarm(0)
    assert fires(watch, 1, 1) == [1]


def test_a_cancellation_function_is_watched_only_while_the_action_is_pending():
    watch = watching(UP, UP, at=[-1, -1], cancel=[1, -1])
    watch.switching.on[1] = False
    watch.refresh(None, np.array([-1.0, -1.0]))
    assert fires(watch, -1, 1) == []
    go(watch, 1, -1)
    watch.arm(0, 5.0, 0)
    assert fires(watch, -1, 1) == [1]
    assert watch.cancelled_by(1) == 0
    watch.disarm(0)
    assert fires(watch, -1, 1) == []


def test_a_cancellation_function_that_is_the_first_guard_stays_watched_through_other_switches():
    watch = watching(UP, UP, at=[-1, -1], cancel=[-1, 0])
    watch.switching.on[0] = False
    watch.refresh(None, np.array([-1.0, -1.0]))
    assert go(watch, -1, 1) == [1]
    watch.arm(1, 5.0, 0)
    watch.refresh(None, np.array([-1.0, 1.0]))
    assert fires(watch, 1, 1) == [0]
    assert watch.cancelled_by(0) == 1
    watch.disarm(1)
    watch.refresh(None, np.array([-1.0, 1.0]))
    assert fires(watch, 1, 1) == []


def test_a_pending_action_is_dropped_when_its_modes_no_longer_hold():
    watch = watching(UP, at=[-1], cancel=[-2])
    go(watch, 1)
    watch.arm(0, 5.0, 0)
    watch.switching.on[0] = False
    watch.refresh(None, np.array([1.0]))
    assert not watch.pending


def test_a_guard_that_its_action_sends_back_fires_again_without_an_accepted_point_between():
    watch = watching(DOWN, at=[1])
    go(watch, -1e-17)
    assert watch.bounces(0, np.array([-1e-17]), visible)
    watch.turned(0, rate=-1.0)
    assert fires(watch, -1) == []
    watch.turned(0, rate=0.0)
    assert fires(watch, -1) == []
    watch.turned(0, rate=+1.0)
    assert fires(watch, -1) == [0]


@pytest.mark.parametrize("direction", [UP, DOWN])
def test_a_guard_bounces_that_has_a_direction_and_is_watched_at_zero_with_nothing_pending(direction):
    watch = watching(direction, BOTH, at=[-direction, 1], cancel=[-2, -1])
    zero = np.array([direction * 1e-17, -1e-17])
    go(watch, *zero)
    assert watch.bounces(0, zero, visible)
    assert not watch.bounces(0, np.array([direction * 1e-3, -1e-17]), visible)
    assert not watch.bounces(1, zero, visible)
    watch.arm(0, 5.0, 0)
    assert not watch.bounces(0, zero, visible)
    watch.disarm(0)
    watch.switching.on[0] = False
    watch.refresh(None, zero)
    assert not watch.bounces(0, zero, visible)


@pytest.mark.parametrize("seed", range(20))
def test_margins_are_negative_where_a_guard_fires(seed):
    random = np.random.default_rng(seed)
    watch = watching(UP, DOWN, BOTH, UP, UP, at=random.normal(size=5), cancel=[-1, -1, -1, -2, 0])
    for _ in range(50):
        values = random.integers(-2, 3, size=5).astype(float)
        margins = watch.margins(values)
        fired = watch.fired(values)
        assert list(np.flatnonzero(margins < 0)) == list(fired)
        watched = (margins != 1.0) | (np.abs(values) == 1.0)
        np.testing.assert_array_equal(np.abs(margins[watched]), np.abs(values[watched]))
        watch.accept(values, fired, visible)
        if 3 in fired:
            (watch.arm(3, 1.0, 1) if 3 not in watch.pending else watch.disarm(3))


def test_a_guard_that_is_not_watched_has_a_margin_of_one():
    watch = watching(UP, UP, at=[-1, -1])
    watch.switching.on[:] = [True, False]
    watch.refresh(None, np.array([-1.0, -1.0]))
    assert list(watch.margins([0.5, 0.5])) == [-0.5, 1.0]
    go(watch, 0.5, 0.5)
    assert list(watch.margins([0.7, 0.7])) == [1.0, 1.0]
