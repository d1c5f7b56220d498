"""Laws of the sparse LU, for KLU and for SuperLU alike."""

from __future__ import annotations

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import factored, random_matrix

import gridcore as gc
from gridcore.errors import GridcoreError, PluginError
from gridcore.linear import SingularMatrix, equilibrate, linear_solver
from gridcore_klu.solver import KLU
from gridcore_superlu.solver import SuperLU

SOLVERS = [KLU, SuperLU]
both = pytest.mark.parametrize("Solver", SOLVERS, ids=lambda s: s.__name__)


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


@both
def test_refactor_gives_what_a_full_factorisation_gives(Solver):
    A = random_matrix(80, 3)
    lu = factored(Solver, A)
    A.data *= np.random.default_rng(4).uniform(0.5, 1.5, A.nnz)
    b = np.random.default_rng(5).standard_normal(80)
    lu.refactor(A.data)
    np.testing.assert_allclose(lu.solve(b.copy()), np.linalg.solve(A.toarray(), b), rtol=1e-12)


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
    lu = Solver().analyse(10, A.indptr, A.indices).factors()
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
    lu = Solver().analyse(3, [0, 3, 6, 9], rows).factors(dtype)
    with pytest.raises(SingularMatrix) as caught:
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
    with pytest.raises(SingularMatrix) as caught:
        factored(Solver, A)
    assert caught.value.column == 11


@both
def test_after_a_singular_matrix_a_regular_one_is_factored(Solver):
    A = random_matrix(12, 8)
    lu = factored(Solver, A)
    with pytest.raises(SingularMatrix):
        lu.refactor(np.zeros(A.nnz))
    lu.refactor(A.data)
    np.testing.assert_allclose(A @ lu.solve(np.ones(12)), 1.0, rtol=1e-13)


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_not_finite_names_its_column(Solver, bad):
    A = random_matrix(12, 8)
    A.data[A.indptr[5]] = bad
    with pytest.raises(SingularMatrix, match="not finite") as caught:
        factored(Solver, A)
    assert caught.value.column == 5


@both
def test_values_that_are_trusted_are_not_looked_at_and_others_are(Solver):
    A = random_matrix(12, 8)
    lu, trusted = factored(Solver, A), A.data.copy()
    lu.trust(trusted)
    trusted[0] = np.nan
    lu.check_values(trusted)
    with pytest.raises(SingularMatrix, match="not finite"):
        lu.check_values(trusted.copy())
    for not_theirs in (A.data[:-1].copy(), trusted):
        with pytest.raises((ValueError, SingularMatrix)):
            factored(Solver, A).trust(not_theirs)


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
        Solver().analyse(4, [0, 1, 2, 3], [0, 1, 2])


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


def test_solvers_are_found_by_name():
    assert type(linear_solver()) is type(linear_solver("klu")) is KLU
    assert type(linear_solver("superlu")) is SuperLU
    with pytest.raises(PluginError, match=r"unknown linear solver 'kul'.*klu"):
        linear_solver("kul")


def test_a_system_uses_the_solver_that_it_is_built_with():
    """For power flow, initial state, steps and adjoint, and to the accuracy of the equations with the same results."""
    runs = {}
    for name, Solver in (("klu", KLU), ("superlu", SuperLU)):
        system = gc.build("wscc9", linear_solver=name)
        assert isinstance(system.system.factors(), type(Solver().analyse(1, [0, 1], [0]).factors()))
        runs[name] = gc.simulate(system, 0.3)
    a, b = runs.values()
    np.testing.assert_allclose(a.X, b.X, rtol=1e-8, atol=1e-8)
    gradients = [gc.adjoint(run, objectives=[gc.Integral(lambda v: (v["GEN2", "omega"] - 1)**2)], wrt="GEN*.H")
                 for run in (a, b)]
    np.testing.assert_allclose(*(np.asarray(g) for g in gradients), rtol=1e-6)


# ---------------------------------------------------------------- unknowns in different units


