"""Laws of the sparse LU, for KLU and for the SuperLU fallback alike."""

from __future__ import annotations

import copy
import pickle
import resource
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gridcore.errors import GridcoreError
from gridcore.linear import linsolve

SOLVERS = [linsolve.KLU, linsolve.SuperLU]
both = pytest.mark.parametrize("Solver", SOLVERS, ids=lambda s: s.__name__)


def random_matrix(n, seed, dtype=float, density=0.05):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=density, rng=rng) + sp.diags_array(rng.uniform(1, 2, n))
    A = sp.csc_array(A).astype(dtype)
    A.sort_indices()
    if dtype is complex:
        A.data += 1j * rng.standard_normal(A.nnz)
    return A


def factored(Solver, A):
    lu = Solver(A.shape[0], A.indptr, A.indices, dtype=A.dtype.type)
    lu.factor(A.data)
    return lu


@both
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("rows", [(), (1,), (7,)], ids=["vector", "one row", "seven rows"])
def test_solve_and_tsolve_invert_the_matrix_and_its_transpose_in_place(Solver, dtype, rows):
    A = random_matrix(60, 1, dtype)
    lu = factored(Solver, A)
    x = np.random.default_rng(2).standard_normal((*rows, 60)).astype(dtype)
    for solve, matrix in ((lu.solve, A), (lu.tsolve, A.T)):
        b = np.ascontiguousarray((matrix @ x.T).T)
        returned = solve(b)
        assert returned is b
        np.testing.assert_allclose(b, x, rtol=0, atol=1e-13)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 30), seed=st.integers(0, 10**6))
def test_the_transposed_solve_is_the_adjoint_of_the_solve(n, seed):
    A = random_matrix(n, seed, density=0.2)
    u, v = np.random.default_rng(seed).standard_normal((2, n))
    try:
        lu = factored(linsolve.LU, A)
    except linsolve.SingularMatrix:
        return
    left, right = u @ lu.solve(v.copy()), lu.tsolve(u.copy()) @ v
    scale = np.abs(np.linalg.inv(A.toarray())).sum() * np.abs(u).max() * np.abs(v).max()
    assert abs(left - right) <= 1e-14 * scale


@both
def test_refactor_gives_what_a_full_factorisation_gives(Solver):
    A = random_matrix(80, 3)
    lu = factored(Solver, A)
    A.data *= np.random.default_rng(4).uniform(0.5, 1.5, A.nnz)
    b = np.random.default_rng(5).standard_normal(80)
    lu.refactor(A.data)
    np.testing.assert_allclose(lu.solve(b.copy()), np.linalg.solve(A.toarray(), b), rtol=1e-12)


def test_refactor_keeps_the_pivots_while_they_are_good():
    A = random_matrix(80, 3)
    lu = factored(linsolve.KLU, A)
    searches = lu.factorisations
    for k in range(5):
        lu.refactor(A.data * (1 + 0.01 * k))
    assert (lu.factorisations, lu.refactorisations) == (searches, 5)


def test_a_pivot_tolerance_that_fills_is_lowered_and_the_solution_stays_right():
    n = 300  # an arrow whose head is a weak pivot: preferring large ones fills the matrix
    head, tail = np.zeros(n - 1, dtype=int), np.arange(1, n)
    arrow = sp.csc_array((np.ones(2 * (n - 1)), (np.r_[head, tail], np.r_[tail, head])), shape=(n, n))
    A = sp.csc_array(sp.diags_array(np.full(n, 0.02)) + arrow
                     + 0.5 * sp.random_array((n, n), density=0.01, rng=np.random.default_rng(0)))
    A.sort_indices()
    lu = factored(linsolve.KLU, A)
    plain = linsolve.KLU(n, A.indptr, A.indices)
    plain._analysis.settled = True
    plain.factor(A.data)
    assert lu.operations()[1] <= plain.operations()[1]
    b = np.random.default_rng(1).standard_normal(n)
    np.testing.assert_allclose(A @ lu.solve(b.copy()), b, atol=1e-9)


@both
@pytest.mark.parametrize("pivot", [0.0, 1e-12])
def test_refactor_finds_new_pivots_when_the_old_ones_vanish(Solver, pivot):
    A = sp.csc_array(np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 1.0], [2.0, 1.0, 5.0]]))
    lu = factored(Solver, A)
    A.data[0] = pivot
    lu.refactor(A.data)
    assert lu.factorisations == 2
    b = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(lu.solve(b.copy()), np.linalg.solve(A.toarray(), b), rtol=1e-14)


@both
def test_refactor_before_any_factorisation_is_a_full_one(Solver):
    A = random_matrix(10, 6)
    lu = Solver(10, A.indptr, A.indices)
    lu.refactor(A.data)
    assert lu.factorisations == 1
    np.testing.assert_allclose(A @ lu.solve(np.ones(10)), 1.0, rtol=1e-13)


SINGULAR = {
    # name: (matrix, columns in which its null vector is largest)
    "column of explicit zeros": ([[1.0, 0.0, 2.0], [3.0, 0.0, 4.0], [1.0, 0.0, 1.0]], {1}),
    "proportional rows": ([[1.0, 4.0, 0.0], [2.0, 8.0, 0.0], [0.0, 0.0, 1.0]], {0}),
    "all but proportional rows": ([[0.1, 0.2, 0.0], [0.3, 0.6000000000000001, 0.0], [0.0, 0.0, 1.0]], {0}),
    "floating island": ([[1.0, 0.0, 0.0], [0.0, 7.0, -7.0], [0.0, -7.0, 7.0]], {1, 2}),
}


