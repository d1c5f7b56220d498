"""Extrapolation of a path: exact for the polynomials it is made of, compiled or not."""

import numpy as np
import pytest
from devices_for_tests import SMALL, registered

import gridcore as gc
from gridcore.integrate.path import Path


@pytest.fixture(params=["compiled", "numpy"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    with registered(*SMALL):
        assembly = gc.build("smib").assembly
    if request.param == "numpy":
        monkeypatch.setattr(assembly, "runtime", None)
    elif assembly.runtime is None:
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


def test_base_is_what_a_step_knows_of_its_start(path: Path) -> None:
    rng, assembly = np.random.default_rng(1), path.assembly
    path.X0[:], path.f0[:] = rng.normal(size=(2, assembly.n))
    assembly.mass[:] = rng.integers(0, 2, assembly.n)
    path.base(0.3)
    np.testing.assert_allclose(assembly.base, assembly.mass * (path.X0 + 0.3 * path.f0), rtol=1e-15)
