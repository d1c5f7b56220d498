"""Eigenvectors, participation, mode shapes, tables and files."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import scipy.linalg
import xarray as xr

import gridcore as gc
from gridcore.errors import CaseError, GridcoreError

CASES = ["wscc9", "kundur", "ieee145"]


@pytest.fixture(scope="module", params=CASES)
def modes(request):
    return gc.analyses.small_signal(gc.build(request.param))


def test_vectors_are_eigenvectors(modes):
    A, simple = modes.linear.reduced, [k for k, label in enumerate(modes.labels) if label != "common speed"]
    values, right, left = modes.eigenvalues[simple], modes.right[:, simple], modes.left[:, simple]
    scale = np.abs(A).max()
    assert np.abs(A @ right - right * values).max() < 1e-9 * scale
    if "common speed" not in modes.labels:
        assert (np.abs(left.T @ A - values[:, None] * left.T).max(axis=1)
                < 1e-9 * scale * np.abs(left).max(axis=0)).all()


def test_left_and_right_are_biorthogonal(modes):
    """As far as the eigenvectors are apart from each other."""
    products = modes.left.T @ modes.right
    np.testing.assert_allclose(np.diag(products), 1.0, atol=1e-9)
    bound = 1e-11 * np.maximum.outer(modes.condition, modes.condition) + 1e-9
    assert (np.abs(products - np.eye(len(modes))) < bound * np.maximum.outer(modes.condition, modes.condition)).all()


def test_vectors_of_all_variables_solve_the_pencil(modes):
    linear, system = modes.linear, modes.linear.system
    K, M = system.jacobian(linear.Z), np.zeros(system.n)
    M[linear.x] = 1.0
    v, w = linear.with_algebraic(modes.right[:, :6].T), linear.with_algebraic_left(modes.left[:, :6].T)
    for k in range(6):
        value = modes.eigenvalues[k]
        assert np.abs(K @ v[k] - value * M * v[k]).max() < 1e-8 * np.abs(K).max()
        assert np.abs(K.T @ w[k] - value * M * w[k]).max() < 1e-8 * np.abs(K).max() * np.abs(w[k]).max()


def test_participation_factors_sum_to_one_and_are_those_of_the_diagonal():
    """p_ki = d lambda_i / d a_kk, for an eigenvalue by differences."""
    modes = gc.analyses.small_signal(gc.build("wscc9"))
    np.testing.assert_allclose(modes.participation.sum(axis=0), 1.0)
    A, h = modes.linear.reduced, 1e-5
    slopes = []
    for k in range(len(A)):
        moved = [A + sign * h * np.eye(len(A))[:, [k]] * np.eye(len(A))[k] for sign in (1, -1)]
        up, down = (v[np.abs(v - modes.eigenvalues[0]).argmin()] for v in map(scipy.linalg.eigvals, moved))
        slopes.append((up - down) / (2 * h))
    factors = np.abs(slopes) / np.abs(slopes).sum()
    np.testing.assert_allclose(modes.participation[:, 0], factors, atol=1e-6)


def test_least_damped_first_pairs_together_zeros_last(modes):
    ratio = modes.damping_ratio[modes.eigenvalues != 0]
    assert (np.diff(ratio) > -1e-9).all()
    assert np.isnan(modes.damping_ratio[modes.eigenvalues == 0]).all()
    assert all(modes.eigenvalues[k + 1] == modes.eigenvalues[k].conj() for k in range(len(modes))
               if modes.eigenvalues[k].imag > 0)
    np.testing.assert_array_equal(modes.damping, modes.damping_ratio)
    np.testing.assert_allclose(2 * np.pi * modes.frequency, np.abs(modes.eigenvalues.imag))


def test_one_machine_at_an_infinite_bus_has_the_closed_form():
    """Classical machine: s^2 2H/w_B + D s/w_B... = 0 of Kundur's example 12.2."""
    case = gc.load_case("smib")
    case.set("GEN1.D", 10.0)
    system = gc.build(case)
    modes = gc.analyses.small_signal(system)
    value = {name: system.Z0[system.layout.address(f"GEN1.{name}")] for name in ("H", "D", "Xdp", "delta")}
    X = value["Xdp"] + 0.15 + 0.5 * 0.93 / (0.5 + 0.93)
    E = abs(complex(system.Z0[system.layout.address("BUS1.Vr")], system.Z0[system.layout.address("BUS1.Vi")])
            + 1j * value["Xdp"] * _current(system))
    K = E * 0.90081 / X * np.cos(value["delta"])
    roots = np.roots([2 * value["H"], value["D"], K * 2 * np.pi * 60])
    np.testing.assert_allclose(np.sort_complex(modes.eigenvalues), np.sort_complex(roots), rtol=1e-9)


