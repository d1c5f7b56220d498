"""GMRES of several right-hand sides at once, against a dense solver."""

from __future__ import annotations

import numpy as np
import pytest

from gridcore_tsa.gmres import gmres


@pytest.fixture
def problem():
    rng = np.random.default_rng(7)
    A = np.eye(40) + 0.05 * rng.standard_normal((40, 40))
    return A, rng.standard_normal((5, 40)), rng.standard_normal((5, 40))


def plain(rows):
    return rows


def solve(A, right, guess, precondition=plain, tolerance=1e-13, limit=40):
    return gmres(lambda rows: rows @ A.T, precondition, right, guess, tolerance, limit)


def test_every_row_is_solved(problem):
    A, right, guess = problem
    found, iterations, converged = solve(A, right, guess)
    np.testing.assert_allclose(found, np.linalg.solve(A, right.T).T, rtol=0, atol=1e-12)
    assert converged
    assert 5 < iterations < 40


def test_rows_do_not_disturb_each_other(problem):
    """One that is solved at once (by its guess, or because it is zero) beside one that is not."""
    A, right, guess = problem
    right[1], guess[1] = 0.0, 0.0
    guess[2] = np.linalg.solve(A, right[2])
    together, *_ = solve(A, right, guess)
    np.testing.assert_array_equal(together[1], 0.0)
    for k in range(5):
        alone, *_ = solve(A, right[k: k + 1], guess[k: k + 1])
        np.testing.assert_allclose(together[k], alone[0], rtol=0, atol=1e-12)


def test_as_many_iterations_as_the_matrix_has_different_eigenvalues():
    A = np.diag([1.0, 1.0, 3.0, 3.0, 3.0, 10.0])
    found, iterations, converged = solve(A, np.arange(1.0, 13.0).reshape(2, 6), np.zeros((2, 6)), limit=6)
    assert (iterations, converged) == (3, True)
    np.testing.assert_allclose(found @ A, np.arange(1.0, 13.0).reshape(2, 6), rtol=1e-13)


def test_factors_of_the_matrix_itself_need_one_iteration(problem):
    A, right, guess = problem
    inverse = np.linalg.inv(A)
    _, iterations, converged = solve(A, right, guess, lambda rows: rows @ inverse.T, tolerance=1e-12)
    assert (iterations, converged) == (1, True)


def test_a_good_guess_needs_none(problem):
    A, right, _ = problem
    exact = np.linalg.solve(A, right.T).T
    found, iterations, converged = solve(A, right, exact, tolerance=1e-11)
    assert (iterations, converged) == (0, True)
    assert found is exact


def test_the_residual_never_grows_and_the_limit_is_told(problem):
    A, right, guess = problem
    before = np.linalg.norm(right - guess @ A.T, axis=1)
    for limit in range(1, 6):
        found, iterations, converged = solve(A, right, guess, limit=limit)
        assert (iterations, converged) == (limit, False)
        after = np.linalg.norm(right - found @ A.T, axis=1)
        assert (after < before).all()
        before = after
