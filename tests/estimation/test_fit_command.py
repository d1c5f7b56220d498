"""``gridcore fit``: what it shows, what it leaves on disk, what it says of what is wrong."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from fabrication import fabricated, smib

from gridcore.commands.main import gridcore

CASE = ["smib", "--set", "fault.clear=0.1713", "--set", "trip.t=0.1837", "--set", "GEN1.D=2.0"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fabricated(smib().with_values({"GEN1.H": 4.2, "CCT1.x": 0.46}), noise=0.01).to_csv("measured.csv")
    return tmp_path


def fit(*arguments):
    runner = CliRunner()
    return runner.invoke(gridcore, ["fit", *CASE, "--data", "measured.csv", *arguments])


def test_it_shows_iterations_and_intervals_and_leaves_table_data_and_report(folder):
    result = fit("--wrt", "GEN1.H", "--wrt", "CCT1.x", "--start", "GEN1.H=5")
    assert result.exit_code == 0, result.output
    assert "iteration   0  cost" in result.output
    assert "95 % interval" in result.output
    rows = list(csv.DictReader(open("smib_fit.csv")))
    assert [row["parameter"] for row in rows] == ["GEN1.H", "CCT1.x"]
    assert float(rows[0]["low"]) < 4.2 < float(rows[0]["high"])
    assert float(rows[0]["start"]) == 5.0
    with xr.open_dataset("smib_fit.nc", engine="h5netcdf") as ds:
        assert ds["value"].sel(parameter="GEN1.H").item() == float(rows[0]["value"])
        assert ds["residual"].size == 120
    assert (folder / "smib_fit.png").stat().st_size > 10_000


def test_options_reach_the_fit(folder):
    result = fit("--wrt", "GEN1.H", "--fit-method", "gauss-newton", "--level", "0.5", "--no-plot", "--out", "there")
    assert result.exit_code == 0, result.output
    assert "of gauss-newton" in result.output
    assert "50 % interval" in result.output
    assert sorted(p.name for p in (folder / "there").iterdir()) == [
        "smib_fit.csv", "smib_fit.csv-metadata.json", "smib_fit.nc"]
    result = fit("--wrt", "GEN1.H", "--wrt", "CCT1.x", "--bounds", "GEN1.H=:3.9", "--loss", "huber", "--f-scale",
                 "0.02", "--no-plot")
    assert "GEN1.H is at its upper bound, 3.9" in result.output


def test_it_simulates_by_any_method_that_has_derivatives(folder):
    found = []
    for method in (["--method", "trbdf2"], ["--option", "theta=1"]):
        result = fit("--wrt", "GEN1.H", "--wrt", "CCT1.x", "--no-plot", *method)
        assert result.exit_code == 0, result.output
        with xr.open_dataset("smib_fit.nc", engine="h5netcdf") as ds:
            found.append(ds["value"].values.tolist())
    assert found[0] == pytest.approx([4.2, 0.46], rel=0.05)
    assert found[0] != found[1]
    result = fit("--wrt", "GEN1.H", "--no-plot", "--method", "trbdf3")
    assert result.exit_code == 2
    assert "unknown integrator 'trbdf3'; did you mean trbdf2?" in result.stderr


def test_one_without_derivatives_is_refused(folder):
    pytest.importorskip("scikits_odes_sundials")
    result = fit("--wrt", "GEN1.H", "--no-plot", "--method", "ida")
    assert result.exit_code == 2
    assert "the steps of method 'ida' have no derivative" in result.stderr
    assert "again by others, and gc.adjoint has method='continuous'" in result.stderr


def test_channels_are_renamed_and_times_shifted(folder):
    with open("measured.csv") as file:
        rows = list(csv.DictReader(file))
    with open("measured.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", "channel", "value"])
        writer.writerows([float(row["time"]) + 7, row["channel"].replace("BUS1.Vm", "V1"), row["value"]]
                         for row in rows)
    result = fit("--wrt", "GEN1.H", "--wrt", "CCT1.x", "--channel", "V1=BUS1.Vm", "--shift", "-7", "--no-plot")
    assert result.exit_code == 0, result.output
    assert "40 samples" in result.output
    value = float(next(csv.DictReader(open("smib_fit.csv")))["value"])
    assert value == pytest.approx(4.2, rel=0.05)


def test_check_tells_what_is_determined_and_fits_nothing(folder):
    result = fit("--wrt", "GEN1.H", "--wrt", "BUS3.kv", "--check")
    assert result.exit_code == 0, result.output
    assert "to be estimated together: GEN1.H" in result.output
    assert "not determined: BUS3.kv moves no sample" in result.output
    assert not list(folder.glob("smib_fit*"))
    refused = fit("--wrt", "GEN1.H", "--wrt", "BUS3.kv")
    assert refused.exception is not None
    held = fit("--wrt", "GEN1.H", "--wrt", "BUS3.kv", "--hold", "--no-plot")
    assert "note: BUS3.kv was held at 230" in held.output


def test_two_recordings_are_fitted_together(folder):
    fabricated(smib(), times=np.arange(1, 9) / 40).to_csv("other.csv")
    result = fit("--also", "smib=other.csv", "--wrt", "GEN1.H", "--no-plot")
    assert result.exit_code == 0, result.output
    assert "144 samples" in result.output


@pytest.mark.parametrize(("arguments", "said"), [
    (["--wrt", "GEN1.h"], "no parameter or state matches 'GEN1.h'; did you mean GEN1.H"),
    (["--wrt", "GEN1.H", "--start", "GEN1.H"], "'GEN1.H' is not NAME=VALUE"),
    (["--wrt", "GEN1.H", "--start", "GEN1.H=big"], "'big' is not a number"),
    (["--wrt", "GEN1.H", "--bounds", "GEN1.H=3"], "'GEN1.H=3' is not NAME=LOW:HIGH"),
    (["--wrt", "GEN1.H", "--also", "smib"], "'smib' is not CASE=FILE"),
    (["--wrt", "GEN1.H", "--channel", "V1=BUS1.Vm"], "there is no channel 'V1'"),
    (["--wrt", "GEN1.H", "--t-end", "0.2"], "samples are outside the run (0 to 0.2 s)")])
def test_what_is_wrong_is_said_in_words(folder, capsys, arguments, said):
    with pytest.raises(SystemExit) as stopped:
        gridcore.main(["fit", *CASE, "--data", "measured.csv", *arguments])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
