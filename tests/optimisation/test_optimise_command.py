"""``gridcore optimise``: what it shows, what it writes, how it refuses."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

import gridcore as gc
from gridcore.case.files import shipped
from gridcore.commands.main import gridcore
from gridcore.errors import CaseError
from gridcore.registry import Plot
from gridcore_objectives import load_objectives
from gridcore_optimisation import Constraint

FREQUENCY = shipped()["wscc9_paper"].parent / "frequency.toml"
COST = """
[[objective]]
kind = "terminal"
of = "GEN2.P0"
shape = "square"
reference = "163 MW"
[[objective]]
kind = "terminal"
of = "GEN3.P0"
shape = "square"
reference = "85 MW"
"""
STUDY = ["wscc9_paper", "--t-end", "1", "--objective", "cost.toml", "--at-most", str(FREQUENCY), "0.001",
         "--wrt", "GEN[23].P0", "--bounds", "GEN*.P0=0.2:200 MW"]


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cost.toml").write_text(COST)
    return lambda *args: CliRunner().invoke(gridcore, ["optimise", *args])


def test_the_optimum_is_shown_and_written(call, tmp_path):
    result = call(*STUDY, "--out", "kept", "--plot")
    assert result.exit_code == 0, result.output
    files = [tmp_path / "kept" / f"wscc9_paper_optimum.{suffix}" for suffix in ("toml", "csv", "nc", "png")]
    assert result.stdout.splitlines()[-4:] == [str(file.relative_to(tmp_path)) for file in files]
    assert " -> 0.0256981" in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines() if line.startswith("H_")] == [
        "H_GEN1", "H_GEN2", "H_GEN3"]
    stored = xr.load_dataset(files[2], engine="h5netcdf")
    case = gc.load_case(files[0])
    assert [case[f"GEN{k}"].fields["P0"] for k in (2, 3)] == stored["x"].values.tolist()
    run = gc.simulate(gc.build(case), 1.0)
    assert gc.adjoint(run, gc.Integral(lambda v: 3600 * np.maximum(0, np.abs(v["GEN3", "omega"] - 1) - 0.5 / 60) ** 2),
                      "GEN2.P0").value.item() == pytest.approx(1e-3, rel=1e-6)
    rows = list(csv.DictReader(files[1].open()))
    assert [float(rows[-1][f"GEN{k}.P0"]) for k in (2, 3)] == stored["x"].values.tolist()
    assert files[3].stat().st_size > 10_000


def test_a_limit_may_have_a_unit(call, tmp_path):
    """Of the power that a machine gives; a unit that does not convert is refused."""
    (tmp_path / "power.toml").write_text('[[objective]]\nkind = "terminal"\nof = "GEN2.P0"\n')
    rest = ["--wrt", "GEN[23].P0", "--bounds", "GEN*.P0=0.2:200 MW"]
    start = ["wscc9_paper", "--t-end", "0.1", "--objective", "cost.toml", "--at-most", "power.toml"]
    done = call(*start, "150 MW", *rest)
    assert done.exit_code == 0, done.output
    assert gc.load_case(tmp_path / "wscc9_paper_optimum.toml")["GEN2"].fields["P0"] == pytest.approx(1.5, rel=1e-6)
    assert "unit 's' is not understood" in call(*start, "1.5 s", *rest).output


def test_a_limit_in_mw_is_of_the_base_that_the_power_has(tmp_path):
    """GEN2.P is of the machine's rating, GEN2.P0 of the system's base; a function of one's own tells none."""
    case = gc.load_case("wscc9_paper")
    case.set("GEN2.Sn", 250.0)
    system = gc.build(case)
    tables = [f'[[objective]]\nkind = "terminal"\nof = "GEN2.{name}"\n' for name in ("P", "P0")]
    (tmp_path / "both.toml").write_text("".join(tables))
    own, dispatched = load_objectives(tmp_path / "both.toml", system)
    assert Constraint(own, high="150 MW").limits(case) == (-np.inf, 0.6)
    assert Constraint(dispatched, high="150 MW").limits(case) == (-np.inf, 1.5)
    for unknown in (gc.Terminal(lambda v: v["GEN2", "P"], unit="pu"), [own, dispatched]):
        with pytest.raises(CaseError, match="'150 MW': these objectives do not tell one base"):
            Constraint(unknown, high="150 MW").limits(case)


def test_the_figure_has_the_optimum_beside_the_start(call, tmp_path):
    drawn = {}

    def draw(runs, path):
        drawn.update(runs)
        path.write_text("figure")

    with gc.registered(Plot("runs", draw)):
        assert call(*STUDY, "--plot").exit_code == 0
    start, optimum = (drawn[name].system.case["GEN2"].fields["P0"] for name in ("start", "optimum"))
    assert start == gc.load_case("wscc9_paper")["GEN2"].fields["P0"]
    assert optimum == gc.load_case(tmp_path / "wscc9_paper_optimum.toml")["GEN2"].fields["P0"] != start


