"""``gridcore tsa``: what it shows, what it writes, how it refuses; and the forward gradient."""

from __future__ import annotations

import csv
import functools

import numpy as np
import pytest
import xarray as xr
from command_line import invoke, refused
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.sensitivity import CoincidenceWarning

WRT = ["GEN*.P0", "GEN*.H", "fault.clear"]
SHORT = ["wscc9_paper", "--t-end", 0.4]


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return functools.partial(invoke, wrt=WRT)


def test_tsa_writes_the_sensitivities_at_times_that_stand_still(call, tmp_path):
    result = call("tsa", *SHORT, "--of", "GEN*.omega", "--of", "EXC3.VR", wrt=["GEN2.H", "fault.clear"])
    assert result.exit_code == 0
    assert result.stdout.split()[-2:] == ["wscc9_paper_tsa.csv", "wscc9_paper_tsa.nc"]
    run = gc.simulate(gc.build("wscc9_paper"), t_end=0.4)
    quantities = [*((f"GEN{k}", "omega") for k in (1, 2, 3)), ("EXC3", "VR")]
    table = gc.analyses.tsa(run, ["GEN2.H", "fault.clear"], quantities, fixed_time=True)
    with xr.open_dataset(tmp_path / "wscc9_paper_tsa.nc", engine="h5netcdf") as stored:
        assert np.array_equal(stored["sensitivity"].values, table.values)
        assert np.array_equal(stored["time"].values, run.t)
        assert list(stored["quantity_unit"].values) == ["pu"] * 4
    header, *rows = csv.reader((tmp_path / "wscc9_paper_tsa.csv").open())
    assert header[:3] == ["time", "GEN1.omega/GEN2.H", "GEN1.omega/fault.clear"]
    assert np.array_equal(np.array(rows, dtype=float), np.column_stack([run.t, table.values.reshape(len(run.t), -1)]))
    shown = [line.split() for line in result.stdout.splitlines()]
    k = np.abs(table.values[:, 3, 1]).argmax()
    assert shown[8][:2] == ["EXC3.VR", "fault.clear"]
    assert float(shown[8][2]) == pytest.approx(table.values[k, 3, 1], rel=1e-6)


def test_what_moves_together_is_one_column_and_who_asks_for_one_of_it_is_warned(call, tmp_path):
    study = ["tsa", "wscc9", "--set", "trip.t=0.183", "--t-end", 0.3, "--of", "GEN2.omega"]
    result = call(*study, "--joint", "fault.clear, trip.t", wrt=[])
    assert (result.exit_code, result.stderr) == (0, "")
    with xr.open_dataset(tmp_path / "wscc9_tsa.nc", engine="h5netcdf") as stored:
        assert list(stored["parameter"].values) == ["fault.clear + trip.t"]
        one = gc.analyses.tsa(gc.simulate(gc.build("wscc9"), 0.3), "fault.clear", [("GEN2", "omega")], fixed_time=True)
        assert_allclose(stored["sensitivity"].values[-1], one.values[-1], rtol=1e-9)
    with pytest.warns(CoincidenceWarning, match=r"fault\.clear, then trip\.t; the derivative in trip\.t is one-sided"):
        call(*study, wrt=["trip.t"])


def test_at_a_fixed_time_a_curve_has_no_spike_where_a_point_moves():
    """Before the fault is cleared nothing depends on when it will be, but the point that the clearing makes moves."""
    run = gc.simulate(gc.build("wscc9_paper"), t_end=0.4)
    wrt, of = ["fault.clear"], [("GEN3", "omega")]
    moving, still = (gc.analyses.tsa(run, wrt, of, fixed_time=f).values[:, 0, 0] for f in (False, True))
    before, after, grid = np.flatnonzero(np.abs(run.t - 0.2) < 1e-9)
    slope = (run["GEN3", "omega"][before] - run["GEN3", "omega"][before - 1]) / 0.01
    assert abs(moving[before] / slope - 1) < 0.02
    assert abs(still[before]) < 1e-3 * slope
    assert still[after] == pytest.approx(still[grid + 1], rel=0.2)
    still_points = ~np.isin(run.t, [e.t for e in run.events])
    assert_allclose(moving[still_points], still[still_points], rtol=1e-9, atol=1e-14)


def test_tsa_draws_the_curves(call, tmp_path):
    result = call("tsa", *SHORT, "--of", "GEN*.omega", "--plot")
    assert result.stdout.split()[-1] == "wscc9_paper_tsa.png"
    assert (tmp_path / "wscc9_paper_tsa.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("args", "wrt", "said"), [
    (["--of", "GEN*.omga"], WRT, "no quantity matches 'GEN*.omga'; did you mean GEN"),
    (["--of", "GEN2.omega"], ["GEN2.HH"], "no parameter or state matches 'GEN2.HH'; did you mean GEN2.H"),
    ([], WRT, "Missing option '--of'"),
])
def test_tsa_refuses_on_one_line(call, tmp_path, args, wrt, said):
    assert said in refused(call("tsa", "wscc9_paper", "--t-end", 0.05, *args, wrt=wrt))
    assert not [*tmp_path.iterdir()]


def test_forward_gradients_are_those_of_the_adjoint():
    run = gc.simulate(gc.build("wscc9_paper"), t_end=0.4)
    functions = [gc.Integral(lambda v, k=k: 3600 * np.maximum(0, v[f"GEN{k}", "omega"] - 60.5 / 60) ** 2)
                 for k in (1, 2, 3)]
    expected = gc.adjoint(run, functions, WRT)
    found = gc.analyses.forward_gradient(run, functions, WRT)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-16)
    assert_allclose(found["value"], expected["value"], rtol=0)


def test_tsa_by_a_strategy_finds_the_same_and_shows_what_that_took(call, tmp_path):
    result = call("tsa", *SHORT, "--of", "GEN2.omega", "--strategy", "staggered hybrid", wrt=["GEN2.H"])
    counts = result.stdout.splitlines()[-3]
    assert all(name in counts for name in ("newton iterations", "factorisations", "mflop"))
    run = gc.simulate(gc.build("wscc9_paper"), 0.4)
    assert f"{run.counters['steps']} steps" in counts
    with xr.open_dataset(tmp_path / "wscc9_paper_tsa.nc", engine="h5netcdf") as stored:
        found = stored["sensitivity"].values
    true = gc.analyses.tsa(run, ["GEN2.H"], [("GEN2", "omega")], fixed_time=True).values
    assert_allclose(found, true, rtol=0, atol=1e-10 * np.abs(true).max())


def test_tsa_refuses_an_unknown_strategy_before_the_run(call):
    said = refused(call("tsa", *SHORT, "--of", "GEN2.omega", "--strategy", "hybrid", wrt=["GEN2.H"]))
    assert said.startswith("no strategy 'hybrid'; ")


def test_tsa_refuses_a_strategy_for_another_method_before_the_run(call, monkeypatch):
    monkeypatch.setattr("gridcore.integrate.simulate", None)
    said = refused(call("tsa", *SHORT, "--of", "GEN2.omega", "--strategy", "staggered hybrid", "--method", "trbdf2",
                        wrt=["GEN2.H"]))
    assert said == "strategies are of the theta method, and this is to be a run of 'trbdf2'"
