"""``gridcore eig``, ``gridcore locus``, ``gridcore damping``, and the figures."""

from __future__ import annotations

import csv

import pytest
import xarray as xr
from click.testing import CliRunner

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.errors import CaseError


def verb(*words):
    return CliRunner().invoke(gridcore, list(words))


def test_eig_shows_the_least_damped_modes_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = verb("eig", "kundur", "--top", "10")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    modes = gc.analyses.small_signal(gc.build("kundur"))
    assert lines[0].split()[:2] == ["mode", "eigenvalue"]
    assert f"{modes.eigenvalues[0].real:.4f} ± {modes.eigenvalues[0].imag:.4f}j" in lines[1]
    assert sum(line[:1].isdigit() for line in lines) == 11  # and the exact zero
    assert "rotation" in done.output
    assert "stable" in done.output
    assert not list(tmp_path.iterdir())


def test_eig_of_the_book_prints_the_digits_of_the_book():
    changes = [f"{load}.{name}={value}" for load in ("LOAD5", "LOAD6", "LOAD8")
               for name, value in {"pZ": 0, "pP": 1, "qZ": 0, "qP": 1}.items()] + [f"GEN{k}.D=0" for k in (1, 2, 3)]
    done = verb("eig", "wscc9", "--top", "20", *(word for change in changes for word in ("--set", change)))
    for printed in ("-0.7201 ± 12.7455j", "-0.1907 ± 8.3658j", "-5.4875 ± 7.9487j", "-0.4258 ± 0.4959j", "-3.2258"):
        assert printed in done.output
    assert "common speed" in done.output


