"""Formulas are exact for the polynomials that they are made of, and have the derivatives of their complex step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from gridcore_bdf.formula import NEAR, chosen, extrapolation, formula, plain, share, slopes, with_slope

GAPS = st.lists(st.floats(0.2, 2.0), min_size=1, max_size=5)
COEFFICIENTS = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6)


@given(gaps=GAPS, of=COEFFICIENTS)
def test_a_formula_of_order_q_is_exact_for_polynomials_of_degree_q(gaps: list[float], of: list[float]) -> None:
    d, p = np.cumsum(gaps).tolist(), Polynomial(of[: len(gaps) + 1])
    b, beta, a = formula(d, 5)
    terms = [weight * p(-at) for weight, at in zip(beta, d, strict=True)]
    assert a == 0
    assert p(0.0) == pytest.approx(sum(terms) + b * p.deriv()(0.0), abs=1e-13 * (1 + sum(map(abs, terms))))
    assert sum(beta) == pytest.approx(1, abs=1e-13 * sum(map(abs, beta)))


@given(first=st.floats(0.1, 2.0), near=st.none() | st.floats(1e-9, 4.0), highest=st.integers(2, 5), of=COEFFICIENTS)
def test_from_where_a_history_begins_formulas_are_exact_for_parabolas_at_any_distance_of_the_second_point(
        first: float, near: float | None, highest: int, of: list[float]) -> None:
    d, p = [first] if near is None else [first, first * (1 + near * NEAR)], Polynomial(of[:3])
    b, beta, a = formula(d, highest, begun=True)
    terms = [a * p.deriv()(-d[-1]), b * p.deriv()(0.0), *(weight * p(-at) for weight, at in zip(beta, d, strict=True))]
    assert p(0.0) == pytest.approx(sum(terms), abs=1e-13 * (1 + sum(map(abs, terms))))
    if near is None or abs(near - 2) > 1e-6:  # there its share is round-off
        assert (a > 0) == (near is None or near < 2)


@given(gaps=GAPS, of=COEFFICIENTS)
def test_polynomials_lead_on_with_and_without_a_slope(gaps: list[float], of: list[float]) -> None:
    d = np.cumsum(gaps).tolist()
    p, q = Polynomial(of[: len(gaps)]), Polynomial(of[: len(gaps) + 1])
    terms = [weight * p(-at) for weight, at in zip(extrapolation(d), d, strict=True)]
    assert p(0.0) == pytest.approx(sum(terms), abs=1e-13 * (1 + sum(map(abs, terms))))
    weights, along = with_slope(d)
    terms = [along * q.deriv()(-d[0]), *(weight * q(-at) for weight, at in zip(weights, d, strict=True))]
    assert q(0.0) == pytest.approx(sum(terms), abs=1e-13 * (1 + sum(map(abs, terms))))


@pytest.mark.parametrize(("q", "b", "beta"), [
    (1, 1, [1]), (2, 2 / 3, [4 / 3, -1 / 3]), (3, 6 / 11, [18 / 11, -9 / 11, 2 / 11]),
    (4, 12 / 25, [48 / 25, -36 / 25, 16 / 25, -3 / 25]),
    (5, 60 / 137, [300 / 137, -300 / 137, 200 / 137, -75 / 137, 12 / 137])])
def test_with_steps_of_one_length_it_is_the_table_of_the_books(q: int, b: float, beta: list[float]) -> None:
    """E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 1993, eq. III.1.22'."""
    found = plain([0.25 * (k + 1) for k in range(q)])
    assert found[0] == pytest.approx(0.25 * b, rel=1e-14)
    assert found[1] == pytest.approx(beta, rel=1e-14)


@given(gaps=GAPS, near=st.one_of(st.floats(0.2, 4.0), st.floats(1e-15, 1e-6).map(lambda e: 1 + e),
                                 st.floats(1e-15, 1e-6).map(lambda e: 2 - e)), highest=st.integers(1, 5),
       begun=st.booleans())
