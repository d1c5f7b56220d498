"""What samples tell of parameters: laws of the scaled sensitivities, and words for what they do not tell."""

from __future__ import annotations

import numpy as np
import pytest
from fabrication import fabricated, smib
from hypothesis import given
from hypothesis import strategies as st

import gridcore as gc
from gridcore_estimation import Identifiability, Unidentifiable

RANDOM = np.random.default_rng(3)
NAMES = ["a", "b", "c", "d"]
S = RANDOM.standard_normal((30, 4)) * [1.0, 10.0, 0.1, 3.0]


def of(S, names=NAMES, scale=None):
    return Identifiability(names[: S.shape[1]], S, np.ones(S.shape[1]) if scale is None else np.asarray(scale, float))


def test_orthogonal_columns_have_a_collinearity_of_one_whatever_their_size():
    Q = np.linalg.qr(S)[0] * [1.0, 1e3, 1e-3, 7.0]
    assert of(Q).collinearity == pytest.approx(1.0, rel=1e-12)
    assert of(Q).order.tolist() == [1, 3, 0, 2]


@given(st.floats(1e-4, 1.4))
def test_two_columns_at_an_angle_have_the_index_of_brun(angle):
    """The smaller eigenvalue of their normalised product is ``1 - cos``."""
    pair = np.array([[1.0, np.cos(angle)], [0.0, np.sin(angle)]]) * [3.0, 0.2]
    assert of(pair).collinearity == pytest.approx((1 - np.cos(angle)) ** -0.5, rel=1e-6)


@given(st.integers(0, 3), st.floats(1e-3, 1e3))
def test_the_index_of_a_set_is_at_least_that_of_its_parts_and_does_not_see_scales(k, factor):
    part = [name for j, name in enumerate(NAMES) if j != k]
    scaled = S.copy()
    scaled[:, k] *= factor
    whole = of(scaled)
    assert whole.collinearity_of(part) <= whole.collinearity * (1 + 1e-12)
    assert whole.collinearity == pytest.approx(of(S).collinearity, rel=1e-9)


def test_singular_values_and_directions_take_S_apart():
    found = of(S)
    np.testing.assert_allclose(S.T @ S, found.directions.T @ np.diag(found.singular_values**2) @ found.directions,
                               atol=1e-10)
    np.testing.assert_allclose(found.importance, np.sqrt((S**2).mean(axis=0)))


def test_a_column_of_zeros_and_a_combination_of_columns_are_named():
    dependent = np.column_stack([S[:, 0], S[:, 1], 2 * S[:, 0] - 0.5 * S[:, 1], np.zeros(30)])
    found = of(dependent, scale=[1.0, 10.0, 1.0, 1.0])
    told = found.unidentifiable()
    assert told[0] == "d moves no sample"
    assert "a by" in told[1]
    assert "b by" in told[1]
    assert "c by" in told[1]
    with pytest.raises(Unidentifiable, match=r"d moves no sample; changing .* together moves no sample"):
        found.require()
    assert len(found.subset()) == 2
    assert "d" not in found.subset()


def test_the_direction_that_is_named_moves_no_sample():
    dependent = np.column_stack([S[:, 0], S[:, 1], 2 * S[:, 0] - 0.5 * S[:, 1]])
    scale = np.array([1.0, 10.0, 0.3])
    told = of(dependent, scale=scale).unidentifiable()[0]
    text = told.removeprefix("changing ").removesuffix(" together moves no sample")
    change = {name: float(amount) for name, amount in (part.split(" by ") for part in text.split(", "))}
    moved = sum(dependent[:, j] / scale[j] * change[name] for j, name in enumerate("abc"))
    assert np.abs(moved).max() < 1e-3 * np.abs(dependent).max()


def test_fewer_samples_than_parameters_never_determine_them():
    found = of(S[:2])
    assert found.collinearity == np.inf
    assert len(found.unidentifiable()) == 2
    assert len(found.subset(1e9)) == 2


def test_of_a_system_the_values_of_the_data_play_no_part():
    wrt = ["GEN1.H", "CCT1.x", "CCT2.x"]
    one, other = (gc.analyses.identifiability(smib(), data, wrt)
                  for data in (fabricated(smib()), fabricated(smib(), noise=0.5)))
    assert np.array_equal(one.S, other.S)
    assert one.table().columns["parameter"][0] == wrt[one.order[0]]


def test_inertia_and_frequency_base_are_one_to_the_speed_of_a_machine():
    """Of a fault that is cleared later, only the later time is seen once it is over."""
    data = fabricated(smib(), channels=["GEN1.omega"])
    found = gc.analyses.identifiability(smib(), data, ["GEN1.H", "BUS2.kv"])
    assert found.unidentifiable() == ["BUS2.kv moves no sample"]
    assert found.subset() == ["GEN1.H"]


def test_a_parameter_that_moves_samples_by_round_off_alone_is_not_determined_by_them():
    """Before the fault nothing moves, whatever the inertia."""
    data = fabricated(smib(), times=np.arange(0.0, 0.1, 0.01))
    found = gc.analyses.identifiability(smib(), data, ["GEN1.H"])
    assert 0 < found.importance[0] < 1e-13  # there is some, or this shows nothing
    assert found.unidentifiable() == ["GEN1.H moves no sample"]
    assert found.subset() == []
    with pytest.raises(Unidentifiable, match=r"do not determine the parameters: GEN1\.H moves no sample"):
        gc.analyses.estimate(smib(), data, ["GEN1.H"])
    assert gc.analyses.identifiability(smib(), data, ["GEN1.H", "CCT1.x"]).subset() == ["CCT1.x"]


def test_a_case_and_its_name_stand_for_its_system():
    data = fabricated(gc.build("smib"))
    of_system, of_case, of_name = (gc.analyses.identifiability(study, data, "GEN1.[HD]").singular_values
                                   for study in (gc.build("smib"), gc.load_case("smib"), "smib"))
    assert np.array_equal(of_system, of_case)
    assert np.array_equal(of_system, of_name)
