"""Polynomials within a step: what they reproduce, and of which order they are."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gridcore.integrate import hermite, parabola
from gridcore.tape import GRID, Step


def within(polynomial: Callable[..., np.ndarray], x: np.polynomial.Polynomial, h: float, t: np.ndarray) -> np.ndarray:
    """On a step from 0.2 of length h, whose ends are on x; a second variable is algebraic, and as large."""
    times = [0.2, 0.2 + h]

    def at(k: int) -> Any:
        return SimpleNamespace(differential=np.array([True, False]), rhs=lambda: np.array([x.deriv()(times[k]), 0.0]))

    points = SimpleNamespace(tape=SimpleNamespace(times=times), state=lambda k: np.full(2, x(times[k])), at=at)
    return polynomial(Step(0, h, GRID, GRID), points, t)


@pytest.mark.parametrize(("polynomial", "degree"), [(hermite, 3), (parabola, 2)])
def test_a_polynomial_of_its_degree_is_reproduced(polynomial, degree):
    x, t = np.polynomial.Polynomial(np.arange(1.0, degree + 2.0)), np.linspace(0.2, 0.7, 9)
    found = within(polynomial, x, 0.5, t)
    np.testing.assert_allclose(found[:, 0], x(t), rtol=1e-14)
    np.testing.assert_allclose(found[:, 1], np.interp(t, [0.2, 0.7], x(np.array([0.2, 0.7]))), rtol=1e-14)


@pytest.mark.parametrize(("polynomial", "power"), [(hermite, 4), (parabola, 3)])
def test_the_error_falls_with_a_power_of_the_step(polynomial, power):
    x = np.polynomial.Polynomial(1 / np.cumprod(np.arange(1.0, 20.0)))

    def error(h: float) -> float:
        t = np.linspace(0.2, 0.2 + h, 20)
        return float(np.abs(within(polynomial, x, h, t)[:, 0] - x(t)).max())

    assert np.log2(error(0.02) / error(0.01)) == pytest.approx(power, abs=0.1)


def test_of_the_trapezoidal_rule_both_are_one():
    x = np.polynomial.Polynomial([0.3, -1.0, 2.0])  # whose step is that of the rule
    t = np.linspace(0.2, 0.5, 7)
    np.testing.assert_allclose(within(hermite, x, 0.3, t), within(parabola, x, 0.3, t), rtol=1e-14)
