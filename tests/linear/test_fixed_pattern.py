"""Products and sums of matrices of a fixed pattern: those of dense matrices, compiled or not."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from gridcore.equations.native import FALLBACK, runtime
from gridcore.linear import Pattern

RUNTIMES = [FALLBACK, *([] if runtime() is FALLBACK else [runtime()])]


def some(rows, columns, seed):
    rng = np.random.default_rng(seed)
    A = (sp.random(rows, columns, 0.3, random_state=rng) + sp.eye(rows, columns)).tocsc()
    A.sort_indices()
    return A, rng


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("loops", RUNTIMES, ids=lambda r: type(r).__name__)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 20), st.integers(0, 10**6))
def test_products_are_those_of_the_matrix(loops, rows, columns, count, seed):
    A, rng = some(rows, columns, seed)
    matrix = Pattern(A.shape, A.indptr, A.indices, loops).matrix()
    x, y = rng.normal(size=(count, columns)), rng.normal(size=(count, rows))
    close(matrix.product(A.data, x), x @ A.T.toarray())
    close(matrix.product(A.data, x, y.copy()), y + x @ A.T.toarray())
    close(matrix.transposed(A.data, y), y @ A.toarray())
    close(matrix.transposed(A.data, y, x.copy()), x + y @ A.toarray())


@pytest.mark.parametrize("loops", RUNTIMES, ids=lambda r: type(r).__name__)
@given(st.integers(1, 12), st.integers(0, 10**6))
def test_sums_are_those_of_the_matrix(loops, n, seed):
    A, rng = some(n, n, seed)
    columns = np.repeat(np.arange(n), np.diff(A.indptr))
    diagonal = np.flatnonzero(A.indices == columns).astype(np.int32)
    matrix = Pattern(A.shape, A.indptr, A.indices, loops, None, diagonal).matrix()
    m, s = rng.normal(size=(2, n))
    dense = sp.csc_matrix((matrix.shifted(m, s, A.data), A.indices, A.indptr), A.shape).toarray()
    close(dense, np.diag(m) + s[:, None] * A.toarray())
    dense = sp.csc_matrix((matrix.summed(m, A.data, s, 2 * A.data), A.indices, A.indptr), A.shape).toarray()
    close(dense, (m + 2 * s)[:, None] * A.toarray())


def test_matrices_of_one_pattern_have_buffers_of_their_own():
    A, _ = some(5, 5, 0)
    pattern, one = Pattern(A.shape, A.indptr, A.indices, runtime()), np.ones(5)
    first, second = pattern.matrix(), pattern.matrix()
    kept = first.summed(one, A.data, one, A.data).copy()
    second.summed(3 * one, A.data, one, A.data)
    np.testing.assert_array_equal(first.values, kept)


@pytest.mark.parametrize("loops", RUNTIMES, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_none_at_any_place_of_a_shifted_matrix_is_told(loops, bad):
    A, rng = some(7, 7, 3)
    matrix = Pattern(A.shape, A.indptr, A.indices, loops).matrix()
    m, scale, place = rng.normal(size=7), rng.normal(size=7), loops.place
    for at in range(len(A.data)):
        J = A.data.copy()
        assert loops.shifted(matrix.handle, place(m), place(scale), place(J))
        J[at] = bad
        assert not loops.shifted(matrix.handle, place(m), place(scale), place(J))
