"""The Jacobian in the four forms of PowerSimulationsDynamics.jl, dense and sparse, and its blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gridcore as gc
from gridcore.errors import GridcoreError


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9_paper")


@pytest.fixture(scope="module")
def forms(system):
    """Dense and sparse."""
    return [gc.analyses.linearise(system, sparse=sparse).jacobian for sparse in (False, True)]


def dense(J):
    return J.toarray() if sp.issparse(J) else J


def differenced(system, Z):
    """F_X by central differences, independent of the kernels of derivatives."""
    columns = []
    for k in range(system.n):
        h, up, down = 1e-6 * (1 + abs(Z[k])), Z.copy(), Z.copy()
        up[k], down[k] = Z[k] + h, Z[k] - h
        columns.append((system.rhs(up) - system.rhs(down)) / (2 * h))
    return np.array(columns).T


@pytest.fixture(scope="module")
def elsewhere(system):
    """Variables and parameters that are not those of the operating point."""
    random = np.random.default_rng(0)
    x = system.Z0[: system.n] * (1 + 0.01 * random.standard_normal(system.n))
    p = system.Z0[system.n: system.n + system.layout.n_p].copy()
    p[system.layout.address("GEN2.H") - system.n] *= 1.5
    p[system.layout.address("EXC1.KA") - system.n] *= 0.7
    return x, p


@pytest.mark.parametrize("kind", [0, 1])
def test_of_x(system, forms, elsewhere, kind):
    x, _ = elsewhere
    Z = system.Z0.copy()
    Z[: system.n] = x
    expected = differenced(system, Z)
    np.testing.assert_allclose(dense(forms[kind](x)), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [0, 1])
def test_into_j(forms, elsewhere, kind):
    x, _ = elsewhere
    J = forms[kind](2 * x)
    assert forms[kind](J, x) is J
    np.testing.assert_array_equal(dense(J), dense(forms[kind](x)))


@pytest.mark.parametrize("kind", [0, 1])
def test_with_other_parameters(system, forms, elsewhere, kind):
    x, p = elsewhere
    Z = system.Z0.copy()
    Z[: system.n], Z[system.n: system.n + len(p)] = x, p
    J = forms[kind](forms[kind](x), x, p, 0.0)
    np.testing.assert_allclose(dense(J), system.jacobian(Z).toarray(), rtol=1e-13, atol=1e-13)
    assert np.abs(dense(J) - dense(forms[kind](x))).max() > 1
    same = forms[kind](forms[kind](x), x, None, None)
    np.testing.assert_array_equal(dense(same), dense(forms[kind](x)))


@pytest.mark.parametrize("kind", [0, 1])
def test_of_the_residual_of_a_dae_solver(system, forms, elsewhere, kind):
    x, p = elsewhere
    gamma, M = 37.0, np.diag(system.differential(system.Z0).astype(float))
    J = forms[kind](forms[kind](x), np.zeros(system.n), x, p, gamma, 0.0)
    expected = gamma * M - dense(forms[kind](forms[kind](x), x, p, 0.0))
    np.testing.assert_allclose(dense(J), expected, rtol=1e-13, atol=1e-12)


def test_dense_and_sparse_are_the_same(forms, elsewhere):
    x, _ = elsewhere
    assert sp.issparse(forms[1](x))
    np.testing.assert_array_equal(forms[0](x), forms[1](x).toarray())


def test_what_does_not_fit_is_refused(system, forms, elsewhere):
    x, _ = elsewhere
    with pytest.raises(GridcoreError, match=r"x is \(3,\), expected \(54,\)"):
        forms[0](np.zeros(3))
    with pytest.raises(GridcoreError, match=r"J is \(2, 2\)"):
        forms[0](np.zeros((2, 2)), x)
    with pytest.raises(GridcoreError, match="pattern of the Jacobian"):
        forms[1](sp.identity(system.n, format="csc"), x)
    with pytest.raises(TypeError, match="jacobian takes"):
        forms[0](1, 2, 3)


def test_blocks_make_the_reduced_jacobian(system):
    linear = gc.analyses.linearise(system)
    reduced = linear.f_x - linear.f_y @ np.linalg.inv(linear.g_y) @ linear.g_x
    np.testing.assert_allclose(linear.reduced, reduced, atol=1e-9 * np.abs(reduced).max())
    whole = system.jacobian(system.Z0).toarray()
    np.testing.assert_array_equal(linear.f_y, whole[np.ix_(linear.x, linear.y)])
    np.testing.assert_array_equal(linear.g_x, whole[np.ix_(linear.y, linear.x)])
    sparse = gc.analyses.linearise(system, sparse=True)
    assert all(sp.issparse(block) for block in (sparse.f_x, sparse.f_y, sparse.g_x, sparse.g_y))
    np.testing.assert_array_equal(sparse.g_y.toarray(), linear.g_y)
    assert "27 differential, 27 algebraic" in repr(linear)


def test_reduced_jacobian_is_how_states_move_with_algebraic_variables_solved(system):
    """Of the nonlinear equations: y(x) by Newton, then rates differenced."""
    linear = gc.analyses.linearise(system)
    base, columns = system.Z0.copy(), []
    for k in linear.x[:8]:
        rates = []
        for sign in (1, -1):
            Z = base.copy()
            Z[k] += sign * 1e-5
            for _ in range(6):
                F = system.rhs(Z)
                Z[linear.y] -= np.linalg.solve(system.jacobian(Z).toarray()[np.ix_(linear.y, linear.y)], F[linear.y])
            rates.append(system.rhs(Z)[linear.x])
        columns.append((rates[0] - rates[1]) / 2e-5)
    np.testing.assert_allclose(linear.reduced[:, :8], np.array(columns).T, atol=1e-5)
