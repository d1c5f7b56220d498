"""Solves with the factors taken out of KLU: those of KLU, for any matrix and number of right-hand sides."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gridcore as gc
from gridcore.equations.native import FALLBACK, Fallback, Native
from gridcore.linear.klu import KLU

MANY = Native.many


@pytest.fixture(scope="module")
def runtime():
    found = gc.build("smib").system.runtime
    if found is FALLBACK:
        pytest.skip("no C compiler")
    return found


@given(st.integers(1, 40), st.integers(MANY, 40), st.floats(0.02, 0.5), st.integers(0, 10**6))
def test_solves_are_those_of_the_matrix(runtime, n, count, density, seed):
    rng = np.random.default_rng(seed)
    A = (sp.random(n, n, density, random_state=rng) + sp.diags(rng.uniform(1, 2, n)))[rng.permutation(n)].tocsc()
    A.sort_indices()
    lu = KLU().analyse(n, A.indptr, A.indices).factors()
    for scale in (1.0, rng.uniform(0.5, 2.0, len(A.data))):  # factors, and others with the same pivots
        A.data *= scale
        lu.refactor(A.data)
        b = rng.normal(size=(count, n))
        condition = np.linalg.cond(A.toarray(), 1)
        x = lu.solve(b.copy())
        np.testing.assert_allclose(x @ A.T.toarray(), b, rtol=0, atol=1e-14 * n * condition * np.abs(b).max())
        y = lu.tsolve(b.copy())
        np.testing.assert_allclose(y @ A.toarray(), b, rtol=0, atol=1e-14 * n * condition * np.abs(b).max())
    assert lu.solves == 4 * count


def test_many_and_few_right_hand_sides_agree_on_a_system_of_many_blocks(runtime):
    system = gc.build("ieee118")
    run = gc.simulate(system, 0.2)
    ws = system.workspace()
    ws.X[:] = run.X[-1]
    ws.mass[:] = system.base_differential
    ws.c[:] = np.where(system.base_differential, 0.01, -1)
    lu = system.system.factors()
    lu.factor(ws.matrix())
    b = np.random.default_rng(0).normal(size=(2 * MANY + 3, system.n))
    for name in ("solve", "tsolve"):
        many = getattr(lu, name)(b.copy())
        one = np.array([getattr(lu, name)(row.copy()) for row in b])
        np.testing.assert_allclose(many, one, rtol=1e-10, atol=1e-12 * np.abs(one).max())


@given(st.integers(1, 40), st.floats(0.02, 0.3), st.integers(0, 10**6))
def test_loops_in_numpy_solve_the_same(n, density, seed):
    class Loops(Fallback):
        many = 2  # where there is no compiler KLU's own solves are used, which are faster

    rng = np.random.default_rng(seed)
    A = (sp.random(n, n, density, random_state=rng) + sp.diags(rng.uniform(1, 2, n)))[rng.permutation(n)].tocsc()
    A.sort_indices()
    b, condition = rng.normal(size=(3, n)), np.linalg.cond(A.toarray(), 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gridcore.linear.klu.runtime", Loops)
        lu = KLU().analyse(n, A.indptr, A.indices).factors()
        lu.factor(A.data)
        for solve, matrix in ((lu.solve, A.T), (lu.tsolve, A)):
            np.testing.assert_allclose(solve(b.copy()) @ matrix.toarray(), b, rtol=0,
                                       atol=1e-14 * n * condition * np.abs(b).max())
