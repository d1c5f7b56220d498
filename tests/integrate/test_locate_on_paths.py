"""Where a guard crosses zero, on paths given by formulas: what is found is a crossing, at little cost, in any units."""

from __future__ import annotations

import numpy as np
import pytest
from guard_paths import BEGUN, END, Path

from gridcore import numerics
from gridcore.errors import ConvergenceError, EventError


def steep(t):
    return np.tanh(1e4 * t)


def root(t):
    return np.sign(t) * np.sqrt(abs(t))


SMOOTH = {"line": lambda t: t, "bent": lambda t: np.expm1(20 * t), "turned": lambda t: -np.expm1(-20 * t),
          "parabola": lambda t: t + 6 * t * t, "s": lambda t: np.arctan(20 * t)}
SHARP = {"steep": steep, "root": root, "kink": lambda t: t if t < 0 else 1e4 * t, "stairs": lambda t: t**3 + 1e-6 * t,
         "corner": lambda t: t if t > 0 else 1e4 * t}
ZEROS = [0.5001, 0.5123, 0.5678, 0.62, 0.6249]


@pytest.mark.parametrize("zero", ZEROS)
@pytest.mark.parametrize("name", SMOOTH)
def test_a_smooth_guard_is_found_to_round_off_in_a_dozen_evaluations(name, zero):
    path = Path(lambda t: SMOOTH[name](t - zero))
    assert path.locate() == pytest.approx(zero, rel=4e-16)
    assert len(path.times) <= 12


def test_smooth_guards_are_found_in_seven_evaluations_on_average():
    paths = [Path(lambda t, zero=zero, shape=shape: shape(t - zero)) for zero in np.linspace(BEGUN, END, 200)[1:-1]
             for shape in SMOOTH.values()]
    for path in paths:
        path.locate()
    assert np.mean([len(path.times) for path in paths]) <= 7


@pytest.mark.parametrize("zero", ZEROS)
@pytest.mark.parametrize("name", SHARP)
def test_a_sharp_guard_is_found_in_little_more_than_a_bisection_takes(name, zero):
    path = Path(lambda t: SHARP[name](t - zero))
    assert path.locate() == pytest.approx(zero, rel=4e-14)
    assert len(path.times) <= 70


@pytest.mark.parametrize(("in_value", "in_time"), [(2.0**-30, 1.0), (2.0**30, 1.0), (-1.0, 1.0), (1.0, 2.0**-20),
                                                   (1.0, 2.0**20), (-(2.0**7), 2.0**-9)])
@pytest.mark.parametrize("case", ["bent", "steep", "stairs", "noisy", "begins", "comes back", "jumps"])
def test_units_do_not_matter(case, in_value, in_time):
    """The same in other units of the guard and of time, or of a guard that falls, to the last bit."""
    cases = {
        "bent": (SMOOTH["bent"], {}), "steep": (steep, {}), "stairs": (SHARP["stairs"], {}),
        "noisy": (lambda t: 3.0 * (1e3 + t) - 3e3, {"terms": 3e3}), "jumps": (lambda t: -1.0 if t < 0 else 1.0, {}),
        "begins": (lambda t: (t + 0.0678) * (t + 0.2) + 1e-14, {"rate": 0.2}),
        "comes back": (lambda t: t * (t + 0.0678), {"rate": -0.0678})}
    function, more = cases[case]

    def found(value, time):
        scaled = {"terms": abs(value), "rate": value / time}
        path = Path(lambda t: value * function(t / time - 0.5678), **{k: scaled[k] * more[k] for k in more})
        try:
            t = path.locate(BEGUN * time, END * time)
        except EventError as error:
            t = error.t
        return t / time, [t / time for t in path.times]

    assert found(in_value, in_time) == found(1.0, 1.0)


@pytest.mark.parametrize("seed", range(30))
def test_of_several_zeros_one_is_found_that_is_crossed_in_the_direction_that_was_seen(seed):
    random = np.random.default_rng(seed)
    zeros = np.sort(random.uniform(BEGUN, END, random.choice([3, 5, 7])))
    power = random.choice([1.0, 1e3, 1e6])
    side = random.choice([-1, 1])
    path = Path(lambda t: side * np.tanh(power * np.prod(10 * (t - zeros))))
    t = path.locate()
    nearest = int(np.abs(zeros - t).argmin())
    assert nearest % 2 == 0
    assert t == pytest.approx(zeros[nearest], abs=1e-12)
    assert len(path.times) <= 80


