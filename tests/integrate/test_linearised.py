"""The points of a tape, linearised."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from devices_for_tests import registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.integrate import Linearised
from gridcore.linear import SingularMatrix


@pytest.fixture(scope="module")
def run():
    return gc.simulate("wscc9", 0.2, 0.01)


def test_factors_keep_their_pivots_unseen_only_for_steps_of_one_length_under_the_same_modes(run):
    points, alike = Linearised(run.system, run.tape, []), []
    factors = SimpleNamespace(refactor=lambda values, hint: alike.append(hint), made_for=(-1, 0.0))
    before, later = points.point(3), points.point(4)
    after = points.point(len(run.t) - 1)
    assert before.settings == later.settings < after.settings
    one, same, other = (points.coefficients(before, h) for h in (0.005, 0.005 * (1 + 1e-6), 0.006))
    for point, of in ((before, one), (later, one), (later, same), (later, other), (after, other), (before, other)):
        points.refactor(factors, point, of)
    assert alike == [False, True, True, False, False, False]


def test_the_slope_of_a_point_is_that_of_all_variables_with_time():
    class Driven(Device):
        x0 = Param("", 0.3)
        x = State("", start_at="x0")
        y = Algebraic("", equals=lambda s: np.sin(3 * s.time) + 2 * s.x)

        def rates(s):
            return s.y - s.x

    with registered(Driven):
        run = gc.simulate(system(Driven(id="D")), 1.0, 0.1)
    points = Linearised(run.system, run.tape, [])
    for k in (0, 4, 10):
        x, y, t = run["D", "x"][k], run["D", "y"][k], run.t[k]
        found = dict(zip((name for _, name in run.system.variables), points.slope(k)))
        assert found == pytest.approx({"x": y - x, "y": 3 * np.cos(3 * t) + 2 * (y - x)}, rel=1e-12)


def test_a_singular_matrix_is_told_with_place_and_time(run):
    points = Linearised(run.system, run.tape, [])

    def refuse(values, hint):
        raise SingularMatrix(5)

    point = points.point(7)
    with pytest.raises(gc.errors.ConvergenceError, match="the linearised equations are singular") as error:
        points.refactor(SimpleNamespace(refactor=refuse, made_for=(-1, 0.0)), point, points.coefficients(point, 0.005))
    assert error.value.t == run.t[7]
    assert error.value.place == run.system.layout.label(5)