def _current(system):
    V = [complex(*(system.Z0[system.layout.address(f"BUS{k}.{part}")] for part in ("Vr", "Vi"))) for k in (1, 2)]
    return (V[0] - V[1]) / 0.15j


def test_interarea_mode_of_kundurs_areas():
    modes = gc.analyses.small_signal(gc.build("kundur"))
    shape = modes.shape(0, "omega")
    assert 0.4 < modes.frequency[0] < 0.7
    assert np.sign(shape["GEN1"].real) == np.sign(shape["GEN2"].real) == -np.sign(shape["GEN3"].real)
    assert np.sign(shape["GEN3"].real) == np.sign(shape["GEN4"].real)
    assert max(map(abs, shape.values())) == 1


def test_shape_in_a_quantity_is_its_derivative_along_the_mode():
    """Bus voltage magnitudes, differenced along the eigenvector of all variables."""
    modes = gc.analyses.small_signal(gc.build("wscc9"))
    system, linear = modes.linear.system, modes.linear
    direction = linear.with_algebraic(modes.right[:, :1].T)[0]
    found = modes.shape(0, "Vm", [f"BUS{k}" for k in range(1, 10)])
    assert set(found) < set(modes.shape(0, "Vm"))
    change = {}
    for bus in found:
        function, gather = system.system.quantity(bus, "Vm")
        parts = []
        for part in (direction.real, direction.imag):
            Z = [system.Z0.copy() for _ in range(2)]
            for z, sign in zip(Z, (1, -1)):
                z[: system.n] += sign * 1e-5 * part
            parts.append(float((function(Z[0][gather]) - function(Z[1][gather])) / 2e-5))
        change[bus] = complex(*parts)
    largest = max(change.values(), key=abs)
    for bus, value in found.items():
        assert abs(value - change[bus] / largest) < 1e-6


def test_names_that_are_not_there(modes):
    with pytest.raises(CaseError, match="no device has 'omegga'; did you mean omega"):
        modes.shape(0, "omegga")
    with pytest.raises(CaseError, match="mode 9999: there are"):
        modes.participants(9999)
    with pytest.raises(CaseError, match="method 'sparce'; did you mean sparse"):
        gc.analyses.small_signal(modes.linear.system, method="sparce")
    for count in (2.5, "x", None):
        with pytest.raises(CaseError, match="must be a whole number, at least 1"):
            gc.analyses.small_signal(modes.linear.system, method="sparse", count=count)
    with pytest.raises(CaseError, match="count = 0"):
        gc.analyses.small_signal(modes.linear.system, method="sparse", count=0)


def test_representation_says_what_matters(modes):
    told = repr(modes)
    assert modes.linear.system.case.name in told
    assert f"{modes.damping_ratio[0]:.4f}" in told
    lines = modes.table(top=3).splitlines()
    assert len(lines) == 1 + 3 + len([label for label in modes.labels if label])
    assert lines[0].split()[0] == "mode"


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_files_hold_everything(tmp_path, method):
    modes = gc.analyses.small_signal(gc.build("wscc9"), method=method, count=5)
    modes.save(tmp_path / "modes.nc")
    with xr.open_dataset(tmp_path / "modes.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["eigenvalue_real"] + 1j * data["eigenvalue_imag"], modes.eigenvalues)
        np.testing.assert_array_equal(data["right_real"] + 1j * data["right_imag"], modes.right)
        np.testing.assert_array_equal(data["participation"], modes.participation)
        assert data["state"].values[0] == "GEN1.delta"
        assert data["label"].values.tolist() == modes.labels
        assert ("disc_radius" in data) == (method == "sparse")
    modes.save(tmp_path / "modes.csv")
    with open(tmp_path / "modes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [complex(float(r["real"]), float(r["imag"])) for r in rows] == modes.eigenvalues.tolist()
    with pytest.raises(GridcoreError, match=r"written to .nc or .csv"):
        modes.save(tmp_path / "modes.txt")


def test_stable_means_all_but_exact_zeros_decay():
    case = gc.load_case("smib")
    case.set("GEN1.D", 10.0)
    assert gc.analyses.small_signal(gc.build(case)).stable
    case.set("GEN1.D", -10.0)
    assert not gc.analyses.small_signal(gc.build(case)).stable
