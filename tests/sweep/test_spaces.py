"""Parameters varied on grids and lists, and drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import gridcore as gc
from gridcore.case import validate
from gridcore_sweep.scenarios import product
from gridcore_sweep.spaces import Space, draws, grid, rows

SPACE = Space(validate(gc.load_case("wscc9")))
LOADS = {"LOAD*.P0": {"distribution": "norm", "loc": 1.0, "scale": 0.1, "relative": True}}


def column(scenarios, address):
    return np.array([s.values[address] for s in scenarios])


def test_a_grid_is_every_combination():
    made = product(*grid(SPACE, {"GEN2.H": [5, 6], "fault.clear": ["150 ms", 0.2, 0.25]}))
    assert [tuple(s.values.values()) for s in made] == [
        (5, "150 ms"), (5, 0.2), (5, 0.25), (6, "150 ms"), (6, 0.2), (6, 0.25)]
    assert made[0].name == "GEN2.H = 5, fault.clear = 150 ms"


def test_a_range_has_both_ends_and_factors_are_of_the_cases_own_values():
    [made] = grid(SPACE, {"GEN*.H": {"from": 0.5, "to": 1.5, "count": 3, "relative": True}})
    assert np.allclose(column(made, "GEN2.H"), [3.2, 6.4, 9.6])
    assert np.allclose(column(made, "GEN1.H"), [11.82, 23.64, 35.46])
    assert [s.labels for s in made] == [{"GEN*.H": f} for f in (0.5, 1.0, 1.5)]


def test_a_range_may_have_a_unit():
    [made] = grid(SPACE, {"fault.clear": {"from": "150 ms", "to": "200ms", "count": 3}})
    assert column(made, "fault.clear").tolist() == ["150.0 ms", "175.0 ms", "200.0 ms"]


def test_words_and_service_are_varied_by_their_full_address():
    [made] = grid(SPACE, {"LINE4-5.status": [0, 1]})
    assert column(made, "LINE4-5.status").tolist() == [0, 1]
    assert grid(SPACE, {"GEN2.control": ["PV", "PQ"]})[0][1].values == {"GEN2.control": "PQ"}


def test_values_may_be_an_array():
    for values in (np.linspace(3, 5, 3), np.array([3, 4, 5])):
        assert [s.values for s in grid(SPACE, {"GEN2.H": values})[0]] == [{"GEN2.H": n} for n in (3, 4, 5)]
    with pytest.raises(gc.errors.CaseError, match=r"vary = 'GEN2\.H' must be a table: \{'GEN2\.H': "):
        grid(SPACE, "GEN2.H")


def test_numbers_of_numpy_are_numbers():
    [made] = grid(SPACE, {"GEN2.H": list(np.array([3, 4]))})
    assert [(type(s.values["GEN2.H"]), s.values["GEN2.H"]) for s in made] == [(int, 3), (int, 4)]
    [one] = rows(SPACE, [{"GEN2.H": np.float32(5.5)}])
    assert type(one.values["GEN2.H"]) is float


def test_rows_are_one_scenario_each():
    made = rows(SPACE, [{"GEN2.H": 5, "LOAD*.k": 0.9}, {"GEN2.H": 6}])
    assert made[0].values == {"GEN2.H": 5, "LOAD5.k": 0.9, "LOAD6.k": 0.9, "LOAD8.k": 0.9}
    assert made[1].name == "row = 2"


@pytest.mark.parametrize("names", [("GEN2.H", "GEN*.H"), ("GEN*.H", "GEN2.H"), ("GEN2.H", ("GEN2", "H"))])
def test_a_row_gives_a_parameter_one_value(names):
    with pytest.raises(gc.errors.CaseError, match=r"row 2: GEN2\.H is given twice"):
        rows(SPACE, [{"GEN2.H": 5}, dict(zip(names, (5, 6), strict=True))])


@pytest.mark.parametrize(("vary", "said"), [
    ({"GEN2.h": [1]}, "no parameter matches 'GEN2.h'; did you mean GEN2.H"),
    ({"GEN2.H": []}, "[] must be a list of values"),
    ({"GEN2.H": 5}, "5 must be a list of values"),
    ({"GEN2.H": "5"}, "'5' must be a list of values"),
    ({"GEN2.H": [5, 5]}, "a value stands twice"),
    ({"GEN2.H": {"from": 1, "to": 2}}, "missing: count"),
    ({"GEN2.H": {"from": 1, "to": 2, "count": 1}}, "count an integer above 1"),
    ({"GEN2.H": {"from": 1, "to": 2, "count": 3, "values": [1]}}, "give values, or from, to and count"),
    ({"GEN2.H": [6, 7, 6.0]}, "a value stands twice"),
    ({"GEN2.H": {"form": 1}}, "unknown field 'form'; did you mean from"),
    ({"GEN2.H": {"values": ["5 s"], "relative": True}}, "factors must be numbers"),
    ({"GEN2.H": {"values": [1], "relative": 1}}, "relative = 1 must be true or false")])
def test_a_grid_that_is_none_is_refused(vary, said):
    with pytest.raises(gc.errors.CaseError) as error:
        grid(SPACE, vary)
    assert said in str(error.value)


def test_what_two_parts_change_is_refused():
    with pytest.raises(gc.errors.CaseError, match=r"GEN2\.H is varied twice"):
        product(*grid(SPACE, {"GEN2.H": [5, 6], "GEN*.H": [7, 8]}))


# Random draws -------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 30))
def test_a_sample_does_not_depend_on_how_many_there_are_nor_on_what_else_is_drawn(seed, few, more):
    few, more = sorted((few, few + more))
    one = draws(SPACE, {"samples": few, "seed": seed, "draw": LOADS})
    other = draws(SPACE, {"samples": more, "seed": seed,
                          "draw": {"GEN2.H": {"distribution": "uniform", "loc": 5, "scale": 2}, **LOADS}})
    for address in ("LOAD5.P0", "LOAD6.P0", "LOAD8.P0"):
        assert np.array_equal(column(one, address), column(other, address)[:few])


@pytest.mark.parametrize("sampling", ["random", "latin hypercube", "sobol"])
@pytest.mark.parametrize(("name", "arguments"), [
    ("norm", {"loc": 6.0, "scale": 0.5}), ("uniform", {"loc": 5.0, "scale": 2.0}),
    ("lognorm", {"s": 0.3, "scale": 6.0}), ("weibull_min", {"c": 2.0, "loc": 4.0}),
    ("truncnorm", {"a": -2.0, "b": 2.0, "loc": 6.0}), ("randint", {"low": 3, "high": 9})])
def test_draws_have_the_distribution_that_they_name(sampling, name, arguments):
    made = draws(SPACE, {"samples": 512, "seed": 7, "sampling": sampling,
                         "draw": {"GEN2.H": {"distribution": name, **arguments}}})
    values = column(made, "GEN2.H")
    if name == "randint":
        assert set(values) == set(range(3, 9))
        assert stats.chisquare([np.sum(values == k) for k in range(3, 9)]).pvalue > 1e-3
    else:
        assert stats.kstest(values, getattr(stats, name)(**arguments).cdf).pvalue > 1e-3


def test_seeds_differ_and_every_address_has_a_stream_of_its_own():
    one, two = (draws(SPACE, {"samples": 200, "seed": seed, "draw": LOADS}) for seed in (1, 2))
    assert not np.array_equal(column(one, "LOAD5.P0"), column(two, "LOAD5.P0"))
    pair = np.corrcoef(column(one, "LOAD5.P0"), column(one, "LOAD6.P0"))[0, 1]
    assert abs(pair) < 4 / np.sqrt(200)


def test_together_is_one_number_for_all():
    made = draws(SPACE, {"samples": 5, "draw": {"LOAD*.P0": {**LOADS["LOAD*.P0"], "together": True}}})
    assert np.allclose(column(made, "LOAD5.P0") / 1.25, column(made, "LOAD8.P0") / 1.0, rtol=1e-14)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_balance_leaves_the_slack_what_it_had(seed):
    made = draws(SPACE, {"samples": 3, "seed": seed, "balance": "GEN*", "draw": LOADS})
    for s in made:
        assert set(s.values) == {"LOAD5.P0", "LOAD6.P0", "LOAD8.P0", "GEN2.P0", "GEN3.P0"}
        more = sum(s.values[f"LOAD{k}.P0"] for k in (5, 6, 8)) - 3.15
        assert s.values["GEN2.P0"] + s.values["GEN3.P0"] - 1.63 - 0.85 == pytest.approx(more, abs=1e-12)
        assert s.values["GEN2.P0"] / s.values["GEN3.P0"] == pytest.approx(1.63 / 0.85)


def test_balance_is_of_what_is_in_service_and_nothing_where_no_power_is_drawn():
    case = gc.load_case("wscc9")
    case.set("LOAD6.status", 0)
    case.set("GEN3.status", 0)
    [made] = draws(Space(validate(case)), {"samples": 1, "balance": "GEN*", "draw": LOADS})
    assert "GEN3.P0" not in made.values
    more = made.values["LOAD5.P0"] + made.values["LOAD8.P0"] - 1.25 - 1.0
    assert made.values["GEN2.P0"] == pytest.approx(1.63 + more, abs=1e-12)
    [made] = draws(SPACE, {"samples": 1, "balance": "GEN*", "draw": {"GEN2.H": LOADS["LOAD*.P0"]}})
    assert (made.values["GEN2.P0"], made.values["GEN3.P0"]) == (1.63, 0.85)


@pytest.mark.parametrize(("spec", "said"), [
    ({"samples": 0, "draw": LOADS}, "samples = 0 must be an integer of at least 1"),
    ({"draw": LOADS}, "samples = None must be"),
    ({"samples": 2, "seed": -1, "draw": LOADS}, "seed = -1 must be"),
    ({"samples": 2, "sample": 2, "draw": LOADS}, "unknown field 'sample'; did you mean samples"),
    ({"samples": 2}, "nothing is drawn"),
    ({"samples": 2, "sampling": "grid", "draw": LOADS}, "sampling = 'grid' must be"),
    ({"samples": 2, "draw": {"GEN2.H": {"distribution": "normal"}}}, "no distribution 'normal'; did you mean"),
    ({"samples": 2, "draw": {"GEN2.H": {"loc": 1}}}, "missing: distribution"),
    ({"samples": 2, "draw": {"GEN2.H": {"distribution": "norm", "sigma": 1}}}, "'norm' has no parameter 'sigma'"),
    ({"samples": 2, "draw": {"GEN2.H": {"distribution": "gamma"}}}, "'gamma' needs a"),
    ({"samples": 2, "draw": {"GEN2.H": {"distribution": "norm", "scale": -1}}}, "'norm' is not defined for scale = -1"),
    ({"samples": 2, "draw": {"GEN2.H": {"distribution": "norm", "scale": "1"}}}, "scale = '1' must be a number"),
    ({"samples": 2, "draw": {"GEN2.X": {"distribution": "norm"}}}, "no parameter matches 'GEN2.X'"),
    ({"samples": 2, "draw": {"GEN2.P0": {"distribution": "norm"}, "GEN*.P0": {"distribution": "norm"}}},
     "GEN2.P0 is drawn twice"),
    ({"samples": 2, "balance": "GEN1", "draw": LOADS}, "none of these sources"),
    ({"samples": 2, "balance": "GEM", "draw": LOADS}, "no source matches 'GEM'")])
def test_draws_that_are_none_are_refused(spec, said):
    with pytest.raises(gc.errors.CaseError) as error:
        draws(SPACE, spec)
    assert said in str(error.value)
