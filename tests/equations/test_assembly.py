"""The C loops and the numpy ones give the same, and both what they promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from devices_for_tests import Limited, registered, system

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param
from gridcore.equations.native import FALLBACK, compiler

needs_compiler = pytest.mark.skipif(compiler.compiler_path() is None, reason="no C compiler")


def interpreted(case):
    """A system that was built without a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(compiler.NO_COMPILER, "1")
        compiler.compiler_path.cache_clear()
        s = gc.build(case)
    compiler.compiler_path.cache_clear()
    assert s.system.runtime is FALLBACK
    return s


@pytest.fixture(scope="module", params=["wscc9_paper", "kundur", "wscc9_recovery_loads", "hiskens_pai"])
def pair(request):
    compiled = gc.build(request.param)
    if compiled.system.runtime is FALLBACK:
        pytest.skip("no C compiler")
    return compiled, interpreted(request.param)


def both(pair, seed=0):
    """Two workspaces at the same random point, with the same step."""
    rng = np.random.default_rng(seed)
    Z = pair[0].Z0.copy()
    n = pair[0].n
    Z[:n] += 0.05 * rng.normal(size=n)
    mass, c, base = rng.integers(0, 2, n).astype(float), rng.normal(size=n), rng.normal(size=n)
    made = [s.workspace() for s in pair]
    for ws in made:
        ws.load(Z)
        ws.mass[:], ws.c[:], ws.base[:] = mass, c, base
    return made


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13 * max(1.0, np.abs(b).max()))


def test_right_hand_side(pair):
    a, b = both(pair)
    same(a.rhs().copy(), b.rhs())


def test_residual(pair):
    a, b = both(pair)
    a.residual(), b.residual()
    same(a.R, b.R)


def test_matrix(pair):
    a, b = both(pair)
    same(a.matrix().copy(), b.matrix())


@pytest.mark.parametrize("tolerance", [0.0, 1e9])
def test_newton_update_and_the_residual_that_it_leaves(pair, tolerance):
    a, b = both(pair)
    a.R[:] = b.R[:] = np.random.default_rng(1).normal(size=a.n)
    assert a.newton(tolerance) == pytest.approx(b.newton(tolerance), rel=1e-14)
    same(a.X, b.X)
    same(a.R, b.R)


def test_a_number_that_is_none_shows_in_the_norm(pair):
    for assembly in both(pair):
        assembly.R[:] = 0.0
        assembly.R[-1] = np.nan
        assert np.isnan(assembly.newton(1e9))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_with_a_number_that_is_none_at_any_place_is_not_among_the_trusted_ones(pair, bad):
    for ws in both(pair):
        assert ws.matrix() is ws.entries
        c = ws.c.copy()
        for row in np.unique(ws.indices):
            ws.c[:] = c
            ws.c[row] = bad
            values = ws.matrix()
            assert values is not ws.entries
            assert not np.isfinite(values).all()


def test_operating_point_and_run_are_the_same(pair):
    compiled, plain = pair
    np.testing.assert_allclose(compiled.Z0, plain.Z0, rtol=1e-12, atol=1e-12)
    a, b = (gc.simulate(s, 0.3, 0.01) for s in pair)
    assert [str(e) for e in a.events] == [str(e) for e in b.events]
    np.testing.assert_allclose(a.X, b.X, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- what they promise


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=needs_compiler)], ids=["numpy", "C"])
def grid(request):
    return gc.build("wscc9_paper") if request.param else interpreted("wscc9_paper")


def test_the_residual_is_base_plus_c_f_minus_mass_x(grid):
    a, _ = both((grid, grid))
    a.residual()
    np.testing.assert_allclose(a.R, a.base + a.c * grid.rhs(a.Z.copy()) - a.mass * a.X, rtol=1e-14, atol=1e-12)


def test_the_matrix_is_minus_the_derivative_of_the_residual(grid):
    a, _ = both((grid, grid))
    mass, c = a.mass.copy(), a.c.copy()
    A = sp.csc_matrix((a.matrix().copy(), a.indices, a.indptr), shape=(a.n, a.n)).toarray()
    F_X = grid.jacobian(a.Z.copy()).toarray()
    np.testing.assert_allclose(A, np.diag(mass) - c[:, None] * F_X, rtol=1e-13, atol=1e-10)


def test_linear_devices_are_not_evaluated_again_and_follow_their_parameters(grid):
    """Lines are a constant matrix until `refresh`, and then the new one."""
    layout, Z = grid.layout, grid.Z0.copy()
    line = layout.address("LINE5-7.x")
    before = grid.rhs(Z)
    Z[line] *= 2
    ws = grid.workspace()
    ws.Z[:] = Z
    np.testing.assert_array_equal(ws.rhs(), before)
    after = grid.rhs(Z)
    changed = {grid.variables[k][0] for k in np.flatnonzero(after != before)}
    assert changed == {"BUS5", "BUS7"}


@pytest.mark.parametrize("seed", range(10))
def test_a_refresh_that_is_told_what_has_changed_is_one_of_all(grid, seed):
    random, told, layout = np.random.default_rng(seed), grid.workspace(), grid.layout
    names = ["LINE5-7.x", "LINE5-7.status", "LINE4-5.b", "GEN2.H", "GEN2.status", "EXC1.KA", "BUS5.Vm0"]
    for _ in range(4):
        changed = np.array([layout.address(name) for name in random.choice(names, random.integers(0, 4))], dtype=int)
        told.Z[changed] *= random.uniform(0.5, 2.0, len(changed))
        told.refresh(np.append(changed, random.integers(grid.n, len(told.Z) - 1, 3)))
        whole = grid.workspace(told.Z)
        assert told.rhs().tobytes() == whole.rhs().tobytes()
        assert told.matrix().tobytes() == whole.matrix().tobytes()


def test_a_linear_device_out_of_service_carries_nothing(grid):
    Z = grid.Z0.copy()
    Z[grid.layout.address("LINE5-7.status")] = 0
    moved = grid.rhs(Z)
    place = {name: k for k, name in enumerate(grid.variables)}
    V = {bus: complex(*(Z[place[bus, part]] for part in ("Vr", "Vi"))) for bus in ("BUS5", "BUS7")}
    r, x, b = (Z[grid.layout.address(f"LINE5-7.{name}")] for name in "rxb")
    drawn = (V["BUS5"] - V["BUS7"]) / complex(r, x) + 0.5j * b * V["BUS5"]
    missing = complex(*(moved[place["BUS5", part]] for part in ("Vr", "Vi")))
    assert missing == pytest.approx(drawn, abs=1e-11)


def test_constants_of_linear_devices_are_kept():
    class Offset(Device):
        a = Param("", 3.0)
        y = Algebraic("")

        def residuals(s):
            return 2 * s.y - s.a

    with registered(Offset):
        s = system(Offset(id="A"), Offset(id="B", a=5.0))
    assert s.system.equations.linear_rhs
    np.testing.assert_allclose(s.Z0[: s.n], [1.5, 2.5], rtol=1e-15)


def test_a_system_without_linear_devices(small_devices):
    s = system(Limited(id="L"))
    assert s.rhs(s.Z0)[0] == 1.0  # cos 0