def test_eig_writes_tables_and_figure(tmp_path):
    done = verb("eig", "wscc9", "--top", "3", "--wrt", "EXC*.KA", "--out", str(tmp_path), "--plot")
    assert done.exit_code == 0, done.output
    tables = {".csv", "_sensitivities.csv"}
    endings = {*tables, *(f"{table}-metadata.json" for table in tables), ".nc", ".png"}
    assert {p.name for p in tmp_path.iterdir()} == {f"wscc9_eig{ending}" for ending in endings}
    modes = gc.analyses.small_signal(gc.build("wscc9"))
    with open(tmp_path / "wscc9_eig.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(modes)
    with open(tmp_path / "wscc9_eig_sensitivities.csv", newline="") as file:
        assert len(list(csv.reader(file))) == 1 + 3 * 3
    with xr.open_dataset(tmp_path / "wscc9_eig.nc", engine="h5netcdf") as data:
        assert data.sizes["mode"] == len(modes)
    assert (tmp_path / "wscc9_eig.png").stat().st_size > 10_000


def test_eig_sparse_tells_what_was_covered():
    done = verb("eig", "ieee118", "--eigensolver", "sparse", "--top", "4")
    assert done.exit_code == 0, done.output
    assert "covered: all eigenvalues with a damping ratio below" in done.output


def test_eig_says_unstable():
    done = verb("eig", "smib", "--set", "GEN1.D=-5")
    assert "UNSTABLE: 1 modes" in done.output


def test_locus(tmp_path):
    done = verb("locus", "wscc9", "--vary", "EXC1.KA=10:100:4", "--top", "3", "--out", str(tmp_path), "--plot")
    assert done.exit_code == 0, done.output
    assert "EXC1.KA = 10" in done.output
    assert "EXC1.KA = 100" in done.output
    with xr.open_dataset(tmp_path / "wscc9_locus.nc", engine="h5netcdf") as data:
        assert dict(data.sizes) == {"EXC1.KA": 4, "mode": 3}
    assert (tmp_path / "wscc9_locus.png").stat().st_size > 10_000


def test_damping(tmp_path):
    done = verb("damping", "wscc9", "--vary", "GEN2.P0=0.8:1.6:3", "--vary", "EXC2.KA=10,40", "--band", "500 mHz:3",
                "--out", str(tmp_path), "--plot")
    assert done.exit_code == 0, done.output
    assert "best: " in done.output
    assert {p.name for p in tmp_path.iterdir()} == {"wscc9_damping.nc", "wscc9_damping.png"}


def test_damping_is_least_where_a_pair_has_split_and_one_of_it_grows():
    done = verb("damping", "smib", "--vary", "GEN1.P0=0.9:1.86:6", "--vary", "GEN1.D=0:4:3")
    rows = [line.split() for line in done.output.splitlines()]
    assert ["1.86", "-1.0000", "-1.0000", "-1.0000"] in rows
    assert "best: 0.0795 at GEN1.P0 = 1.668, GEN1.D = 4" in done.output


def test_damping_is_there_at_every_equilibrium_whatever_its_states():
    done = verb("damping", "wscc9", "--vary", "EXC2.TA=0,0.1", "--vary", "EXC2.KA=10,60")
    assert "nan" not in done.output
    assert "no equilibrium" not in done.output


@pytest.mark.parametrize(("words", "told"), [
    (["eig", "wscc"], "wscc9"),
    (["eig", "wscc9", "--eigensolver", "arnoldy"], "'arnoldy' is not one of 'auto', 'dense', 'sparse'"),
    (["eig", "wscc9", "--top", "0"], "0 is not in the range x>=1"),
    (["eig", "wscc9", "--participants", "-1"], "-1 is not in the range x>=0"),
    (["eig", "wscc9", "--wrt", "EXC1.KQ"], "did you mean"),
    (["locus", "wscc9", "--vary", "EXC1.KA=10,20", "--top", "-1"], "-1 is not in the range x>=1"),
    (["locus", "wscc9", "--vary", "EXC1.KA"], "is not PARAMETER=VALUE"),
    (["locus", "wscc9", "--vary", "EXC1.KA=10:100:0"], "at least two values"),
    (["locus", "wscc9", "--vary", "EXC1.KQ=1,2"], "did you mean"),
    (["locus", "wscc9", "--vary", "EXC1.KA=10:100:1000000000000"], "1,000,000,000,000 points are asked for"),
    (["damping", "wscc9", "--vary", "EXC1.KA=1:2:100000", "--vary", "EXC2.KA=1:2:100000"],
     "10,000,000,000 points are asked for, of at most 1,000,000"),
    (["damping", "wscc9", "--vary", "EXC1.KA=1,2"], "2 parameters expected"),
    (["damping", "wscc9", "--vary", "EXC1.KA=1,2", "--vary", "EXC2.KA=1,2", "--band", "x"], "is not FROM:TO"),
    (["damping", "wscc9", "--vary", "EXC1.KA=1,2", "--vary", "EXC2.KA=1,2", "--band", "1 s:2"], "is not understood"),
    (["damping", "wscc9", "--vary", "EXC1.KA=1,2", "--vary", "EXC2.KA=1,2", "--band", "3:0.5"], "lower one first")])
def test_what_is_wrong_is_said_in_one_line(words, told):
    done = verb(*words)
    assert done.exit_code == 2
    assert told in done.output
    assert "Traceback" not in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_figures_are_for_what_they_show():
    locus = gc.analyses.root_locus(gc.build("wscc9"), "EXC1.KA", [20, 25], modes=[0])
    with pytest.raises(CaseError, match="two parameters"):
        gc.analyses.plot_damping_map(locus)
    made = gc.analyses.damping_map(gc.build("wscc9"), {"EXC1.KA": [20, 25], "EXC2.KA": [20, 25]}, modes=[0])
    with pytest.raises(CaseError, match="one parameter"):
        gc.analyses.plot_locus(made)


def test_axes_of_a_damping_map_have_the_units_of_the_parameters(tmp_path):
    made = gc.analyses.damping_map(gc.build("wscc9"), {"GEN2.H": [6.0, 6.4], "EXC2.KA": [20, 25]}, modes=[0])
    axes, bar = gc.analyses.plot_damping_map(made, tmp_path / "m.png").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("GEN2.H (s)", "EXC2.KA (pu)")
    assert bar.get_ylabel() == "smallest damping ratio (%)"


def test_the_legend_of_a_mode_shape_names_who_is_seen(tmp_path):
    modes = gc.analyses.small_signal(gc.build("ieee39"))
    oscillating = [k for k in modes.pairs() if modes.eigenvalues[k].imag]
    number = next(k for k in oscillating if sorted(map(abs, modes.shape(k).values()))[-7] < 0.02)  # seven have room
    [compass] = [a for a in gc.analyses.plot_modes(modes, tmp_path / "m.png", number).axes if a.name == "polar"]
    named = {text.get_text() for text in compass.get_legend().get_texts()}
    assert named == {device for device, part in modes.shape(number).items() if abs(part) > 0.02}


def test_the_figure_of_modes_marks_the_one_that_is_asked_for(tmp_path):
    modes = gc.analyses.small_signal(gc.build("wscc9"))
    figure = gc.analyses.plot_modes(modes, tmp_path / "modes.svg", mode=2)
    assert f"mode 2: {modes.eigenvalues[2].real:.3f}" in (tmp_path / "modes.svg").read_text()
    circle = figure.axes[0].lines[-1]
    assert circle.get_ydata()[0] == pytest.approx(modes.eigenvalues[2].imag)
    with pytest.raises(CaseError, match="mode 99"):
        gc.analyses.plot_modes(modes, tmp_path / "no.svg", mode=99)
