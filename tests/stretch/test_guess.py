"""Guesses of where a guard crosses zero, on a path whose bend is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from gridcore.integrate.locate import End, interpolated
from gridcore_stretch import on_bent_path

LOW, HIGH = 0.5, 0.625
RISE = np.array([1.0, -1.0, -2.0])


def on_path(t: float, zero: float, bends: float) -> np.ndarray:
    """A parabola in time, through the same ends however it bends, of which the straight line has this zero."""
    part = (t - LOW) / (HIGH - LOW)
    return RISE * (part - zero + bends * part * (1 - part))


def guessed(zero: float, bends: float, sign: float) -> tuple[float, float, float]:
    """The first guess and the better one, and the zero, of a guard that is one of the variables times a sign."""
    ends = [End(t, float(sign * on_path(t, zero, bends)[1]), on_path(t, zero, bends)) for t in (LOW, HIGH)]
    ws: Any = SimpleNamespace(X=np.zeros(3), Z=np.zeros(4))
    asked = []

    def bend(t: float) -> None:
        np.testing.assert_allclose(ws.X, on_path(t, zero, 0.0), rtol=0, atol=1e-14)
        assert ws.Z[-1] == t
        asked.append(t)
        ws.X[:] = on_path(t, zero, bends)

    class Guard:
        ends: Any

        def __call__(self) -> tuple[float, np.ndarray, np.ndarray, float]:
            return sign * float(ws.X[1]), np.array([1]), np.array([sign]), 0.0

    guard: Any = Guard()
    guard.ends = tuple(ends)
    first = interpolated(ends)
    ws.X[:] = on_path(first, zero, 0.0)
    better = on_bent_path(ws, first, guard, bend)
    np.testing.assert_array_equal(ws.X, on_path(better, zero, bends))
    assert ws.Z[-1] == better
    assert asked == [first, better]
    return first, better, brentq(lambda t: on_path(t, zero, bends)[0], LOW, HIGH, xtol=1e-15, rtol=1e-14)


@given(zero=st.floats(0.05, 0.95), bends=st.floats(-0.9, 0.9), sign=st.sampled_from([-1.0, 1.0]))
def test_a_better_guess_is_between_the_first_and_the_zero(zero: float, bends: float, sign: float) -> None:
    first, better, true = guessed(zero, bends, sign)
    assert min(first, true) - 1e-13 <= better <= max(first, true) + 1e-13


@pytest.mark.parametrize("bends", [0.1, -0.1])
def test_what_is_left_is_of_second_order_in_the_bend(bends: float) -> None:
    (first, better, true), (half, half_better, half_true) = guessed(0.3, bends, 1.0), guessed(0.3, bends / 2, 1.0)
    assert 1.7 < (first - true) / (half - half_true) < 2.3
    assert 3.4 < (better - true) / (half_better - half_true) < 4.6
    assert abs(better - true) < abs(first - true) / 5


def test_where_no_path_bends_the_guess_is_the_first() -> None:
    first, better, true = guessed(0.3, 0.0, 1.0)
    assert better == pytest.approx(first, rel=1e-15)
    assert true == pytest.approx(first, rel=1e-14)
