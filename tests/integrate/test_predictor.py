"""Extrapolation of a path: exact for the polynomials it is made of, compiled or not."""

import numpy as np
import pytest
from devices_for_tests import SMALL, registered

import gridcore as gc
from gridcore.equations.native import FALLBACK
from gridcore.integrate.theta.predictor import Path


@pytest.fixture(params=["compiled", "numpy"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    with registered(*SMALL):
        assembly = gc.build("smib").assembly
    if request.param == "numpy":
        assembly.bind(FALLBACK)
    elif assembly.runtime is FALLBACK:
        pytest.skip("no C compiler")
    return Path(assembly)


@pytest.mark.parametrize("degree", range(5))
def test_a_polynomial_of_third_degree_is_continued_exactly_after_three_steps(path: Path, degree: int) -> None:
    t, exact = 1.0, np.random.default_rng(0).normal(size=(degree + 1, path.assembly.n))

    def at(t: float) -> np.ndarray:
        return np.polynomial.polynomial.polyval(t, exact)

    path.assembly.X[:] = at(t)
    errors = []
    for h in (0.1, 0.07, 0.2, 0.11, 0.05):
        start = path.assembly.X.copy()
        path.begin(h, explicit=False)
        np.testing.assert_array_equal(path.X0, start)
        errors.append(np.abs(path.assembly.X - at(t + h)).max())
        t += h
        path.assembly.X[:] = at(t)
        path.end(h)
    assert (np.array(errors[min(degree, 3):]) < 1e-14).all() == (degree < 4)
    assert degree == 0 or errors[0] > 1e-4


def test_what_is_forgotten_is_not_continued(path: Path) -> None:
    path.assembly.X[:] = 1.0
    path.end(0.1)
    path.forget()
    before = path.assembly.X.copy()
    path.begin(0.1, explicit=True)
    np.testing.assert_array_equal(path.assembly.X, before)
    np.testing.assert_array_equal(path.f0, path.assembly.rhs())


def test_equations_are_those_of_the_theta_method(path: Path) -> None:
    rng, assembly, h, theta = np.random.default_rng(1), path.assembly, 0.3, 0.6
    path.X0[:], path.f0[:] = rng.normal(size=(2, assembly.n))
    assembly.mass[:] = rng.integers(0, 2, assembly.n)
    path.equations(h, theta)
    assembly.residual()
    F, x = assembly.rhs(), assembly.X
    step = x - path.X0 - h * ((1 - theta) * path.f0 + theta * F)
    np.testing.assert_allclose(-assembly.R, np.where(assembly.mass, step, F), rtol=1e-13, atol=1e-15)


def test_phi_is_how_the_residual_falls_with_the_length_of_the_step(path: Path) -> None:
    rng, assembly, theta, phi = np.random.default_rng(2), path.assembly, 0.6, np.zeros(path.assembly.n)
    path.X0[:], path.f0[:] = rng.normal(size=(2, assembly.n))
    assembly.mass[:] = rng.integers(0, 2, assembly.n)
    residuals = []
    for h in (0.1, 0.3):  # it is linear in h
        path.equations(h, theta)
        assembly.residual()
        residuals.append(assembly.R.copy())
    path.phi(theta, phi)
    np.testing.assert_allclose((residuals[1] - residuals[0]) / 0.2, phi, rtol=1e-12, atol=1e-13)


def test_a_move_is_measured_against_what_it_leads_to(path: Path) -> None:
    assembly = path.assembly
    u, v = np.random.default_rng(3).normal(size=(2, assembly.n))
    end = assembly.X + u + 0.5 * v
    norm = path.move(u, v, 0.5)
    np.testing.assert_allclose(assembly.X, end, rtol=1e-15, atol=1e-15)
    assert norm == pytest.approx(np.max(np.abs(u + 0.5 * v) / (1 + np.abs(end))), rel=1e-14)