@pytest.mark.parametrize("late", [0.0, 2.0**20])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_point_at_which_a_guard_is_exactly_zero_and_turns_back_or_crosses_the_other_way_is_not_taken(side, late):
    """The first straight line leads to it."""
    def touches(t):
        s = 2 * (t - late) - 1
        return -s * s if s <= 0 else s * (2 * s - 1)

    path = Path(lambda t: side * touches(t))
    assert path.locate(late, late + 1.0) == pytest.approx(late + 0.75, rel=1e-14)
    assert path.times[0] == late + 0.5
    assert len(path.times) <= 16
    path = Path(lambda t: side * (t - late - 0.25) * (t - late - 0.5) * (t - late - 0.75))
    assert path.locate(late, late + 1.0) in [pytest.approx(late + zero, rel=1e-14) for zero in (0.25, 0.75)]
    assert path.times[0] == late + 0.5
    assert len(path.times) <= 15


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("round_off", [-1e-15, -1e-17, -1e-19, 1e-19, 1e-17, 1e-15])
@pytest.mark.parametrize("begun", [0.0, 64.0])
def test_nor_is_one_at_which_it_is_zero_but_for_round_off(begun, round_off, side):
    for apart in np.linspace(0.05, 0.45, 20):
        path = Path(lambda t, a=apart: side * np.tanh(
            60 * (t - begun - 0.5 + a) * (t - begun - 0.5) * (t - begun - 0.5 - a)) + round_off, resolution=1e-14)
        assert path.locate(begun, begun + 1.0) in [pytest.approx(begun + 0.5 + a, abs=1e-11) for a in (-apart, apart)]
        assert len(path.times) <= 25


def test_a_point_at_which_a_guard_is_exactly_zero_and_crosses_is_taken_at_once():
    path = Path(lambda t: (t - 0.5) * (1 + (t - 0.5) ** 2))
    assert path.locate(0.0, 1.0) == 0.5
    assert len(path.times) <= 3


# Round-off ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [1.0, 2.0, 60.0, 64.0, 127.0, 1000.0, 1024.0])
def test_a_zero_between_two_neighbouring_numbers_is_found_to_a_few_of_them_wherever_it_is_and_however_fast(begun):
    """That a guard is not small at either is its speed, no jump."""
    random = np.random.default_rng(int(begun))
    for between in np.linspace(0.0, 1.0, 200):
        beside, bend = begun + random.uniform(0.05, 0.95), random.uniform(-0.9, 0.9)
        speed, ulp = 10 ** random.uniform(-2, 4), np.spacing(beside)
        path = Path(lambda t, beside=beside, speed=speed, bend=bend, after=between * ulp: (
            speed * (t - beside - after) * (1 + bend * (t - beside - after))))
        assert abs(path.locate(begun, begun + 1.0) - beside - between * ulp) <= 10 * ulp


def noise(t):
    """Between -1 and 1, another one at every time."""
    return 2 * np.random.default_rng(np.float64(t).view(np.uint64)).random() - 1


@pytest.mark.parametrize("zero", ZEROS)
@pytest.mark.parametrize("size", [1e-15, 1e-14, 1e-13, 1e-12])
@pytest.mark.parametrize("speed", [1e-6, 1.0, 1e6])
def test_a_guard_is_searched_for_no_longer_than_its_own_round_off_lets_it_be_known(size, zero, speed):
    terms = speed * size / numerics.GUARD_TERMS
    path = Path(lambda t: speed * (np.expm1(t - zero) + size / 4 * noise(t)), terms=terms, resolution=speed * size)
    assert path.locate() == pytest.approx(zero, abs=2 * size)
    assert len(path.times) <= 10


@pytest.mark.parametrize("zero", [0.5001, 0.5678, 0.6249])
@pytest.mark.parametrize("size", [1e-14, 1e-13, 1e-12, 1e-11])
@pytest.mark.parametrize("speed", [1e-6, 1.0, 1e6])
def test_nor_than_the_round_off_of_its_variables_lets_it_be_known(size, zero, speed):
    path = Path(lambda t: speed * (np.expm1(t - zero) + size / 4 * noise(t)), terms=speed, resolution=speed * size)
    path.ws.noise[:] = size
    assert path.locate() == pytest.approx(zero, abs=5 * size)
    assert len(path.times) <= 10


@pytest.mark.parametrize("late", [0.0, 1024.0])
@pytest.mark.parametrize("power", [3, 5])
@pytest.mark.parametrize("zero", [0.5123, 0.5678])
def test_large_terms_excuse_no_more_than_the_billionth_part_of_a_step(zero, power, late):
    """Of a guard that flattens towards its zero, so that corrections become small slowly."""
    path = Path(lambda t: (t - late - zero) ** power, terms=1e30, resolution=1e-30)
    found = path.locate(late + BEGUN, late + END) - late
    assert found == pytest.approx(zero, abs=40 * numerics.NOISY_LOCATION * (END - BEGUN))


@pytest.mark.parametrize("far", [1.0, 2.0, 1e-3, 100.0])
@pytest.mark.parametrize("at", [0.5678, 0.51, 0.625])
def test_a_guard_that_jumps_over_zero_is_refused_as_soon_as_there_is_no_time_between(at, far):
    path = Path(lambda t: -1.0 if t < at else far)
    with pytest.raises(EventError, match=rf"G cannot be located: it jumps from -1 to {far:.4g}") as caught:
        path.locate()
    assert caught.value.t == at
    assert len(path.times) <= 100


