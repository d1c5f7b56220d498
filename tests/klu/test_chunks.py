"""Blocks of one form, which factors by rows eliminate side by side."""

import ctypes
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from nbklu import _ext as klu
from test_by_rows import factors, matrix, repeated

from gridcore_klu import by_rows
from gridcore_klu.by_rows import ByRows, Pivots, Values, loops
from gridcore_klu.solver import KLU

pytestmark = pytest.mark.skipif(not loops(), reason="no C compiler")


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch):
    monkeypatch.setattr(by_rows, "LEAST", 0)


def ints(place, count):
    return np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(ctypes.c_int)), (count,))


def factored(A):
    lu = factors(A)
    lu.factor(A.data)
    return lu, Pivots.from_address(lu.numeric.places[0])


@pytest.mark.parametrize(("count", "size", "reached"), [(17, 12, 3), (16, 8, 1), (100, 6, 2)])
def test_parts_of_one_pattern_are_blocks_of_one_form(count, size, reached):
    lu, pivots = factored(repeated(count, size, reached, 0.1, 1))
    blocks = pivots.blocks
    some = ints(blocks.some, blocks.chunks)
    forms = ints(blocks.form, blocks.chunks)
    sizes = [ints(blocks.forms, blocks.ints)[form] for form in forms]
    assert np.dot(some, sizes) == lu.n - pivots.n
    assert np.dot(some, sizes) >= count * size
    assert len(set(forms)) <= 2


def test_a_matrix_without_parts_has_no_blocks_of_many():
    lu, pivots = factored(matrix(200, 0.05, 1))
    assert pivots.n > 0.7 * lu.n


def test_smaller_matrices_have_none(monkeypatch):
    monkeypatch.setattr(by_rows, "LEAST", 500)
    _, pivots = factored(repeated(17, 12, 3, 0.1, 1))
    assert (pivots.blocks.chunks, pivots.n) == (0, 214)


@pytest.mark.parametrize("count", range(4, 21))
def test_equal_parts_have_equal_solutions_in_every_lane(count):
    rng, core, size = np.random.default_rng(count), matrix(6, 0.3, 2).toarray(), 9
    part, to, back = matrix(size, 0.1, 3).toarray(), np.zeros((6, size)), np.zeros((size, 6))
    to[[0, 3], [size - 1, 4]], back[[2, 5], [1, 4]] = rng.uniform(0.1, 1, (2, 2))
    A = sp.csc_array(sp.block_array([[core, *[to] * count], *(
        [back, *[part if j == k else None for j in range(count)]] for k in range(count))]))
    A.sort_indices()
    lu, pivots = factored(A)
    assert pivots.blocks.pivots >= (count - 1) * size
    b = np.concatenate([rng.normal(size=6), np.tile(rng.normal(size=size), count)])
    for solve, of in ((lu.solve, A), (lu.tsolve, A.T)):
        x = solve(b.copy())
        np.testing.assert_allclose(of @ x, b, rtol=0, atol=1e-12)
        alike = Counter(each.tobytes() for each in x[6:].reshape(count, size))
        assert alike.most_common(1)[0][1] >= count - 1  # one may be eliminated with the core


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_entry_of_u_that_is_not_finite_has_grown_without_bound_in_every_block(bad):
    A = repeated(8, 6, 2, 0.2, 1)
    analysis, library, common = KLU().analyse(A.shape[0], A.indptr, A.indices), ByRows(), klu.Common()
    common.defaults()
    rows = library.factor(analysis.indptr, analysis.indices, A.data, analysis.symbolic, common)
    blocks, at, found = Pivots.from_address(rows.places[0]).blocks, 0, []
    numbers = np.ctypeslib.as_array(ctypes.cast(Values.from_address(rows.places[1]).numbers,
                                                ctypes.POINTER(ctypes.c_double)), (blocks.numbers,))
    lanes = blocks.pivots // sum(ints(blocks.forms, blocks.ints)[form] for form in ints(blocks.form, blocks.chunks))
    for form in ints(blocks.form, blocks.chunks):
        _, _, upper, sums, _, count = ints(blocks.forms, blocks.ints)[form: form + 6]
        for place in range(at + lanes * upper, at + lanes * sums):
            entry, numbers[place] = numbers[place], bad
            library.rgrowth(analysis.indptr, analysis.indices, A.data, analysis.symbolic, rows, common)
            found.append(common.rgrowth)
            numbers[place] = entry
        at += lanes * count
    assert at == blocks.numbers
    assert len(found) > 60
    assert not any(found)
    library.rgrowth(analysis.indptr, analysis.indices, A.data, analysis.symbolic, rows, common)
    assert common.rgrowth > 0.1


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_zero_pivot_in_a_block_is_singular(place):
    A = repeated(8, 6, 2, 0.2, 1)
    lu, _ = factored(A)
    own = {"first": slice(8, 14), "last": slice(8 + 7 * 6, 14 + 7 * 6)}[place]
    other = A.toarray()
    other[own, own] = 0.0
    kept = sp.csc_array(A)
    kept.data = other[kept.indices, np.repeat(np.arange(A.shape[0]), np.diff(kept.indptr))]
    common = klu.Common()
    common.defaults()
    assert not lu.rows.refactor(lu.indptr, lu.indices, kept.data, lu.analysis.symbolic, lu.numeric, common)
    assert common.rcond == 0.0