@both
@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_singular_matrix_names_an_undetermined_column(Solver, name, dtype):
    dense, columns = SINGULAR[name]
    rows, cols = np.indices((3, 3)).reshape(2, -1, order="F")
    lu = Solver(3, [0, 3, 6, 9], rows, dtype=dtype)
    with pytest.raises(linsolve.SingularMatrix) as caught:
        lu.factor(np.array(dense, dtype=dtype)[rows, cols])
    assert caught.value.column in columns
    assert isinstance(caught.value, GridcoreError)
    with pytest.raises(RuntimeError, match="no factors"):
        lu.solve(np.ones(3, dtype))


@both
def test_a_structurally_empty_column_is_named(Solver):
    A = random_matrix(20, 7).tolil()
    A[:, [11]] = 0.0
    A = sp.csc_array(A.tocsc())
    A.eliminate_zeros()
    with pytest.raises(linsolve.SingularMatrix) as caught:
        factored(Solver, A)
    assert caught.value.column == 11


@both
def test_after_a_singular_matrix_a_regular_one_is_factored(Solver):
    A = random_matrix(12, 8)
    lu = factored(Solver, A)
    with pytest.raises(linsolve.SingularMatrix):
        lu.refactor(np.zeros(A.nnz))
    lu.refactor(A.data)
    np.testing.assert_allclose(A @ lu.solve(np.ones(12)), 1.0, rtol=1e-13)


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_not_finite_names_its_column(Solver, bad):
    A = random_matrix(12, 8)
    A.data[A.indptr[5]] = bad
    with pytest.raises(linsolve.SingularMatrix, match="not finite") as caught:
        factored(Solver, A)
    assert caught.value.column == 5


@both
def test_wide_row_scales_are_not_taken_for_singularity(Solver):
    # A bolted fault is an admittance of 1e8 in one row: cond(A) is huge, the system is not singular.
    A = random_matrix(30, 9)
    scale = np.logspace(0, 17, 30)
    A = sp.csc_array(sp.diags_array(scale) @ A)
    lu = factored(Solver, A)
    x = np.linspace(1.0, 2.0, 30)
    np.testing.assert_allclose(lu.solve(A @ x), x, rtol=1e-12)


@both
@pytest.mark.parametrize("b", [np.ones(5), np.ones(4, np.float32), np.ones(4, complex), np.ones((4, 3)).T,
                               np.ones(8)[::2], np.ones((2, 2, 4))],
                         ids=["length", "float32", "complex", "Fortran order", "strided", "three axes"])
def test_what_cannot_be_solved_in_place_is_refused(Solver, b):
    A = sp.csc_array(np.eye(4))
    lu = factored(Solver, A)
    for solve in (lu.solve, lu.tsolve):
        with pytest.raises(ValueError, match="right-hand side"):
            solve(b)


@both
def test_values_of_another_pattern_are_refused(Solver):
    lu = factored(Solver, sp.csc_array(np.eye(4)))
    with pytest.raises(ValueError, match="values"):
        lu.refactor(np.ones(5))
    with pytest.raises(ValueError, match="CSC pattern"):
        Solver(4, [0, 1, 2, 3], [0, 1, 2])


@both
def test_counters_tell_the_work_done(Solver):
    A = random_matrix(9, 10)
    lu = factored(Solver, A)
    lu.solve(np.ones(9))
    lu.tsolve(np.ones((3, 9)))
    assert (lu.factorisations, lu.refactorisations, lu.solves) == (1, 0, 4)


@both
def test_a_copy_has_the_pattern_and_none_of_the_factors(Solver):
    A = random_matrix(9, 11)
    lu = factored(Solver, A)
    for other in (copy.copy(lu), pickle.loads(pickle.dumps(lu))):
        with pytest.raises(RuntimeError, match="no factors"):
            other.solve(np.ones(9))
        other.factor(A.data)
        np.testing.assert_array_equal(other.solve(np.ones(9)), lu.solve(np.ones(9)))


def test_klu_gives_its_memory_back():
    A = random_matrix(54, 12)
    lu = factored(linsolve.KLU, A)

    def work(times):
        for _ in range(times):
            lu.factor(A.data)
            factored(linsolve.KLU, A)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(100)
    assert work(1000) - before < 2000  # kB; without giving back it is over 20000


def test_superlu_takes_over_where_nbklu_cannot_be_imported():
    code = ("import sys; sys.modules['nbklu'] = None; from gridcore import linsolve;"
            "print(linsolve.LU.__name__)")
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "SuperLU"


@both
def test_operations_of_a_dense_matrix_are_those_of_gaussian_elimination(Solver):
    """Of k + 2 k^2 the sum, k what is below a pivot; 2 n^2 - n for both solves, one with a unit diagonal."""
    n = 9
    A = sp.csc_array(np.random.default_rng(3).standard_normal((n, n)) + 9 * np.eye(n))
    below = np.arange(n)
    assert factored(Solver, A).operations() == ((below + 2 * below**2).sum(), 2 * n * n - n)


@both
def test_operations_of_a_diagonal_matrix_are_one_division_a_row(Solver):
    assert factored(Solver, sp.csc_array(np.diag(np.arange(1.0, 6.0)))).operations() == (0, 5)
