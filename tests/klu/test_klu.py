"""What KLU alone does: pivots that are kept, tolerances that settle, memory that is given back."""

from __future__ import annotations

import pickle
import resource
import subprocess
import sys

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import factored, random_matrix

from gridcore.linear import SingularMatrix
from gridcore_klu.by_rows import loops
from gridcore_klu.solver import KLU


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 30), seed=st.integers(0, 10**6))
def test_the_transposed_solve_is_the_adjoint_of_the_solve(n, seed):
    A = random_matrix(n, seed, density=0.2)
    u, v = np.random.default_rng(seed).standard_normal((2, n))
    try:
        lu = factored(KLU, A)
    except SingularMatrix:
        return
    left, right = u @ lu.solve(v.copy()), lu.tsolve(u.copy()) @ v
    scale = np.abs(np.linalg.inv(A.toarray())).sum() * np.abs(u).max() * np.abs(v).max()
    assert abs(left - right) <= 1e-14 * scale


def test_refactor_keeps_the_pivots_while_they_are_good():
    A = random_matrix(80, 3)
    lu = factored(KLU, A)
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
    lu = factored(KLU, A)
    plain = KLU().analyse(n, A.indptr, A.indices).factors()
    plain.analysis.settled = True
    plain.factor(A.data)
    assert lu.operations()[1] <= plain.operations()[1]
    b = np.random.default_rng(1).standard_normal(n)
    np.testing.assert_allclose(A @ lu.solve(b.copy()), b, atol=1e-9)


def test_a_matrix_of_several_blocks_is_made_by_rows_if_its_diagonal_is_there():
    """As that of two islands, or of a device that nobody reads."""
    parts = [random_matrix(n, n, density=0.3) for n in (9, 1, 14)]
    A = sp.csc_array(sp.block_diag(parts))
    A.sort_indices()
    for matrix, blocks in ((A, 1), (sp.csc_array(A[np.roll(np.arange(24), 1)]), 3)):
        lu = KLU().analyse(24, matrix.indptr, matrix.indices).factors(loose=True)
        assert (lu.analysis.symbolic.nblocks, lu.rows is not None) == (blocks, blocks == 1 and bool(loops()))
        lu.factor(matrix.data)
        b = np.random.default_rng(0).standard_normal(24)
        np.testing.assert_allclose(matrix @ lu.solve(b.copy()), b, rtol=0, atol=1e-13)


def test_klu_gives_its_memory_back():
    A = random_matrix(54, 12)
    lu = factored(KLU, A)

    def work(times):
        for _ in range(times):
            lu.factor(A.data)
            factored(KLU, A)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = work(100)
    assert work(1000) - before < 2000  # kB; without giving back it is over 20000


def test_another_solver_takes_over_where_nbklu_cannot_be_imported():
    code = ("import sys; sys.modules['nbklu'] = None; from gridcore.linear import linear_solver;"
            "print(type(linear_solver()).__name__)")
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "SuperLU"


def test_many_right_hand_sides_are_solved_in_other_units_too():
    A = random_matrix(30, 13, density=0.2)
    unit = np.where(np.arange(30) % 7 == 3, 1e-20, 1.0)
    lu = factored(KLU, sp.csc_array(A @ sp.diags_array(unit)))
    x = np.random.default_rng(0).uniform(1, 2, (40, 30))
    np.testing.assert_allclose(lu.solve((A @ x.T).T.copy()) * unit, x, rtol=1e-11)
    np.testing.assert_allclose(lu.tsolve(np.ascontiguousarray((A.T @ x.T).T * unit)), x, rtol=1e-11)


def test_a_pivot_tolerance_that_has_settled_stays_so_in_a_pickle():
    analysis = KLU().analyse(3, [0, 1, 2, 3], [0, 1, 2])
    analysis.tolerance, analysis.settled = 0.01, True
    again = pickle.loads(pickle.dumps(analysis))
    assert (again.tolerance, again.settled) == (0.01, True)
    again.factors().factor(np.ones(3))


def test_nothing_of_the_binding_outlives_its_module():
    """A system that is still there when Python ends, out of reach of its garbage collection."""
    code = ("import ctypes, gridcore as gc; run = gc.simulate(gc.build('wscc9'), 0.1, 0.01);"
            "ctypes.pythonapi.Py_IncRef(ctypes.py_object(run))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
