"""The points of a tape, linearised."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import gridcore as gc
from gridcore.integrate import Linearised
from gridcore.linear import SingularMatrix


@pytest.fixture(scope="module")
def run():
    return gc.simulate("wscc9", 0.2, 0.01)


def test_factors_keep_their_pivots_unseen_only_for_steps_of_one_length_under_the_same_modes(run):
    points, alike = Linearised(run.system, run.tape, []), []
    factors = SimpleNamespace(refactor=lambda values, hint: alike.append(hint))
    before, later = points.point(3), points.point(4)
    after = points.point(len(run.t) - 1)
    assert before.settings == later.settings < after.settings
    one, same, other = (points.coefficients(before, h) for h in (0.005, 0.005 * (1 + 1e-6), 0.006))
    for point, of in ((before, one), (later, one), (later, same), (later, other), (after, other), (before, other)):
        points.refactor(factors, point, of)
    assert alike == [False, True, True, False, False, False]


def test_a_singular_matrix_is_told_with_place_and_time(run):
    points = Linearised(run.system, run.tape, [])

    def refuse(values, hint):
        raise SingularMatrix(5)

    point = points.point(7)
    with pytest.raises(gc.errors.ConvergenceError, match="the linearised equations are singular") as error:
        points.refactor(SimpleNamespace(refactor=refuse), point, points.coefficients(point, 0.005))
    assert error.value.t == run.t[7]
    assert error.value.place == run.system.layout.label(5)
