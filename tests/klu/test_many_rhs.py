"""Solves with the factors taken out of KLU: those of KLU, for any matrix and number of right-hand sides."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from pivot_growth import residual_bound

import gridcore as gc
from gridcore.equations.native import FALLBACK
from gridcore_klu import many_rhs, solver
from gridcore_klu.many_rhs import MANY, SOURCE, Factors, loops
from gridcore_klu.solver import KLU

needs_compiler = pytest.mark.skipif(not loops(), reason="no C compiler")


@needs_compiler
@given(st.integers(1, 40), st.integers(MANY, 40), st.floats(0.02, 0.5), st.integers(0, 10**6))
@example(6, MANY, 0.2721700747883484, 721488)  # entries grow a thousandfold
def test_solves_are_those_of_the_matrix(n, count, density, seed):
    rng = np.random.default_rng(seed)
    A = (sp.random(n, n, density, random_state=rng) + sp.diags(rng.uniform(1, 2, n)))[rng.permutation(n)].tocsc()
    A.sort_indices()
    analysis = KLU().analyse(n, A.indptr, A.indices)
    lu = analysis.factors()
    for scale in (1.0, rng.uniform(0.5, 2.0, len(A.data))):  # factors, and others with the same pivots
        A.data *= scale
        lu.refactor(A.data)
        b = rng.normal(size=(count, n))
        most = residual_bound(A, lu, analysis.symbolic, b)
        np.testing.assert_allclose(lu.solve(b.copy()) @ A.T.toarray(), b, rtol=0, atol=most)
        np.testing.assert_allclose(lu.tsolve(b.copy()) @ A.toarray(), b, rtol=0, atol=most)
    assert lu.solves == 4 * count


@needs_compiler
def test_many_and_few_right_hand_sides_agree_on_a_system_of_many_blocks():
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


def test_without_a_compiler_klu_solves_them_itself(monkeypatch):
    A, b = sp.csc_array(np.diag(np.arange(1.0, 6.0))), np.ones((MANY, 5))
    monkeypatch.setattr(solver, "loops", dict)
    lu = KLU().analyse(5, A.indptr, A.indices).factors()
    lu.factor(A.data)
    np.testing.assert_allclose(lu.solve(b), 1 / np.tile(A.data, (MANY, 1)), rtol=1e-15)


def test_without_a_compiler_there_are_no_loops(monkeypatch):
    monkeypatch.setattr(many_rhs, "runtime", lambda: FALLBACK)
    assert loops() == {}


def test_fields_are_those_of_the_struct_in_their_order():
    body = re.search(r"typedef struct {([^}]*)} factors;", SOURCE.read_text()).group(1)
    declared = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = [re.split(r"[ *]+", part.strip())[-1] for part in re.split("[,;]", declared) if part.strip()]
    assert fields == [field for field, *_ in Factors._fields_]
