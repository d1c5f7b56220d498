"""Extrapolation of a path: exact for the polynomials it is made of, compiled or not."""

import numpy as np
import pytest
from devices_for_tests import SMALL, registered

import gridcore as gc
from gridcore.equations import Workspace
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


@pytest.mark.parametrize("degree", range(5))
def test_a_polynomial_of_third_degree_is_bent_exactly_off_its_chord(path: Predictor, degree: int) -> None:
    t, exact = 1.0, np.random.default_rng(1).normal(size=(degree + 1, path.ws.n))

    def at(t: float) -> np.ndarray:
        return np.polynomial.polynomial.polyval(t, exact)

    for h in (0.1, 0.07, 0.2):
        path.X0[:], path.ws.X[:] = at(t), at(t + h)
        path.end(h)
        t += h
    for low, h, high in ((0.0, 0.04, 0.13), (0.02, 0.1, 0.11)):
        part = (h - low) / (high - low)
        path.ws.X[:] = chord = (1 - part) * at(t + low) + part * at(t + high)
        path.bend(low, h, high)
        assert (np.abs(path.ws.X - at(t + h)).max() < 1e-14) == (degree < 4)
        assert degree < 2 or np.abs(chord - at(t + h)).max() > 1e-5


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


@pytest.mark.parametrize("theta", [0.5, 0.7, 1.0])
def test_each_step_begins_with_the_right_hand_side_of_its_own_start(path: Predictor, theta: float) -> None:
    """However many were before it."""
    rng, ws, h = np.random.default_rng(3), path.ws, 0.1
    ws.mass[:] = rng.integers(0, 2, ws.n)
    for _ in range(6):
        ws.X[:] = start = rng.normal(size=ws.n)
        rate = ws.rhs().copy()
        path.begin(ws.Z[-1] + h, h, theta)
        found, F = -ws.R.copy(), ws.rhs()
        step = ws.X - start - h * ((1 - theta) * rate + theta * F)
        np.testing.assert_allclose(found, np.where(ws.mass, step, F), rtol=1e-12, atol=1e-13)
        path.end(h)


def test_compiled_loops_ask_for_no_equations_in_python(path: Predictor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large system each call costs little beside the equations, of a small one more than they."""
    asked = []
    for name in ("rhs", "residual"):
        monkeypatch.setattr(Workspace, name, lambda ws: asked.append(ws) or np.zeros(ws.n))
    path.begin(0.1, 0.1, theta=0.5)
    path.equations(0.1, theta=0.5)
    assert bool(asked) == (path.ws.runtime is FALLBACK)


@pytest.mark.parametrize("theta", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("made", [0, 1, 2, 3, 5])
def test_an_error_is_that_of_a_path_that_began_at_the_last_start(path: Predictor, theta: float, made: int) -> None:
    """Whatever was before that; with fewer steps behind than it needs, too."""
    rng, fresh = np.random.default_rng(2), Predictor(path.ws)
    before, after = rng.normal(size=(4, path.ws.n)), rng.normal(size=(made + 1, path.ws.n))
    found = []
    for history, which in ((before, path), (before[:0], fresh)):
        for part in (history, after):
            which.forget()
            path.ws.X[:], t = 0.1, 0.0
            for number, x in enumerate(part):
                h = 0.1 * 1.1**number
                which.begin(t + h, h, theta)
                path.ws.X[:], t = x, t + h
                if part is before or number < made:
                    which.end(h)
        found.append(which.local_error(h, theta))
    np.testing.assert_array_equal(*found)
    assert np.abs(found[0]).max() > 0


def test_an_error_is_known_with_two_steps_behind(path: Predictor) -> None:
    known = []
    for _ in range(5):
        known.append(path.knows)
        path.begin(0.1, 0.1, theta=0.5)
        path.end(0.1)
    assert known == [False, False, True, True, True]
