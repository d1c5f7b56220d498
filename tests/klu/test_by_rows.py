"""Factors by rows: those of KLU, for any irreducible matrix; and pivots that several of them share."""

import contextlib
import ctypes
import functools
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from nbklu import _ext as klu
from pivot_growth import residual_bound
from short_segments import POINTS

import gridcore as gc
from gridcore.equations.native import FALLBACK, Library
from gridcore.linear import Newton, SingularMatrix
from gridcore.testing import linear_solver_checks
from gridcore_klu import by_rows
from gridcore_klu.by_rows import FILES, ByRows, Values, loops
from gridcore_klu.solver import KLU

pytestmark = pytest.mark.skipif(not loops(), reason="no C compiler")


def matrix(n, density, seed):
    """A random one, with a circle through all unknowns: it is irreducible."""
    rng = np.random.default_rng(seed)
    circle = sp.csc_array((rng.uniform(0.1, 1, n), (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n))
    A = sp.csc_array(sp.random_array((n, n), density=density, rng=rng) + sp.diags_array(rng.uniform(1, 2, n)) + circle)
    A.sort_indices()
    return A


def repeated(count, size, reached, density, seed):
    """One with `count` parts that have one pattern, each of which hangs on some unknowns of a random core."""
    rng, core, part = np.random.default_rng(seed), 2 * reached + 4, sp.coo_array(matrix(size, density, seed))
    rows, columns = [sp.coo_array(matrix(core, 0.3, seed)).row], [sp.coo_array(matrix(core, 0.3, seed)).col]
    inside, outside = rng.integers(size, size=(2, reached)), [rng.permutation(core)[:reached] for _ in range(count)]
    for own, at in zip(core + size * np.arange(count), outside, strict=True):
        rows += [own + part.row, own + inside[0], at]
        columns += [own + part.col, at, own + inside[1]]
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    n = core + size * count
    A = sp.csc_array(sp.coo_array((rng.uniform(0.1, 1, len(rows)), (rows, columns)), shape=(n, n))
                     + sp.diags_array(rng.uniform(2, 3, n)))
    A.sort_indices()
    return A


matrices = st.one_of(
    st.builds(matrix, st.integers(2, 60), st.floats(0.0, 0.6), st.integers(0, 10**6)),
    st.builds(repeated, st.integers(4, 30), st.integers(2, 45), st.integers(1, 18), st.floats(0.0, 0.4),
              st.integers(0, 10**6)))


@contextlib.contextmanager
def blocks_from(least):
    """Look for blocks in matrices of so many unknowns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_rows, "LEAST", least)
        yield


def factors(A, kind=ByRows):
    lu = KLU().analyse(A.shape[0], A.indptr, A.indices).factors(loose=True)
    assert isinstance(lu.rows, kind)
    return lu


def of_klu(A, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(by_rows, "loops", dict)
        return factors(A, type(None))


@given(matrices, st.integers(1, 5), st.sampled_from([0, np.iinfo(int).max]), st.integers(0, 10**6))
def test_solves_are_those_of_the_matrix(A, count, least, seed):
    rng = np.random.default_rng(seed)
    lu = factors(A)
    for scale in (1.0, rng.uniform(0.5, 2.0, len(A.data)), 1e-9):  # factors, and others with the same pivots
        A.data *= scale
        with blocks_from(least):
            lu.refactor(A.data)
        b = rng.normal(size=(count, A.shape[0]))
        most = residual_bound(A, lu, lu.analysis.symbolic, b)
        np.testing.assert_allclose(lu.solve(b.copy()) @ A.T.toarray(), b, rtol=0, atol=most)
        np.testing.assert_allclose(lu.tsolve(b.copy()) @ A.toarray(), b, rtol=0, atol=most)
    assert lu.solves == 6 * count


@given(matrices, st.integers(1, 3), st.integers(0, 10**6))
def test_what_a_loop_in_c_finds_of_factors_that_klu_has_made_are_factors_with_their_pivots(A, count, seed):
    lu, rng = KLU().analyse(A.shape[0], A.indptr, A.indices).factors(), np.random.default_rng(seed)
    assert lu.compiled() is None  # no pivots yet
    lu.factor(A.data)
    found, place = lu.compiled(), Library.place
    number = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 3)
    in_place = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p)
    A.data *= rng.uniform(0.9, 1.1, len(A.data))
    ratio, growth = (number(of)(found.pivots, place(A.data), found.values) for of in (found.refactor, found.growth))
    assert ratio > found.singular
    assert found.least > 0
    assume(growth > found.least)  # or else pivots are searched anew
    lu.refactor(A.data)
    b = rng.normal(size=(count, A.shape[0]))
    most, x, transposed = residual_bound(A, lu, lu.analysis.symbolic, b), b.copy(), b.copy()
    in_place(found.solve)(found.pivots, found.values, count, place(x))
    in_place(found.tsolve)(found.pivots, found.values, count, place(transposed))
    np.testing.assert_allclose(x @ A.T.toarray(), b, rtol=0, atol=most)
    np.testing.assert_allclose(transposed @ A.toarray(), b, rtol=0, atol=most)


@pytest.mark.parametrize("A", [
    matrix(300, 0.002, 1), matrix(300, 0.02, 1), matrix(300, 0.2, 1), repeated(17, 12, 3, 0.1, 1),
    repeated(9, 30, 2, 0.02, 1)], ids=["sparse", "filled", "full", "repeated", "devices"])
def test_what_klu_says_of_its_factors_is_said_of_these(A, monkeypatch):
    monkeypatch.setattr(by_rows, "LEAST", 0)
    n = A.shape[0]
    analysis, said, solved = KLU().analyse(n, A.indptr, A.indices), [], []
    for library in (ByRows(), klu):
        common = klu.Common()
        common.defaults()
        of = analysis.symbolic, library.factor(analysis.indptr, analysis.indices, A.data, analysis.symbolic, common)
        for k in range(4):
            values = A.data * np.random.default_rng(k).uniform(0.5, 1.5, len(A.data))
            assert library.refactor(analysis.indptr, analysis.indices, values, *of, common)
            library.rcond(*of, common)
            library.rgrowth(analysis.indptr, analysis.indices, values, *of, common)
            library.flops(*of, common)
            b = np.ones((2, n))
            library.solve(*of, n, 1, b[0], common)
            library.tsolve(*of, n, 1, b[1], common)
            said.append([common.rcond, common.rgrowth, common.flops])
            solved.append(b / np.abs(b).max(axis=1, keepdims=True))
        of[1].free(common)
    smallest = min(rcond for rcond, *_ in said)  # a pivot that is left of others has their round-off
    np.testing.assert_allclose(said[:4], said[4:], rtol=1e-13 / smallest)
    np.testing.assert_allclose(solved[:4], solved[4:], rtol=0, atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_entry_of_u_that_is_not_finite_has_grown_without_bound_at_every_place(bad):
    A = matrix(30, 0.1, 1)
    analysis, library, common = KLU().analyse(30, A.indptr, A.indices), ByRows(), klu.Common()
    common.defaults()
    rows = library.factor(analysis.indptr, analysis.indices, A.data, analysis.symbolic, common)
    upper = np.ctypeslib.as_array(ctypes.cast(Values.from_address(rows.places[1]).upper,
                                              ctypes.POINTER(ctypes.c_double)), (rows.unz - rows.n,))
    found = []
    for place, entry in enumerate(upper.tolist()):
        upper[place] = bad
        library.rgrowth(analysis.indptr, analysis.indices, A.data, analysis.symbolic, rows, common)
        found.append(common.rgrowth)
        upper[place] = entry
    assert len(found) > 30
    assert not any(found)
    library.rgrowth(analysis.indptr, analysis.indices, A.data, analysis.symbolic, rows, common)
    assert common.rgrowth > 0.1


def test_every_requirement_of_a_linear_solver_is_met():
    assert not linear_solver_checks.report(KLU).problems


class TestAnother:
    def test_takes_the_pivots_that_were_found(self):
        A = matrix(80, 0.05, 3)
        first = factors(A)
        first.factor(A.data)
        others = [first.another() for _ in range(3)]
        for k, lu in enumerate(others):
            lu.refactor(A.data * (1 + 0.1 * k))
            assert (lu.factorisations, lu.refactorisations) == (0, 1)
            assert lu.operations() == first.operations()
        for k, lu in enumerate(others):  # each has values of its own
            np.testing.assert_allclose((1 + 0.1 * k) * (A @ lu.solve(np.ones(80))), 1.0, rtol=1e-11)

    def test_searches_where_they_are_not_good(self):
        A = matrix(80, 0.05, 3)
        first = factors(A)
        first.factor(A.data)
        lu, other = first.another(), A.data.copy()
        other[A.indices == np.repeat(np.arange(80), np.diff(A.indptr))] = 1e-9  # pivots were on the diagonal
        lu.refactor(other)
        assert lu.factorisations == 1
        A.data = other
        np.testing.assert_allclose(A @ lu.solve(np.ones(80)), 1.0, rtol=1e-9)

    def test_searches_once_they_are_given_up(self):
        A = matrix(80, 0.05, 3)
        first = factors(A)
        first.factor(A.data)
        lu = first.another()
        first.forget()
        lu.refactor(A.data)
        assert (lu.factorisations, lu.refactorisations) == (1, 0)

    def test_searches_where_the_last_matrix_was_singular(self):
        A = matrix(80, 0.05, 3)
        first = factors(A)
        first.factor(A.data)
        lu = first.another()
        with pytest.raises(SingularMatrix):
            first.refactor(np.where(np.arange(len(A.data)) < A.indptr[1], 0.0, A.data))
        lu.refactor(A.data)
        assert lu.factorisations == 1
        np.testing.assert_allclose(A @ lu.solve(np.ones(80)), 1.0, rtol=1e-11)

    def test_comes_back_to_pivots_that_are_kept(self):
        A, counts = matrix(80, 0.05, 3), []
        first = factors(A)
        first.keep(A.data)
        for data in (A.data, 1.5 * A.data):
            first.forget()
            lu = first.another()
            lu.refactor(data)
            counts.append((lu.factorisations, lu.refactorisations))
            np.testing.assert_allclose(data[0] / A.data[0] * (A @ lu.solve(np.ones(80))), 1.0, rtol=1e-11)
        assert counts == [(0, 1)] * 2
        assert first.factorisations == 1

    def test_searches_where_those_that_are_kept_are_not_good_and_keeps_them(self):
        A = matrix(80, 0.05, 3)
        first, other = factors(A), A.data.copy()
        first.keep(A.data)
        other[A.indices == np.repeat(np.arange(80), np.diff(A.indptr))] = 1e-9  # pivots were on the diagonal
        for data, searches in ((other, 1), (A.data, 0)):
            first.forget()
            lu = first.another()
            lu.refactor(data)
            assert lu.factorisations == searches

    def test_keeps_nothing_of_a_singular_matrix(self):
        A = matrix(80, 0.05, 3)
        first = factors(A)
        first.keep(np.where(np.arange(len(A.data)) < A.indptr[1], 0.0, A.data))
        lu = first.another()
        lu.refactor(A.data)
        assert lu.factorisations == 1

    def test_of_another_solver_is_empty(self, monkeypatch):
        A = matrix(30, 0.05, 3)
        lu = of_klu(A, monkeypatch)
        lu.factor(A.data)
        assert lu.another().numeric is None


def test_what_factors_cost_is_known_also_where_another_iteration_has_found_their_pivots(monkeypatch):
    """Else chosen steps, whose first pivots the controller finds, would have new factors each."""
    monkeypatch.setattr("gridcore.linear.newton.MIXED", 0.1)
    ws = gc.build("ieee39").workspace()
    ws.mass[:], ws.c[:] = 1.0, 0.01
    first, second = Newton(ws), Newton(ws)
    for each in (first, second):
        assert not each.keeps
        each.factor()
        assert each.keeps
    assert (first.lu.factorisations, second.lu.factorisations) == (1, 0)


def test_what_factors_are_worth_is_known_by_pivots_that_are_kept_before_there_are_any(monkeypatch):
    """So a segment of a large system begins as it goes on; and nothing can be solved that was not factored."""
    monkeypatch.setattr("gridcore.linear.newton.MIXED", 0.1)
    ws = gc.build("ieee39").workspace()
    ws.mass[:], ws.c[:] = 1.0, 0.01
    ws.pivots.keep(ws.matrix())
    newton = Newton(ws)
    newton.renew()
    assert newton.keeps
    assert newton.lu.numeric is None
    with pytest.raises(RuntimeError, match="there are no factors"):
        newton.lu.solve(np.ones(ws.n))


@pytest.mark.usefixtures("short_segments")
class TestRun:
    """Of a system that keeps factors of steps of several lengths, as large ones do."""

    @pytest.fixture(autouse=True)
    def _keeps(self, monkeypatch):
        monkeypatch.setattr("gridcore.linear.newton.MIXED", -1.0)

    @staticmethod
    @functools.cache
    def system():
        return gc.build("wscc9_paper")

    def test_is_that_with_klu(self, monkeypatch):
        assert self.system().workspace().factors(loose=True).rows
        run = gc.simulate(self.system(), 2.0, 0.005)
        with monkeypatch.context() as patch:
            patch.setattr(by_rows, "loops", dict)
            klu = gc.simulate(self.system(), 2.0, 0.005)
        assert run.counters["locations"] > 2
        np.testing.assert_allclose(run.t, klu.t, rtol=0, atol=1e-12)
        np.testing.assert_allclose(run.X, klu.X, rtol=0, atol=1e-10)

    def test_searches_for_pivots_once_for_steps_switches_and_segments(self, monkeypatch):
        searches, factor = [], ByRows.factor
        monkeypatch.setattr(ByRows, "factor", lambda *of: (searches.append(of), factor(*of))[1])
        run = gc.simulate(self.system(), 2.0, 0.005)
        assert run.counters["switches"] > 1
        assert len(run.t) > 3 * POINTS
        assert len(searches) == 1

    def test_is_recomputed_to_the_last_bit(self):
        run, light = (gc.simulate(self.system(), 2.0, 0.005, checkpoint=kept) for kept in (
            "memory", 8 * self.system().n * (POINTS + 20)))
        assert light.X.tobytes() == run.X.tobytes()


def test_without_a_compiler_klu_does_it_itself(monkeypatch):
    monkeypatch.setattr(by_rows, "runtime", lambda: FALLBACK)
    assert by_rows.loops() == {}
    factors(matrix(20, 0.1, 1), type(None))


@pytest.mark.parametrize(("struct", "name"), [
    (by_rows.Triangle, "triangle"), (by_rows.Early, "eliminations"), (by_rows.Blocks, "blocks"),
    (by_rows.Pivots, "pivots"), (by_rows.Values, "values"), (by_rows.Source, "source")])
def test_fields_are_those_of_the_struct_in_their_order(struct, name):
    source = "".join(each.read_text() for each in FILES)
    body = re.search(rf"typedef struct {{([^}}]*)}} {name};", source).group(1)
    declared = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = [re.split(r"[ *]+", part.strip())[-1] for part in re.split("[,;]", declared) if part.strip()]
    assert fields == [field for field, _ in struct._fields_]
