"""``gridcore grad``: what it shows, what it writes, how it refuses."""

from __future__ import annotations

import csv
import functools

import numpy as np
import pytest
import xarray as xr
from command_line import invoke, refused
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.case.files import shipped
from gridcore.sensitivity import products

FREQUENCY = shipped()["wscc9_paper"].parent / "frequency.toml"
WRT = ["GEN*.P0", "GEN*.H", "fault.clear"]
SHORT = ["wscc9_paper", "--t-end", 0.4]


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return functools.partial(invoke, wrt=WRT)


def violation(machine: str) -> gc.Integral:
    return gc.Integral(lambda v: 3600 * np.maximum(0, v[machine, "omega"] - 60.5 / 60) ** 2)


@pytest.fixture(scope="module")
def expected():
    """The same from Python; nobody falls below the band within 0.4 s."""
    run = gc.simulate(gc.build("wscc9_paper"), t_end=0.4)
    return gc.adjoint(run, [violation(f"GEN{k}") for k in (1, 2, 3)], WRT)


def test_grad_writes_the_adjoint_with_every_digit(call, tmp_path, expected):
    result = call("grad", *SHORT, "--objective", FREQUENCY, "--out", "kept")
    assert result.exit_code == 0
    assert result.stdout.split()[-2:] == ["kept/wscc9_paper_gradient.csv", "kept/wscc9_paper_gradient.nc"]
    with xr.open_dataset(tmp_path / "kept" / "wscc9_paper_gradient.nc", engine="h5netcdf") as stored:
        assert_allclose(stored["gradient"], expected, rtol=1e-12, atol=1e-18)
        assert list(stored["parameter"].values) == list(expected["parameter"].values)
        assert list(stored["unit"].values) == ["pu"] * 2 + ["s"] * 4
        gradient = stored["gradient"].values
    rows = [*csv.DictReader((tmp_path / "kept" / "wscc9_paper_gradient.csv").open())]
    assert [float(row["derivative"]) for row in rows] == gradient.ravel().tolist()
    assert rows[-1]["objective"] == "H_GEN3"
    assert rows[-1]["parameter"] == "fault.clear"
    assert float(rows[-1]["at"]) == 0.2


def test_grad_shows_the_largest_first_with_units(call, expected):
    shown = call("grad", *SHORT, "--objective", FREQUENCY, "--top", 5).stdout.splitlines()
    assert shown[1].split() == ["H_GEN1", "0", "pu^2", "s"]
    rows = shown[shown.index("") + 2: shown.index("") + 7]
    largest = np.argsort(-np.abs(products(expected)).ravel())[:5]
    i, j = np.unravel_index(largest, expected.shape)
    told = [row.split() for row in rows]
    assert [row[1] for row in told] == expected["parameter"].values[j].tolist()
    assert [row[0] for row in told] == [f"H_GEN{k + 1}" for k in i]
    assert told[0][1] == "fault.clear"
    assert " ".join(told[0][3:-1]).endswith("pu^2 s / s")


def test_grad_says_so_where_all_derivatives_are_zero(call):
    """Without the fault nobody leaves the band."""
    shown = call("grad", "wscc9_paper", "--t-end", 0.05, "--objective", FREQUENCY, wrt=["GEN*.H"]).stdout
    assert "all 9 are zero" in shown.splitlines()
    assert "are zero" not in call("grad", *SHORT, "--objective", FREQUENCY, wrt=["GEN*.H"]).stdout


def test_grad_goes_by_the_rule_and_the_dispatch_that_are_asked_for(call, tmp_path):
    def result(*more):
        assert call("grad", *SHORT, "--objective", FREQUENCY, *more, wrt=["GEN2.P0"]).exit_code == 0
        with xr.open_dataset(tmp_path / "wscc9_paper_gradient.nc", engine="h5netcdf") as stored:
            return stored["gradient"].values[2, 0]

    exact, formula, direct = result(), result("--jumps", "continuous"), result("--dispatch", "direct")
    assert 1e-3 < abs(formula / exact - 1) < 5e-2
    assert abs(direct / exact - 1) > 0.1


def test_grad_draws_a_tornado(call, tmp_path):
    result = call("grad", *SHORT, "--objective", FREQUENCY, "--plot")
    assert result.stdout.split()[-1] == "wscc9_paper_gradient.png"
    assert (tmp_path / "wscc9_paper_gradient.png").read_bytes().startswith(b"\x89PNG")


def test_a_gradient_that_is_zero_is_shown_and_drawn(call):
    result = call("grad", "wscc9_paper", "--t-end", 0.05, "--objective", FREQUENCY, "--plot")
    assert result.exit_code == 0
    assert "H_GEN3      0" in result.stdout


@pytest.mark.parametrize(("args", "wrt", "said"), [
    (["--objective", FREQUENCY], ["GEN*.P1"], "no parameter or state matches 'GEN*.P1'; did you mean GEN"),
    (["--objective", FREQUENCY], ["GEN1.P0"], "'GEN1.P0' is found by the power flow: there is no derivative in it"),
    (["--objective", "none.toml"], WRT, "none.toml: there is no such file"),
    (["--objective", "bad.toml"], WRT, "bad.toml: objective 1: field 'of': no quantity matches 'GEN2.omga'"),
    (["--objective", "late.toml"], WRT, "late.toml: sample time 9 s is outside the run (0 to 0.05 s)"),
    (["--objective", FREQUENCY, "--jumps", "discret"], WRT, "unknown jump rule 'discret'; did you mean discrete"),
    (["--objective", FREQUENCY, "--dispatch", "none"], WRT, "dispatch = 'none' must be 'power flow' or 'direct'"),
    (["--objective", FREQUENCY], [], "Missing option '--wrt'"),
    ([], WRT, "Missing option '--objective'"),
    (["--objective", FREQUENCY, "--set", "GEN2.HH=1"], WRT, "field 'HH': a TwoAxis has no such field"),
])
def test_grad_refuses_on_one_line(call, tmp_path, args, wrt, said):
    (tmp_path / "bad.toml").write_text("[[objective]]\nkind = 'terminal'\nof = 'GEN2.omga'\n")
    (tmp_path / "late.toml").write_text("[[objective]]\nkind = 'sampled'\nof = 'GEN2.omega'\ndata = 'd.csv'\n")
    (tmp_path / "d.csv").write_text("time,GEN2.omega\n9,1\n")
    assert said in refused(call("grad", "wscc9_paper", "--t-end", 0.05, *args, wrt=wrt))
    assert not [*tmp_path.glob("*.nc")]