@both
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("unit", [1e-18, 1e18, 1e-100, 1.0])
def test_a_column_in_another_unit_is_not_singular(Solver, unit, dtype):
    A = sp.csc_array((np.array([[1.0, 1.0], [1.0, 2.0]]) @ np.diag([1.0, unit])).astype(dtype))
    lu = factored(Solver, A)
    x, y = np.array([3.0, 5.0 / unit], dtype), np.array([2.0, 7.0], dtype)
    np.testing.assert_allclose(lu.solve(A @ x), x, rtol=1e-14)
    np.testing.assert_allclose(lu.tsolve(A.T @ y), y, rtol=1e-14)
    lu.refactor(2 * A.data)
    np.testing.assert_allclose(lu.solve(2 * A @ x), x, rtol=1e-14)
    lu.refactor(np.array([4.0, 1.0, 1.0, 3.0], dtype))  # and in the same unit again
    np.testing.assert_allclose(lu.solve(np.array([5.0, 4.0], dtype)), [1.0, 1.0], rtol=1e-14)


@both
@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 10**6), rows=st.integers(0, 25), columns=st.integers(0, 25))
def test_units_of_rows_and_columns_change_neither_accuracy_nor_verdict(Solver, n, seed, rows, columns):
    rng, A = np.random.default_rng(seed), random_matrix(n, seed, density=0.2)
    if np.linalg.cond(A.toarray()) > 1e4:
        return
    r, c = 10.0 ** rng.uniform(-rows, rows, n), 10.0 ** rng.uniform(-columns, columns, n)
    scaled = sp.csc_array(sp.diags_array(r) @ A @ sp.diags_array(c))
    x = rng.uniform(1.0, 2.0, n)
    lu = factored(Solver, scaled)
    np.testing.assert_allclose(lu.solve(r * (A @ x)) * c, x, rtol=1e-9)
    np.testing.assert_allclose(lu.tsolve(c * (A.T @ x)) * r, x, rtol=1e-9)


@both
@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("unit", [1e-18, 1e18])
@pytest.mark.parametrize("column", range(3))
def test_a_singular_matrix_is_one_in_any_units_and_names_the_same_column(Solver, name, unit, column):
    dense, columns = np.array(SINGULAR[name][0]), SINGULAR[name][1]
    dense[:, column] *= unit
    rows, cols = np.indices((3, 3)).reshape(2, -1, order="F")
    lu = Solver().analyse(3, [0, 3, 6, 9], rows).factors()
    with pytest.raises(SingularMatrix) as caught:
        lu.factor(dense[rows, cols])
    assert caught.value.column in columns


def test_an_equilibrated_matrix_is_the_same_in_all_units():
    A, (r, c) = random_matrix(40, 14, density=0.1), 10.0 ** np.random.default_rng(2).uniform(-20, 20, (2, 40))
    found = []
    for B in (A, sp.csc_array(sp.diags_array(r) @ A @ sp.diags_array(c))):
        rows, columns = equilibrate(40, B.indptr, B.indices, B.data)
        assert not np.modf(np.log2([rows, columns]))[0].any()  # powers of two
        found.append((sp.diags_array(rows) @ B @ sp.diags_array(columns)).toarray())
        assert 0.5 <= abs(found[-1]).max(axis=0).min() <= abs(found[-1]).max() <= 2
    ratio = found[1][found[0] != 0] / found[0][found[0] != 0]
    assert 0.24 < ratio.min() <= ratio.max() < 4.1  # scales are rounded to powers of two


# ---------------------------------------------------------------- threads and pickles


@both
def test_threads_share_an_analysis(Solver):
    matrices = [random_matrix(80, 3) * (k + 1) for k in range(4)]
    b = np.random.default_rng(5).standard_normal((3, 80))
    expected = [factored(Solver, A).solve(b.copy()) for A in matrices]
    analysis, barrier = Solver().analyse(80, matrices[0].indptr, matrices[0].indices), threading.Barrier(4)

    def work(k):
        lu = analysis.factors()
        barrier.wait()
        for _ in range(50):
            lu.factor(matrices[k].data)
            if not np.array_equal(lu.solve(b.copy()), expected[k]):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


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