def test_what_does_not_converge_has_exit_code_1(call, tmp_path):
    """No power keeps the angle at the end between two limits that it cannot reach."""
    (tmp_path / "angle.toml").write_text('[[objective]]\nkind = "terminal"\nof = "SWING.delta"\n')
    result = call("swing", "--t-end", "0.5", "--objective", "angle.toml", "--wrt", "SWING.Pm",
                  "--bounds", "*=0.9:1.1",
                  "--at-least", "angle.toml", "3")
    assert result.exit_code == 1, result.output
    assert (tmp_path / "swing_optimum.toml").exists()


def test_bounds_are_said_where_they_hold(call, tmp_path):
    (tmp_path / "angle.toml").write_text('[[objective]]\nkind = "terminal"\nof = "SWING.delta"\n')
    result = call("swing", "--t-end", "0.5", "--objective", "angle.toml", "--wrt", "SWING.Pm",
                  "--bounds", "*=0.9:1.1")
    assert result.exit_code == 0, result.output
    assert "SWING.Pm" in result.stdout
    assert "at its" in result.stdout


@pytest.mark.parametrize(("change", "said"), [
    (("--wrt", "GEM2.P0"), "no parameter or state matches 'GEM2.P0'"),
    (("--bounds", "EXC*=0:1"), "bounds: 'EXC*' is not among the parameters that are varied"),
    (("--solver", "SLQP"), "no method 'SLQP'; did you mean SLSQP?"),
    (("--solver", "L-BFGS-B"), "L-BFGS-B has no constraints but bounds"),
    (("--at-least", "cost.toml", "inf"), "a lower or an upper limit"),
    (("--at-least", "cost.toml", "nan"), "'nan' is not a number"),
    (("--method", "trbdf3"), "unknown integrator 'trbdf3'; did you mean trbdf2?"),
    (("--option", "gamma=1"), "method 'theta' has no option 'gamma'")])
def test_what_is_wrong_is_told_on_one_line(call, change, said):
    result = call(*STUDY, *change)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_critical_clearing_time_and_what_it_depends_on(call, tmp_path):
    result = CliRunner().invoke(gridcore, ["critical", "wscc9", "--between", "0.15", "0.3", "--t-end", "3",
                                           "--wrt", "GEN2.*0", "--out", "kept"])
    assert result.exit_code == 0, result.output
    assert "fault.clear = 0.1920295" in result.stdout
    rows = {row["parameter"]: row for row in csv.DictReader((tmp_path / "kept" / "wscc9_critical.csv").open())}
    assert float(rows["GEN2.P0"]["derivative"]) == pytest.approx(-0.298235, rel=1e-4)
    assert rows["GEN2.V0"]["unit"] == "pu"


def test_derivatives_that_there_are_not_are_told_and_the_exit_code_is_1(call):
    result = CliRunner().invoke(gridcore, ["critical", "wscc9", "--between", "0.15", "0.3", "--t-end", "1.2",
                                           "--wrt", "GEN2.H", "--tolerance", "1us"])
    assert result.exit_code == 1
    assert "by halving" in result.stdout
    assert "a longer --t-end or smaller --tolerance may let them" in result.stderr


def test_both_run_by_any_method_with_its_options(call, tmp_path):
    (tmp_path / "angle.toml").write_text('[[objective]]\nkind = "terminal"\nof = "SWING.delta"\n')
    end = gc.Terminal(lambda v: v["SWING", "delta"])
    for method, options in (("trbdf2", {}), ("theta", {"theta": 1.0})):
        said = [f"--option={name}={value}" for name, value in options.items()]
        result = call("swing", "--t-end", "0.5", "--step", "0.05", "--objective", "angle.toml", "--wrt", "SWING.Pm",
                      "--bounds", "*=0.9:1.1", "--method", method, *said)
        best = gc.analyses.optimise("swing", end, "SWING.Pm", t_end=0.5, step=0.05, bounds={"*": (0.9, 1.1)},
                                    simulate={"method": method, **options})
        assert f" -> {best.value:.9g}\n" in result.stdout, result.output
    study = ["critical", "wscc9", "--between", "0.15", "0.3", "--t-end", "3", "--step", "0.02"]
    result = CliRunner().invoke(gridcore, [*study, "--method", "trbdf2"])
    found = gc.analyses.critical_value("wscc9", between=(0.15, 0.3), t_end=3.0, step=0.02,
                                       simulate={"method": "trbdf2"})
    assert f"fault.clear = {found.value:.9g}\n" in result.stdout, result.output
    result = CliRunner().invoke(gridcore, [*study, "--method", "trapezoid"])
    assert result.exit_code == 2
    assert "unknown integrator 'trapezoid'" in result.stderr


def test_a_critical_value_that_is_not_between_is_refused_on_one_line(call):
    result = CliRunner().invoke(gridcore, ["critical", "wscc9", "--between", "0.11", "0.15"])
    assert result.exit_code == 2
    assert result.stderr == ("error: fault.clear = 0.11 and 0.15 are both stable: the critical value is not between "
                             "them\n")
