"""The sparse method finds what the dense one finds, and its certificate says what is true."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from large_systems import with_machines

import gridcore as gc
from gridcore.linear import linear_solver
from gridcore_smallsignal.cover import Cell, Certificate, Disc
from gridcore_smallsignal.linearisation import Linearisation
from gridcore_smallsignal.modes import by_damping, damping_ratio
from gridcore_smallsignal.sweep import least_damped
from gridcore_smallsignal.zeros import ZeroModes

NOT_AT_REST = {"hiskens_pai"}  # it starts moving
SHIPPED = sorted(f.parent.name for f in (Path(__file__).parents[2] / "cases").glob("*/case.toml"))
SAME = 1e-8  # relative to 1 + the eigenvalue


def up(values):
    """Of each pair one, without exact zeros."""
    return values[(values.imag >= 0) & (values != 0)]


def apart(some, others):
    """How far each is from the nearest of the others, relative."""
    some, others = np.asarray(some), np.asarray(others)
    return (np.abs(some[:, None] - others).min(axis=1) / (1 + np.abs(some))).max(initial=0.0)


@pytest.fixture(scope="module", params=[name for name in SHIPPED if name not in NOT_AT_REST])
def both(request):
    system = gc.build(request.param)
    if system.n > 4000:
        pytest.skip("dense would take long")
    return [gc.analyses.small_signal(system, method=m, count=50) for m in ("dense", "sparse")]


def test_sparse_finds_the_least_damped_ones_of_dense(both):
    dense, sparse = (up(m.eigenvalues) for m in both)
    wanted = dense[:50]
    assert len(sparse) == len(wanted)
    assert apart(wanted, sparse) < SAME
    assert apart(sparse, dense) < SAME
    assert both[0].labels.count("") == len(both[0]) - len([x for x in both[1].labels if x])


@pytest.mark.parametrize("name", sorted(NOT_AT_REST))
def test_what_is_left_out_here_has_no_equilibrium(name):
    with pytest.raises(gc.GridcoreError, match="no equilibrium"):
        gc.analyses.small_signal(gc.build(name))


def test_exact_zeros_are_the_same(both):
    assert sorted(filter(None, both[0].labels)) == sorted(filter(None, both[1].labels))


def test_participation_is_the_same(both):
    dense, sparse = both
    for k in sparse.pairs():
        j = dense.nearest(sparse.eigenvalues[k])
        alone = np.sort(np.abs(dense.eigenvalues - sparse.eigenvalues[k]))[1] > 1e-4
        if alone and not sparse.labels[k]:
            np.testing.assert_allclose(sparse.participation[:, k], dense.participation[:, j], atol=1e-7)


def test_each_disc_holds_as_many_eigenvalues_as_it_says(both):
    dense, sparse = both
    assert sparse.certificate.discs
    for disc in sparse.certificate.discs:
        distance = np.abs(dense.eigenvalues - disc.centre)
        if (np.abs(distance - disc.radius) > 1e-5 * (1 + disc.radius)).all():
            assert disc.inside == (distance < disc.radius).sum()


def test_whatever_is_less_damped_than_the_certificate_says_is_in_its_discs(both):
    dense, sparse = both
    certificate = sparse.certificate
    for value in dense.eigenvalues[(damping_ratio(dense.eigenvalues) < certificate.damping_ratio - 1e-9)]:
        assert certificate.covers(value)
    assert np.abs(dense.eigenvalues).max(initial=0.0) <= certificate.modulus
    assert certificate.residual < 4e-9  # of lags that are all but one, as kundur_converter has them; else 1e-12
    assert "discs" in str(certificate)


def test_sensitivities_are_the_same():
    system = gc.build("ieee118")
    dense, sparse = (gc.analyses.small_signal(system, method=m, count=10) for m in ("dense", "sparse"))
    wrt = ["GEN1*.H", "EXC1*.KA", "GEN10.V0", "LINE*.x"]
    numbers = [dense.nearest(sparse.eigenvalues[k]) for k in (0, 2, 4)]
    np.testing.assert_allclose(sparse.sensitivities(wrt, [0, 2, 4])["eigenvalue"].values,
                               dense.sensitivities(wrt, numbers)["eigenvalue"].values, atol=1e-8)


def test_nothing_of_a_smaller_copy_is_missed():
    """The system of 20 000 unknowns, in two parts of the twelve: 3344 unknowns, 1008 states."""
    system = gc.build(with_machines("case_ACTIVSg500", copies=2))
    dense, sparse = (gc.analyses.small_signal(system, method=m, count=50) for m in ("dense", "sparse"))
    assert apart(up(dense.eigenvalues)[:50], up(sparse.eigenvalues)) < SAME
    assert len(up(sparse.eigenvalues)) == 50


@pytest.mark.slow
def test_fifty_least_damped_modes_of_20_000_unknowns():
    system = gc.build(with_machines("case_ACTIVSg500", copies=12))
    assert system.n >= 20_000
    modes = gc.analyses.small_signal(system, method="sparse", count=50)
    found = up(modes.eigenvalues)
    assert len(found) == 50
    assert modes.labels.count("rotation") == 1
    assert modes.certificate.residual < 1e-9
    assert damping_ratio(found).max() <= modes.certificate.damping_ratio + 1e-9


def test_large_systems_are_sparse_by_themselves():
    system = gc.build(with_machines("case_ACTIVSg500", copies=2))
    assert gc.analyses.small_signal(system, count=3).method == "sparse"


def test_multiple_eigenvalues_are_found_as_often_as_there_are():
    """Four machines alike at one bus: what they do against each other comes three times."""
    case = gc.load_case("smib")
    machine = next(r for r in case.records if r.model == "Classical")
    case.records = [r for r in case.records if r is not machine and r.model not in ("BusFault", "BranchTrip")]
    for k in range(4):
        case.add(gc.Record("Classical", {**machine.fields, "id": f"G{k}", "P0": 0.225, "Sn": 555, "D": 3.0}))
    system = gc.build(case)
    dense, sparse = (gc.analyses.small_signal(system, method=m) for m in ("dense", "sparse"))
    assert len(sparse) == len(dense) == 8
    threefold = [v for v in up(dense.eigenvalues) if (np.abs(up(dense.eigenvalues) - v) < 1e-6).sum() == 3]
    assert len(threefold) == 3
    assert (np.abs(sparse.eigenvalues - threefold[0]) < 1e-8).sum() == 3
    assert np.linalg.matrix_rank(sparse.right, tol=1e-6) == 8
    np.testing.assert_allclose(sparse.left.T @ sparse.right, np.eye(8), atol=1e-6)


def pencil(A):
    """A matrix in place of a linearised system."""
    linear = Linearisation.__new__(Linearisation)
    n = len(A)
    linear.system = SimpleNamespace(n=n, system=SimpleNamespace(linear_solver=linear_solver()))
    linear.x, linear.y = np.arange(n), np.zeros(0, dtype=int)
    linear.__dict__["matrix"] = sp.csc_matrix(A)
    return linear


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), count=st.integers(1, 12), shift=st.floats(-4, 2),
       gyration=st.floats(0, 30))
def test_of_any_matrix_the_least_damped_eigenvalues_are_found(seed, n, count, shift, gyration):
    """Stable or not, real or not, normal or not."""
    random = np.random.default_rng(seed)
    A, turn = random.standard_normal((n, n)), random.standard_normal((n, n))
    A = A + shift * np.eye(n) + gyration * (turn - turn.T) / np.sqrt(n)
    spectrum, certificate = least_damped(pencil(A), ZeroModes(np.zeros((n, 0)), np.zeros((n, 0)), []), count)
    values = np.linalg.eigvals(A)
    expected = values[by_damping(values)]
    expected = expected[expected.imag >= 0][:count]
    found = spectrum.values[spectrum.values.imag >= 0]
    assert len(found) == len(expected)
    assert apart(expected, found) < 1e-7
    assert all(certificate.covers(v) for v in expected)


def test_discs_cover_a_cell_together_or_what_is_left_of_it_is_told():
    certificate = Certificate(discs=[Disc(0.45 + 0.45j, 0.6)])
    cell = Cell(0.1, 1.0, 0.0, np.pi / 2)
    left = certificate.remaining(cell)
    assert left is not None
    certificate.discs += [Disc(0.8 + 0.4j, 0.45), Disc(0.4 + 0.8j, 0.45), Disc(0.95, 0.3), Disc(0.95j, 0.3)]
    assert certificate.remaining(cell) is None
    assert Certificate().remaining(cell) == cell


@settings(max_examples=60, deadline=None)
@given(inner=st.floats(0, 1), thickness=st.floats(0.01, 3), begin=st.floats(0, 2), width=st.floats(0.01, 1.1),
       r=st.floats(0, 1), a=st.floats(0, 1))
def test_a_cell_lies_in_the_disc_around_it_and_in_its_halves(inner, thickness, begin, width, r, a):
    cell = Cell(inner, inner + thickness, begin, begin + width)
    point = (inner + r * thickness) * np.exp(1j * (begin + a * width))
    centre, reach = cell.centre_and_reach()
    assert abs(point - centre) <= reach * (1 + 1e-12)
    first, second = cell.halves()
    assert any(h.inner - 1e-12 <= abs(point) <= h.outer + 1e-12 and
               h.begin - 1e-12 <= begin + a * width <= h.end + 1e-12 for h in (first, second))
