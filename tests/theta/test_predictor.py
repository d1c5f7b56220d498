"""Extrapolation of a path: exact for the polynomials it is made of, compiled or not."""

import numpy as np
import pytest
from devices_for_tests import SMALL, registered

import gridcore as gc
from gridcore.equations.native import FALLBACK, compiler
from gridcore_theta.predictor import Predictor


@pytest.fixture(params=["compiled", "numpy"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Predictor:
    with registered(*SMALL):
        if request.param == "numpy":
            monkeypatch.setattr(compiler, "compiler_path", lambda: None)
        ws = gc.build("smib").workspace()
    if request.param == "compiled" and ws.runtime is FALLBACK:
        pytest.skip("no C compiler")
    return Predictor(ws)


@pytest.mark.parametrize("degree", range(5))
def test_a_polynomial_of_third_degree_is_continued_exactly_after_three_steps(path: Predictor, degree: int) -> None:
    t, exact = 1.0, np.random.default_rng(0).normal(size=(degree + 1, path.ws.n))

    def at(t: float) -> np.ndarray:
        return np.polynomial.polynomial.polyval(t, exact)

    path.ws.X[:] = at(t)
    errors = []
    for h in (0.1, 0.07, 0.2, 0.11, 0.05):
        start = path.ws.X.copy()
        path.begin(t + h, h, theta=1.0)
        np.testing.assert_array_equal(path.X0, start)
        errors.append(np.abs(path.ws.X - at(t + h)).max())
        t += h
        path.ws.X[:] = at(t)
        path.end(h)
    assert (np.array(errors[min(degree, 3):]) < 1e-14).all() == (degree < 4)
    assert degree == 0 or errors[0] > 1e-4


def test_what_is_forgotten_is_not_continued(path: Predictor) -> None:
    path.ws.X[:] = 1.0
    path.end(0.1)
    path.forget()
    before = path.ws.X.copy()
    path.begin(0.1, 0.1, theta=0.5)
    np.testing.assert_array_equal(path.ws.X, before)
    assert path.ws.Z[-1] == 0.1
    path.ws.Z[-1] = 0.0
    np.testing.assert_array_equal(path.f0, path.ws.rhs())


def test_equations_are_those_of_the_theta_method(path: Predictor) -> None:
    rng, ws, h, theta = np.random.default_rng(1), path.ws, 0.3, 0.6
    path.X0[:], path.f0[:] = rng.normal(size=(2, ws.n))
    ws.mass[:] = rng.integers(0, 2, ws.n)
    path.equations(h, theta)
    F, x = ws.rhs(), ws.X
    step = x - path.X0 - h * ((1 - theta) * path.f0 + theta * F)
    np.testing.assert_allclose(-ws.R, np.where(ws.mass, step, F), rtol=1e-13, atol=1e-15)