def test_a_jump_that_is_round_off_is_a_crossing_at_its_far_side():
    path = Path(lambda t: -1e-14 if t < 0.5678 else 1e-14, resolution=1e-13)
    assert path.locate() == 0.5678
    assert path.gamma[0] > 0


def test_a_method_that_ends_its_step_at_a_zero_is_given_where_a_straight_line_leads_and_taken_at_its_word():
    given = []

    def by_itself(t, guard, low, high, side):
        given.append((t, path.ws.X[0], low, high, side, guard()))
        assert [(end.t, end.gamma, end.X[0]) for end in guard.ends] == [(at, 0.6 - at, at) for at in (low, high)]
        return 0.5432

    path = Path(lambda t: 0.6 - t, by_itself=by_itself, terms=2.0)
    assert path.locate() == 0.5432
    ((t, X, *bracket, (value, columns, gradient, _)),) = given
    assert t == X == pytest.approx(0.6, rel=1e-15)
    assert bracket == [BEGUN, END, -1.0]
    assert (value, list(columns), list(gradient)) == (0.6 - END, [0], [2.0 / X])
    assert path.times == []


# At the start ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [0.0, 1e-17, 1e-12])
def test_a_guard_that_begins_at_zero_and_goes_across_crosses_where_it_begins(before):
    path = Path(lambda t: before + (t - BEGUN), rate=1.0)
    assert path.locate() == BEGUN
    assert len(path.times) == 1


@pytest.mark.parametrize("before", [-1e-17, -1e-12])
def test_a_guard_that_begins_short_of_zero_by_round_off_and_goes_across_crosses_there(before):
    path = Path(lambda t: before + (t - BEGUN), rate=1.0, resolution=1e-15)
    assert path.locate() == pytest.approx(BEGUN, abs=2e-12)
    assert abs(path.gamma[0]) <= 4e-16
    assert len(path.times) <= 6


@pytest.mark.parametrize("before", [-1e-13, -1e-16, 0.0, 1e-16, 1e-13])
@pytest.mark.parametrize("back", [0.5001, 0.56, 0.6249, 0.6249999])
def test_a_guard_that_begins_at_zero_and_comes_back_crosses_there_and_not_where_it_began(back, before):
    path = Path(lambda t: before + (t - BEGUN) * (t - back), rate=BEGUN - back)
    assert path.locate() == pytest.approx(back, abs=5e-9)
    assert len(path.times) <= 40


@pytest.mark.parametrize("back", [0.5001, 0.56, 0.6249])
def test_a_rate_that_is_round_off_does_not_say_to_which_side_a_guard_leaves(back):
    """Of one that is pressed against zero: its rate is zero, and its sign that of what arithmetic leaves of it."""
    after = (END - BEGUN) ** 2 * (END - back)
    path = Path(lambda t: (t - BEGUN) ** 2 * (t - back), rate=numerics.TOUCHING / 2 * after / (END - BEGUN))
    assert path.locate() == pytest.approx(back, abs=1e-11)


def test_a_guard_that_departs_without_speed_crosses_where_it_begins():
    path = Path(lambda t: (t - BEGUN) ** 2, rate=0.0)
    assert path.locate() == BEGUN
    assert len(path.times) <= 62


def test_of_a_guard_that_stays_where_it_is_no_side_is_looked_for():
    path = Path(lambda t: 0.0 if t == BEGUN else 1.0, rate=0.0)
    assert path.locate() == BEGUN
    assert len(path.times) == 2


# Where there is no solution ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zero", "gap"), [(0.505, (0.51, 0.58)), (0.505, (0.506, 0.624)), (0.53, (0.54, 0.58)),
                                           (0.53, (0.535, 0.595)), (0.5001, (0.51, 0.52))])
def test_before_times_without_a_solution_a_crossing_is_found(zero, gap):
    path = Path(lambda t: np.tanh(50 * (t - zero)), unsolved=lambda t: gap[0] < t < gap[1])
    assert path.locate() == pytest.approx(zero, rel=1e-13)
    assert len(path.times) <= 20


def test_where_no_solution_leads_to_a_crossing_the_search_ends_with_that_error():
    path = Path(lambda t: t - 0.6, unsolved=lambda t: 0.51 < t < 0.61)
    with pytest.raises(ConvergenceError, match="no solution"):
        path.locate()
    assert len(path.times) <= 200


def test_where_a_step_has_a_solution_nowhere_the_search_ends_with_that_error():
    path = Path(lambda t: t - 0.5678, unsolved=lambda t: BEGUN < t < END)
    with pytest.raises(ConvergenceError, match="no solution"):
        path.locate()
    assert 3 <= len(path.times) <= 20
    nearer = np.diff(np.array(path.times) - BEGUN)
    assert (nearer < 0).all()
