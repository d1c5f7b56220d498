"""Covariance and whiteness against the simulation of noise, and against what others compute."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.stats import kstest

from gridcore_estimation.losses import LOSSES
from gridcore_estimation.uncertainty import covariance, ljung_box

RANDOM = np.random.default_rng(11)
J = RANDOM.standard_normal((150, 3)) * [1.0, 5.0, 0.2]
TRUE = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize("loss", LOSSES)
@given(z=st.floats(1e-3, 1e3).filter(lambda z: abs(z - 1) > 1e-3))
def test_losses_are_those_of_scipy_and_their_derivatives_are_right(loss, z):
    value, first, second = (part.item() for part in LOSSES[loss](np.array([z])))
    found = least_squares(lambda _: [np.sqrt(z)], [0.0], loss=loss, max_nfev=1, method="trf")
    assert value == pytest.approx(2 * found.cost, rel=1e-9)
    h = 1e-5 * z
    (up, up1, _), (down, down1, _) = (LOSSES[loss](np.array([z + s * h])) for s in (1, -1))
    assert (up - down).item() / (2 * h) == pytest.approx(first, rel=1e-5, abs=1e-9)
    assert (up1 - down1).item() / (2 * h) == pytest.approx(second, rel=1e-5, abs=1e-9)


def fitted(loss, noise):
    d = J @ TRUE + noise
    return least_squares(lambda x: J @ x - d, TRUE, jac=lambda x: J, loss=loss, f_scale=0.05)


@pytest.mark.parametrize(("loss", "absolute"), [("linear", False), ("linear", True), ("huber", False),
                                                ("soft_l1", False)])
def test_the_covariance_is_that_of_many_repetitions(loss, absolute):
    """Of a linear model; errors in units of it are of unit size and uncorrelated."""
    size = 1.0 if absolute else 0.05
    z = []
    for k in range(400):
        found = fitted(loss, size * np.random.default_rng(k).standard_normal(len(J)))
        C = covariance(J, found.fun, loss, 0.05, absolute)
        z.append(np.linalg.solve(np.linalg.cholesky(C), found.x - TRUE))
    np.testing.assert_allclose(np.cov(np.array(z).T), np.eye(3), atol=0.25)
    if absolute:
        assert kstest(np.ravel(z), "norm").pvalue > 0.01


def test_without_degrees_of_freedom_there_is_no_covariance():
    assert np.isnan(covariance(J[:3], np.zeros(3))).all()
    assert np.isnan(covariance(J[:2], np.zeros(2))).all()
    assert np.isfinite(covariance(J[:3], np.zeros(3), absolute=True)).all()


def test_ljung_box_by_its_definition():
    """Five numbers, by hand: mean 2, autocovariances (10, -1) of lags (0, 1)."""
    found = ljung_box(np.array([0.0, 3.0, 1.0, 2.0, 4.0]), 1)
    c = np.array([-2.0, 1.0, -1.0, 0.0, 2.0])
    rho = (c[1:] @ c[:-1]) / (c @ c)
    assert rho == pytest.approx(-0.3)
    assert found.statistic == pytest.approx(5 * 7 * 0.09 / 4)
    assert found.p_value == pytest.approx(math.erfc(math.sqrt(found.statistic / 2)))  # of one degree of freedom


def test_p_values_of_white_noise_are_uniform_and_of_a_drift_are_not():
    p = [ljung_box(np.random.default_rng(k).standard_normal(200)).p_value for k in range(300)]
    assert kstest(p, "uniform").pvalue > 0.01
    assert ljung_box(np.sin(np.arange(200) / 10) + RANDOM.standard_normal(200)).p_value < 1e-6


def test_too_few_residuals_or_none_that_move_have_no_verdict():
    assert np.isnan(ljung_box(np.array([1.0, 2.0, 1.5])).p_value)
    assert np.isnan(ljung_box(np.zeros(100)).p_value)
