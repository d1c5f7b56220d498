"""Which guard crosses first in a step, on paths given by formulas."""

from __future__ import annotations

import numpy as np
import pytest
from guard_paths import BEGUN, END, Path

from gridcore import numerics

SHAPES = [lambda t: t, lambda t: np.expm1(60 * t), lambda t: -np.expm1(-60 * t), lambda t: np.tanh(1e3 * t),
          lambda t: t + 300 * t**3, lambda t: np.sign(t) * np.sqrt(abs(t))]


def crossing(shape, zero, sign=1):
    return lambda t: sign * shape(t - zero)


@pytest.mark.parametrize("seed", range(40))
def test_the_first_is_the_one_whose_zero_is_first_whatever_their_shapes(seed):
    random = np.random.default_rng(seed)
    count = random.integers(2, 5)
    zeros = random.uniform(BEGUN, END, count)
    if seed % 2:  # close to each other
        zeros = zeros[0] + (END - zeros[0]) * 1e-4 * random.random(count)
    path = Path(*(crossing(SHAPES[random.integers(len(SHAPES))], zero, random.choice([-1, 1])) for zero in zeros))
    guard, t = path.first()
    assert guard == zeros.argmin()
    assert t == pytest.approx(zeros.min(), rel=1e-13)
    assert 1 <= path.counters["locations"] <= count


def hump(begin, end, sign=1):
    """Across between two times, and not at the end of the step."""
    return lambda t: sign * (t - begin) * (end - t)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("number", [0, 1])
def test_one_that_is_across_where_the_first_crosses_and_at_the_end_no_more_is_before_it(sign, number):
    guards = [crossing(SHAPES[0], 0.57), hump(0.5678, 0.58, sign)][::1 - 2 * number]
    path = Path(*guards, resolution=1e-11)
    assert path.first() == (1 - number, pytest.approx(0.5678, rel=1e-13))
    assert path.counters["locations"] == 2


def test_one_may_show_another_and_this_one_a_third():
    path = Path(hump(0.53, 0.545), crossing(SHAPES[0], 0.57), hump(0.54, 0.58, -1), resolution=1e-11)
    assert path.first() == (0, pytest.approx(0.53, rel=1e-13))
    assert path.counters["locations"] == 3


def test_one_that_is_across_by_round_off_where_the_first_crosses_is_not():
    path = Path(crossing(SHAPES[0], 0.57), lambda t: 1e-10 * hump(0.5678, 0.58)(t), resolution=1e-11)
    assert path.first() == (0, pytest.approx(0.57, rel=1e-13))


@pytest.mark.parametrize("slopes", [(1, 1, 1), (1, 1e3, 1), (1e3, 1, 1e-3), (-1e-3, 1, -1e3), (1, 1, -8), (1, 1, 8)])
def test_of_guards_on_straight_lines_one_is_located(slopes):
    path = Path(*(crossing(SHAPES[0], zero, slope) for zero, slope in zip((0.6, 0.52, 0.501), slopes, strict=True)))
    assert path.first() == (2, pytest.approx(0.501))
    assert path.counters["locations"] == 1


def test_of_guards_of_which_none_is_across_where_the_first_crosses_one_is_located():
    path = Path(*(crossing(SHAPES[0], zero) for zero in (0.6, 0.52, 0.61)))
    assert path.first() == (1, pytest.approx(0.52))
    assert path.counters["locations"] == 1


@pytest.mark.parametrize("shapes", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (4, 0, 1), (0, 0, 0)])
@pytest.mark.parametrize(("sign", "expected"), [(1, 0), (-1, 2)])
def test_of_guards_that_cross_together_the_lowest_is_first_where_they_rise_and_the_last_where_they_fall(
        shapes, sign, expected):
    path = Path(*(crossing(SHAPES[k], 0.5678, sign) for k in shapes), resolution=1e-11)
    assert path.first() == (expected, pytest.approx(0.5678, rel=1e-13))


@pytest.mark.parametrize("sign", [1, -1])
def test_of_guards_that_cross_together_one_whose_changes_are_among_those_of_another_is_not_first(sign):
    paths = [crossing(SHAPES[0], 0.5678, sign)] * 3
    few, many = frozenset({1}), frozenset({1, 2})
    for targets in ([few, many, few], [few, many, frozenset({2})]):
        assert Path(*paths, targets=targets, resolution=1e-11).first()[0] == 1
    for targets, expected in (([few, many], 1), ([many, few], 0)):
        assert Path(*paths[:2], targets=targets, resolution=1e-11).first()[0] == expected
    nothing = frozenset()
    assert Path(*paths, targets=[nothing, many, nothing], resolution=1e-11).first()[0] == (0 if sign > 0 else 2)


@pytest.mark.parametrize("apart", [1e-3, 1e-5, 2e-6])
@pytest.mark.parametrize("swapped", [False, True])
def test_guards_that_cross_one_after_the_other_are_told_apart_by_their_values(apart, swapped):
    zeros = np.array([0.5678, 0.5678 + apart * (END - 0.5678)])[::-1 if swapped else 1]
    path = Path(*(crossing(SHAPES[0], zero) for zero in zeros), resolution=1e-11)
    assert path.first() == (int(swapped), pytest.approx(0.5678, rel=1e-13))


