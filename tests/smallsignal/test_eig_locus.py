"""Root locus and damping map: modes keep their identity while parameters change."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, GridcoreError
from gridcore_smallsignal.locus import apart
from gridcore_smallsignal.tracking import follow, match


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9")


@pytest.fixture(scope="module")
def locus(system):
    return gc.analyses.root_locus(system, "GEN2.P0", np.linspace(0.5, 2.4, 6))


def test_each_point_has_the_eigenvalues_of_a_case_built_with_that_value(locus):
    for value, found in zip(locus.values[0], locus.eigenvalues, strict=True):
        case = gc.load_case("wscc9")
        case.set("GEN2.P0", float(value))
        modes = gc.analyses.small_signal(gc.build(case))
        expected = modes.eigenvalues[[k for k in modes.pairs() if not modes.labels[k]]]
        np.testing.assert_allclose(np.sort(np.abs(found.imag)), np.sort(expected.imag), atol=1e-8)
        np.testing.assert_allclose(np.sort(found.real), np.sort(expected.real), atol=1e-8)


def test_values_may_have_units(system):
    plain, told = (gc.analyses.root_locus(system, "EXC1.TA", values) for values in ([0.1, 0.2], ["100 ms", "0.2 s"]))
    assert np.array_equal(plain.values[0], told.values[0])
    grid = {"EXC1.TA": ["100 ms", 0.2], "EXC1.KA": [10.0, 20.0]}
    assert gc.analyses.damping_map(system, grid).values[0].tolist() == [0.1, 0.2]


def test_modes_are_followed_not_sorted(system, locus):
    """With points close together each mode goes to the nearest; with few, it arrives at the same place."""
    fine = gc.analyses.root_locus(system, "GEN2.P0", np.linspace(0.5, 2.4, 96))
    steps = np.abs(np.diff(fine.eigenvalues, axis=0)).max()
    assert steps < 0.6
    np.testing.assert_allclose(fine.eigenvalues[::19], locus.eigenvalues, atol=1e-8)


def test_slope_of_a_locus_is_the_sensitivity(system):
    value, h = 1.63, 1e-3
    locus = gc.analyses.root_locus(system, "GEN2.P0", [value - h, value, value + h])
    modes = gc.analyses.small_signal(system)
    numbers = [modes.nearest(v) for v in locus.eigenvalues[1]]
    slopes = (locus.eigenvalues[2] - locus.eigenvalues[0]) / (2 * h)
    np.testing.assert_allclose(modes.sensitivities("GEN2.P0", numbers)["eigenvalue"].values[:, 0], slopes, atol=2e-4)


def test_a_pattern_varies_all_that_it_matches_together(system):
    values = [20.0, 30.0]
    locus = gc.analyses.root_locus("wscc9", ("EXC*", "KA"), values, [0, 2])
    for value, found in zip(values, locus.eigenvalues, strict=True):
        modes = gc.analyses.small_signal(system.with_values({f"EXC{k}.KA": value for k in (1, 2, 3)}))
        assert np.abs(modes.eigenvalues[:, None] - found).min(axis=0).max() < 1e-9
    assert locus.parameters == ["EXC*.KA"]


def test_back_and_forth_is_the_identity(system):
    def at(point):
        return gc.analyses.small_signal(system.with_values({"GEN2.P0": float(point[0])}))

    ends = [np.array([0.5]), np.array([2.4])]
    first, last = map(at, ends)
    numbers = [k for k in first.pairs() if not first.labels[k]]
    there, _ = follow(at, ends[0], first, numbers, ends[1], last)
    back, _ = follow(at, ends[1], last, there, ends[0], first)
    assert back == numbers
    assert len(set(there)) == len(there)


def test_a_mode_agrees_with_itself(system):
    modes = gc.analyses.small_signal(system)
    numbers = list(range(len(modes)))
    found, agreement = match(modes, numbers, modes)
    assert found == numbers
    np.testing.assert_allclose(agreement, 1.0, atol=1e-6)


def test_chosen_modes_only(system):
    locus = gc.analyses.root_locus(system, "EXC1.KA", [15, 20, 25], modes=[0, 2])
    assert locus.eigenvalues.shape == (3, 2)
    assert locus.dominant[0].startswith("GEN2.")
    data = locus.to_xarray()
    assert data["damping_ratio"].dims == ("EXC1.KA", "mode")
    np.testing.assert_array_equal(data["real"] + 1j * data["imag"], locus.eigenvalues)
    assert "EXC1.KA from 15 to 25" in repr(locus)


def test_damping_map_has_the_loci_as_its_rows_and_columns(system):
    x, y = [0.8, 1.2, 1.6], [15.0, 20.0, 30.0]
    made = gc.analyses.damping_map(system, {"GEN2.P0": x, "EXC2.KA": y})
    assert made.eigenvalues.shape[:2] == (3, 3)
    row = gc.analyses.root_locus(system.with_values({"GEN2.P0": 1.2}), "EXC2.KA", y)
    column = gc.analyses.root_locus(system.with_values({"EXC2.KA": 20.0}), "GEN2.P0", x)
    np.testing.assert_allclose(made.least()[1], row.least(), atol=1e-9)
    np.testing.assert_allclose(made.least()[:, 1], column.least(), atol=1e-9)
    apart = [k for k, v in enumerate(made.eigenvalues[1, 1]) if np.sort(np.abs(made.eigenvalues[1, 1] - v))[1] > 0.15]
    assert len(apart) > 6
    for k in apart:  # the same mode stands in the same place everywhere (of modes that meet, that depends on the path)
        for followed, alone in ((made.eigenvalues[1, :, k], row), (made.eigenvalues[:, 1, k], column)):
            assert np.abs(alone.eigenvalues - followed[:, None]).max(axis=0).min() < 1e-8


def test_a_band_leaves_other_modes_out(system):
    made = gc.analyses.root_locus(system, "EXC1.KA", [20, 25])
    narrow = made.least((1.9, 2.2))
    assert (narrow > made.least()).all()
    assert np.isnan(made.least((50.0, 60.0))).all()
    for wrong in ((3.0, 0.5), (-1.0, 2.0), (0.1, np.nan)):
        with pytest.raises(CaseError, match="two frequencies, at least 0, the lower one first"):
            made.least(wrong)


def test_where_there_is_no_equilibrium_a_locus_stops_and_a_map_has_a_hole(system):
    with pytest.raises(GridcoreError, match=r"GEN2.P0 = 50: .*power flow"):
        gc.analyses.root_locus(system, "GEN2.P0", [1.0, 50.0])
    made = gc.analyses.damping_map(system, {"GEN2.P0": [1.0, 50.0], "EXC1.KA": [20.0, 25.0]})
    assert np.isnan(made.least()[1]).all()
    assert np.isfinite(made.least()[0]).all()
    assert set(made.failures) == {(1, 0), (1, 1)}


def at_points(system, locus):
    """The modes at each point of a locus, found by themselves."""
    for index in np.ndindex(locus.eigenvalues.shape[:-1]):
        values = {name: of[i] for name, of, i in zip(locus.parameters, locus.values, index)}
        yield index, gc.analyses.small_signal(system.with_values(values))


@pytest.mark.parametrize(("case", "values", "modes"), [
    ("smib", {"GEN1.P0": [0.9, 1.5, 1.86]}, None),
    ("smib", {"GEN1.P0": [0.9, 1.5, 1.86], "GEN1.D": [0.0, 2.0]}, None),
    ("wscc9", {"GEN2.P0": [1.0, 1.6], "EXC2.KA": [20.0, 60.0]}, [2]),
    ("wscc9", {"EXC2.TA": [0.0, 0.1, 0.2], "EXC2.KA": [10.0, 60.0]}, None),
    ("wscc9", {"EXC2.TA": [0.1, 0.0, 0.2], "EXC2.KA": [10.0, 60.0]}, [0]),
    ("ieee39", {"GEN*.H": [20.0, 30.0, 50.0]}, None)])
def test_the_least_damping_is_that_of_all_modes_of_a_point(case, values, modes):
    system = gc.build(case)
    made = (gc.analyses.damping_map(system, values, modes) if len(values) == 2 else
            gc.analyses.root_locus(system, *next(iter(values.items())), modes))
    for index, here in at_points(system, made):
        assert made.least()[index] == np.nanmin(here.damping_ratio)
        if modes is None:  # and each mode, or its conjugate, stands in some column
            columns = made.eigenvalues[index]
            both = np.concatenate([columns, columns.conj()])
            assert np.isin(here.eigenvalues[here.eigenvalues != 0], both).all()


def test_the_other_one_of_a_pair_that_splits_is_followed_too():
    whole = gc.analyses.root_locus("smib", "GEN1.P0", [0.9, 1.86])
    assert whole.eigenvalues[0, 1] == whole.eigenvalues[0, 0].conj()
    np.testing.assert_allclose(np.sort(whole.eigenvalues[1]), [-3.98, 3.98], atol=0.01)
    chosen = gc.analyses.root_locus("smib", "GEN1.P0", [0.9, 1.86], [0])
    assert np.array_equal(chosen.eigenvalues, whole.eigenvalues)
    assert gc.analyses.root_locus("smib", "GEN1.P0", [0.9, 1.5]).eigenvalues.shape == (2, 1)


def test_a_zero_is_followed_where_it_moves_and_only_there():
    case = gc.load_case("wscc9")
    for k in (1, 2, 3):
        case.set(f"GEN{k}.D", 0.0)
    system = gc.build(case)
    at_rest = gc.analyses.root_locus(system, "EXC1.KA", [20.0, 25.0])
    locus = gc.analyses.root_locus(system, "GEN1.D", [0.0, -0.5, -1.0])
    assert at_rest.eigenvalues.shape == (2, 11)
    assert locus.eigenvalues.shape == (3, 12)
    moving = locus.eigenvalues[:, locus.eigenvalues[0] == 0]
    np.testing.assert_allclose(moving.ravel(), [0, 0.00734, 0.01467], atol=1e-5)
    assert locus.least()[0] > 0
    assert locus.least().tolist()[1:] == [-1, -1]
    back = gc.analyses.root_locus(system, "GEN1.D", [-1.0, -0.5, 0.0])
    assert back.eigenvalues[-1].tolist().count(0) == 1


def test_points_with_the_same_states_are_followed_among_each_other(system):
    gains = [10.0, 35.0, 60.0]
    made = gc.analyses.damping_map(system, {"EXC2.TA": [0.0, 0.1, 0.2], "EXC2.KA": gains})
    assert not made.failures
    there = np.isfinite(made.eigenvalues)
    for row, constant in enumerate((0.0, 0.1)):
        alone = gc.analyses.root_locus(system.with_values({"EXC2.TA": constant}), "EXC2.KA", gains)
        columns = there[row, 0]
        assert (there[row] == columns).all()
        np.testing.assert_allclose(made.eigenvalues[row][:, columns], alone.eigenvalues, atol=1e-9)
        assert [state for state, here in zip(made.dominant, columns) if here] == alone.dominant
    assert np.array_equal(there[1], there[2])
    assert not (there[0] & there[1]).any()


@pytest.mark.parametrize("between", [pytest.param({"GEN2.P0": 50.0}, id="no equilibrium"),
                                     pytest.param({"EXC2.TA": 0.0}, id="other states")])
def test_what_cannot_be_looked_at_between_two_points_leaves_what_they_say_of_each_other(system, between):
    def at(point):
        return gc.analyses.small_signal(system.with_values(between))

    first, last = (gc.analyses.small_signal(system.with_values({"GEN2.P0": P0, "EXC2.KA": KA}))
                   for P0, KA in ((0.5, 1.0), (2.4, 200.0)))
    numbers = first.pairs()
    direct, agreement = match(first, numbers, last)
    assert agreement.min() < 0.7
    found, told = follow(at, np.zeros(1), first, numbers, np.ones(1), last)
    assert found == direct
    assert np.array_equal(told, agreement)


def test_a_mode_that_is_not_found_any_more_is_not_another_one_from_there_on(system):
    whole, part = gc.analyses.small_signal(system), gc.analyses.small_signal(system, method="sparse", count=3)
    there, agreement = match(whole, range(len(whole)), part)
    lost = np.array(there) < 0
    assert lost.sum() == len(whole) - len(part)
    assert np.array_equal(np.isnan(agreement), lost)
    np.testing.assert_allclose(agreement[~lost], 1.0, atol=1e-6)
    back, _ = match(part, there, whole)
    assert [k for k in back if k >= 0] == np.flatnonzero(~lost).tolist()
    assert np.array_equal(np.array(back) < 0, lost)


def test_columns_that_say_nothing_more_are_left_out():
    pair, lost = np.array([-1 + 2j, -1 + 3j, -2 + 1j]), np.array([-3 + 1j, -3 + 2j, np.nan])
    split, other = np.array([-1 + 1j, -1, -2]), np.array([-1 - 1j, -1.5, -3])
    real = np.array([-1.0, -2.0, -3.0])
    zero, moving = np.zeros(3), np.array([0.0, 0.0, 0.1])
    columns = [pair, pair.conj(), lost, lost.conj(), split, other, real, real, zero, moving]
    assert apart(np.array(columns).T, 0) == [0, 2, 4, 5, 6, 7, 9]
    assert apart(np.array([zero, pair.conj(), pair]).T, 2) == [0, 1]


@pytest.mark.parametrize("names", [("GEN2.P0", "GEN*.P0"), ("GEN2.P0", ("GEN2", "P0")), ("GEN?.P0", "*2.P0")])
def test_a_parameter_on_both_axes_is_refused(system, names):
    with pytest.raises(CaseError, match=r"GEN2\.P0 is varied twice"):
        gc.analyses.damping_map(system, {name: [1.0, 1.2] for name in names})


def test_what_makes_no_sense_is_refused(system):
    with pytest.raises(CaseError, match="at least two finite values"):
        gc.analyses.root_locus(system, "EXC1.KA", [20])
    with pytest.raises(CaseError, match=r"no parameter 'KAA'.*did you mean KA"):
        gc.analyses.root_locus(system, "EXC1.KAA", [20, 30])
    with pytest.raises(CaseError, match="no device 'EXC9'"):
        gc.analyses.root_locus(system, "EXC9.KA", [20, 30])
    with pytest.raises(CaseError, match=r"\('EXC1\.KA', 'GEN2\.H'\) must be a table: \{'GEN2\.H': "):
        gc.analyses.damping_map(system, ("EXC1.KA", "GEN2.H"))
    with pytest.raises(CaseError, match=r"2 parameters expected, got EXC1\.KA"):
        gc.analyses.damping_map(system, {"EXC1.KA": [20, 30]})
    with pytest.raises(GridcoreError, match=r"states are not the same any more \(GEN2.Edp\)"):
        gc.analyses.root_locus(system, "GEN2.Tq0p", [0.5, 0.0])


def test_a_locus_of_several_names_is_refused_in_words():
    with pytest.raises(CaseError, match=r"1 parameter expected, got GEN2.H, GEN1.H"):
        gc.analyses.root_locus("wscc9", ["GEN2.H", "GEN1.H"], [5.0, 6.0])
