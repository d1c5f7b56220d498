"""Sparse derivatives of whole systems, against differences of the functions themselves."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import scipy.sparse as sp
from devices_for_tests import Delayed, Limited, LinearDAE, system

import gridcore as gc
from gridcore.equations import Entries, SparseMap, vector_function


def slopes(f, Z, columns, h=1e-3):
    """Derivative of f in the given entries of Z: central differences, extrapolated twice (error h^6)."""
    def central(at, h):
        up, down = Z.copy(), Z.copy()
        up[at] += h
        down[at] -= h
        return (f(up) - f(down)) / (2 * h)

    out = []
    for at in columns:
        size = h * max(1.0, abs(Z[at]))
        a, b, c = (central(at, size / k) for k in (1, 2, 4))
        ab, bc = (4 * b - a) / 3, (4 * c - b) / 3
        out.append((16 * bc - ab) / 15)
    return np.array(out).T


def moved(s, seed=0):
    """Z of a system somewhere near its operating point, not at rest."""
    rng, Z = np.random.default_rng(seed), s.Z0.copy()
    Z[: s.n] += 0.02 * rng.normal(size=s.n)
    Z[-1] = 0.37
    return Z


@pytest.fixture(scope="module", params=["wscc9_paper", "wscc9_recovery_loads", "kundur"])
def grid(request):
    return gc.build(request.param)


def close(matrix, expected):
    np.testing.assert_allclose(matrix, expected, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(expected).max()))


def test_jacobian_in_the_variables(grid):
    Z = moved(grid)
    close(grid.jacobian(Z).toarray(), slopes(grid.rhs, Z, range(grid.n)))


def test_jacobian_in_the_parameters(grid):
    Z = moved(grid)
    # where a time constant, a filter, a saturation is zero, the row has another equation: no derivative there
    absent = ("T", "A", "S1", "VC")
    smooth = [at for name, at in grid.layout.parameter_names.items()
              if np.isfinite(Z[at]) and not (Z[at] == 0 and name.rpartition(".")[2].startswith(absent))]
    columns = np.random.default_rng(1).choice(smooth, 60, replace=False)
    close(grid.system.parameter_jacobian(columns).evaluate(Z).toarray(), slopes(grid.rhs, Z, columns))


def test_gradients_of_the_guards_in_variables_and_time(grid):
    Z = moved(grid)
    columns = [*range(grid.n), grid.layout.t]
    expected = slopes(lambda Z: grid.switching.values(Z), Z, columns).reshape(len(grid.switching.guards), -1)
    for guard in range(len(grid.switching.guards)):
        full = np.zeros(len(columns))
        np.add.at(full, *grid.system.guard_gradients(columns)(guard)(Z))
        close(full, expected[guard])
        where, gradient, slope = grid.system.guard_row(guard)(Z)
        full = np.zeros(grid.n)
        full[where] = gradient
        close(np.append(full, slope), expected[guard])


def test_explicit_time(small_devices):
    s = system(LinearDAE(id="D"), Limited(id="L"), Delayed(id="X"))
    Z = s.Z0.copy()
    Z[-1] = 0.8
    expected = slopes(s.rhs, Z, [s.layout.t]).ravel()
    assert np.abs(expected).max() > 0.5
    close(s.system.time_slope(Z), expected)


def test_a_system_that_does_not_read_the_time_has_no_slope_in_it():
    s = gc.build("hiskens_pai")
    assert s.system.time_slope(s.Z0) is None


def test_at_a_limit_the_row_is_the_row_of_the_limit(small_devices):
    s = system(Limited(id="L"))
    Z = s.Z0.copy()
    Z[s.layout.address("L.x_limit")] = 1
    row = s.jacobian(Z).toarray()[0]
    assert row[0] == 1
    assert list(s.differential(Z)) == [False, False]
    assert list(s.differential(s.Z0)) == [True, False]


def test_a_driven_input_is_a_column_of_what_drives_it():
    s = gc.build("wscc9_paper")
    names = {f"{device}.{variable}": k for k, (device, variable) in enumerate(s.variables)}
    entry = s.jacobian(s.Z0)[names["GEN1.Eqp"], names["EXC1.Efd"]]
    assert entry == pytest.approx(1 / s.Z0[s.layout.address("GEN1.Td0p")], rel=1e-14)


# ---------------------------------------------------------------- the map itself


def entries(rows, columns, constant=False):
    """Entries of a group: the k-th output of each instance is (k + 1) times what it reads."""
    x = ca.SX.sym("x")
    function = vector_function("scaled", [x], [(k + 1) * x for k in range(len(rows[0]))])
    gather = np.arange(len(rows), dtype=np.int32)[:, None]
    return Entries(function, gather, np.array(rows), np.array(columns), constant)


def test_entries_are_summed_where_they_meet_and_dropped_where_they_are_nowhere():
    first = entries([[0, 1, 2], [1, 1, -1]], [[0, 0, 1], [2, 0, 1]])
    second = entries([[1, 0]], [[0, -1]])
    Z = np.array([10.0, 100.0])
    expected = np.zeros((3, 3))
    expected[0, 0] += 10
    expected[1, 0] += 20 + 200 + 10
    expected[2, 1] += 30
    expected[1, 2] += 100
    matrix = SparseMap((3, 3), [first, None, second]).evaluate(Z)
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert matrix.nnz == 4


def test_the_diagonal_may_be_kept_in_the_pattern():
    matrix = SparseMap((3, 3), [entries([[0]], [[1]])], np.arange(3)).evaluate(np.array([5.0]))
    assert matrix.nnz == 4
    np.testing.assert_array_equal(matrix.toarray(), [[0, 5, 0], [0, 0, 0], [0, 0, 0]])


def test_the_pattern_is_sorted_csc(grid):
    matrix = sp.csc_matrix(grid.jacobian(grid.Z0))
    assert matrix.has_canonical_format


def test_a_map_without_parts_is_the_zero_matrix():
    matrix = SparseMap((2, 3), []).evaluate(np.zeros(1))
    assert matrix.shape == (2, 3)
    assert matrix.nnz == 0