@example(gaps=[0.2, 0.4], near=2 - 3.5e-9, highest=4, begun=False)  # the second counts 1 to the last digit, and less
@example(gaps=[0.2, 0.4], near=1.3, highest=4, begun=True)
@example(gaps=[0.2], near=1.3, highest=2, begun=True)
def test_derivatives_in_the_distances_are_the_complex_step(
        gaps: list[float], near: float, highest: int, begun: bool) -> None:
    """Also where the second point nearly is too near to the first."""
    d = np.cumsum(gaps)
    d[1:] -= d[1:2] - d[:1] * (1 + near * NEAR)
    of_b, of_beta, of_a = slopes(d.tolist(), highest, begun)
    round_off = np.finfo(float).eps * 6 / NEAR**2 * np.abs(plain(d[:highest].tolist())[1]).max() / d[0]  # of d_1 / d_0
    for column in range(len(d)):
        moved = d.astype(complex)
        moved[column] += 1e-40j
        b, beta, a = complex_formula(moved, highest, begun)
        exact = np.imag(beta) / 1e-40
        np.testing.assert_allclose(of_b[column], b.imag / 1e-40, rtol=1e-9, atol=1e-15 + 1e-10 * np.abs(of_b).max())
        np.testing.assert_allclose(of_a[column], a.imag / 1e-40, rtol=1e-9, atol=1e-15 + 1e-10 * np.abs(of_b).max())
        np.testing.assert_allclose(of_beta[:, column], exact, rtol=1e-12,
                                   atol=8 * round_off + 1e-12 * np.abs(of_beta).max())
        found = formula(d.tolist(), highest, begun)
        assert (found[0], found[2]) == (pytest.approx(b.real, rel=1e-12), pytest.approx(np.real(a), rel=1e-12))


def complex_formula(d: np.ndarray, highest: int, begun: bool) -> tuple[complex, np.ndarray, complex]:
    """The formula once more, with decisions taken on the real part."""
    def of(rows: list[int]) -> tuple[complex, np.ndarray, complex]:
        if rows is without and by_slope:
            return d[-1] / 2, np.eye(len(d))[-1], d[-1] / 2
        b, beta = 1 / (1 / d[rows]).sum(), np.zeros(len(d), dtype=complex)
        for i in rows:
            beta[i] = b / d[i] * np.prod([d[j] / (d[j] - d[i]) for j in rows if j != i])
        return b, beta, 0j

    everything, without = list(range(len(d)))[:highest], [0, *range(2, len(d))][:highest]
    by_slope = begun and len(d) <= 2
    u = (d[1] / d[0] - 1) / NEAR - 1 if len(d) > 1 else -1.0
    if not 0 < np.real(u) < 1:
        return of(everything if np.real(u) > 0 else without)
    part = u * u * (3 - 2 * u)
    return tuple(part * one + (1 - part) * other for one, other in zip(of(everything), of(without), strict=True))


def test_of_two_points_that_are_near_to_each_other_the_later_one_counts() -> None:
    times = [1.0, 0.9, 0.9 - 1e-5, 0.8]
    assert chosen(times, 6) == [0, 1, 3]
    assert chosen(times, 2) == [0, 1]
    assert chosen([1.0, 1.0 - 1e-6, 0.9], 6) == [0, 1, 2]
    assert share([0.1, 0.1 * (1 + 0.9 * NEAR), 0.2]) == (0.0, 0.0)
    assert share([0.1, 0.1 * (1 + 2.1 * NEAR), 0.2]) == (1.0, 0.0)
    assert share([0.1, 0.1 * (1 + 1.5 * NEAR), 0.2])[0] == pytest.approx(0.5, rel=1e-10)
    for none in ([0.1], [0.0, 0.1]):
        assert share(none) == (0.0, 0.0)
        b, beta, a = formula(none, 5)
        assert (b, beta[0], beta.sum(), a) == (none[0], 1.0, 1.0, 0.0)
    _, beta, _ = formula([0.1, 0.1 + 1e-6, 0.2], 5)
    assert beta[1] == 0
    assert np.abs(beta).max() < 2