@pytest.mark.parametrize("numbers", [(0, 1), (1, 0)])
def test_a_slow_guard_that_crosses_a_little_later_is_not_taken_for_one_that_crosses_together(numbers):
    """Though its value is round-off where the other crosses."""
    guards = [crossing(SHAPES[0], 0.5678), crossing(SHAPES[0], 0.568, 1e-8)]
    path = Path(*(guards[k] for k in numbers), resolution=1e-11)
    assert path.first() == (numbers.index(0), pytest.approx(0.5678, rel=1e-13))


@pytest.mark.parametrize("guards", [2, 3])
@pytest.mark.parametrize("sign", [1, -1])
def test_guards_that_cross_in_the_last_instant_of_a_step_cross_at_its_end(guards, sign):
    path = Path(*[lambda t: sign * ((t - END) + 1e-17)] * guards, resolution=1e-11)
    assert path.first() == (0 if sign > 0 else guards - 1, END)


@pytest.mark.parametrize(("late", "expected"), [((0.0, 1.0, 2.0), 0), ((2.0, 1.0, 3.0), 1), ((2.0, 1.0, 0.5), 2),
                                                ((2.0, 1.0, 1.0), 1)])
def test_of_guards_that_cross_together_behind_another_event_the_least_late_is_first(late, expected):
    for sign in (1, -1):
        path = Path(*[crossing(SHAPES[0], 0.5678, sign)] * 3, resolution=1e-11, late=late)
        tied = late.count(min(late)) > 1 and sign < 0
        assert path.first() == (2 if tied else expected, pytest.approx(0.5678, rel=1e-13))


# Ended there by the method itself -------------------------------------------------------------------------------------


def ended(*guards, solves=True, **options):
    """The guard at which a step was ended by the method, when, and the path."""
    path = Path(*guards, resolution=1e-11, **options)
    if solves:
        path.stepper.end_at_zero = path.bisect
    guard, t = path.first(by_itself=True)
    assert path.counters["locations"] == (guard >= 0)
    assert guard >= 0 or t == END
    return guard, t


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("zeros", "first"), [((0.6,), 0), ((0.6, 0.55), 1), ((0.55, 0.6, 0.62), 0)])
def test_a_method_ends_a_step_at_the_guard_that_is_first(zeros, first, sign):
    guard, t = ended(*(crossing(SHAPES[4], zero, sign) for zero in zeros))
    assert (guard, t) == (first, pytest.approx(zeros[first], rel=1e-15))


def test_a_step_ends_where_it_should_where_the_method_finds_no_zero():
    assert ended(crossing(SHAPES[0], 0.55), solves=False) == (-1, END)


@pytest.mark.parametrize("other", [SHAPES[1], lambda t: 1e-3 * SHAPES[1](t), lambda t: 1e3 * SHAPES[1](t)])
@pytest.mark.parametrize("swapped", [1, -1])
def test_where_another_guard_is_across_already_the_method_does_not_end_the_step(other, swapped):
    """On straight lines it comes second, and is first: it bends."""
    bent = crossing(lambda t: -other(-t), 0.56)
    assert bent(END) > 0
    straight = crossing(SHAPES[0], 0.562)
    guards = [straight, bent][::swapped]
    path = Path(*guards)
    lines = [BEGUN - g(BEGUN) * (END - BEGUN) / (g(END) - g(BEGUN)) for g in guards]
    assert lines[guards.index(straight)] < lines[guards.index(bent)]
    assert ended(*guards) == (-1, END)
    assert path.first()[0] == guards.index(bent)


@pytest.mark.parametrize("slope", [1.0, 1e-3, 1e3, -1.0])
@pytest.mark.parametrize("apart", [0.0, 1e-8])
def test_where_another_guard_comes_to_zero_with_it_the_method_does_not_end_the_step(slope, apart):
    for number in (1, -1):
        guards = [crossing(SHAPES[0], 0.5678), crossing(SHAPES[0], 0.5678 + apart, slope)][::number]
        assert ended(*guards) == (-1, END)
    guards = [crossing(SHAPES[0], 0.5678), crossing(SHAPES[0], 0.5678 + 1e-4, slope)]
    assert ended(*guards) == (0, pytest.approx(0.5678, rel=1e-15))


@pytest.mark.parametrize("before", [0.0, -1e-12, 1e-12])
def test_a_guard_that_begins_at_zero_but_for_round_off_is_left_to_the_search(before):
    assert ended(lambda t: before + (t - BEGUN)) == (-1, END)


@pytest.mark.parametrize("size", [1e-3, 0.5])
def test_a_guard_that_may_be_across_by_round_off_is_left_to_the_search(size):
    scale = size * numerics.GUARD_LARGE / (END - 0.55)
    assert ended(crossing(SHAPES[0], 0.55, scale)) == (-1, END)
    assert ended(crossing(SHAPES[0], 0.55, 4 * scale / size)) == (0, pytest.approx(0.55, rel=1e-15))
