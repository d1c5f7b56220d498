"""The verbs ``run``, ``pf``, ``plugins``, ``doctor`` and ``convert``."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import SMALL, refused

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.registry import registries as plugins


@pytest.fixture
def call(tmp_path, monkeypatch):
    """``call("run", "small.toml")`` in an empty folder that holds small.toml."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(gridcore, [str(a) for a in args])


# run --------------------------------------------------------------------------------------------------

def test_run_shows_a_summary_and_keeps_the_data(call, tmp_path):
    result = call("run", "wscc9", "--t-end", 0.3, "--out", "results")
    assert result.exit_code == 0
    assert result.stderr == ""
    for part in ("case", "9 buses, 20 devices", "power flow", "largest residual", "limits at t0   all kept",
                 "0.1000000 s  BUS7: fault", "newton iterations", "in synchronism"):
        assert part in result.stdout
    assert result.stdout.splitlines()[-1].split() == ["data", "results/wscc9.nc"]
    run = gc.load_run(tmp_path / "results" / "wscc9.nc")
    assert np.array_equal(run.X, gc.simulate(gc.build("wscc9"), t_end=0.3).X)


def test_run_changes_what_is_asked_for(call, tmp_path):
    assert call("run", "wscc9", "--t-end", 0.3, "--step", 0.02, "--theta", 1, "--set", "GEN2.H=7.5",
                "--set", "fault.clear=150 ms", "--set", "trip.t=0.15", "--quiet").stdout == ""
    run = gc.load_run(tmp_path / "wscc9.nc")
    assert run.system.case["GEN2"].fields["H"] == 7.5
    assert [e.t for e in run.events] == [0.1, 0.15, 0.15]
    assert run.tape.methods[0].options == {"theta": 1.0}
    assert run.settings["step"] == 0.02


def test_steps_may_change_on_the_way_and_the_run_keeps_that(call, tmp_path):
    result = call("run", "wscc9", "--t-end", 0.5, "--step", "0.001,0.2:0.01")
    assert "step 0.001 s from 0 s, 0.01 s from 0.2 s" in result.stdout
    run = gc.load_run(tmp_path / "wscc9.nc")
    assert run.counters["steps"] == 230
    assert np.array_equal(run.X, gc.simulate(gc.build("wscc9"), 0.5, [(0, 0.001), (0.2, 0.01)]).X)


def test_steps_may_be_chosen_by_their_error(call, tmp_path):
    result = call("run", "wscc9", "--t-end", 0.4, "--step", "auto", "--rtol", 1e-2, "--atol", 1e-4)
    assert "step auto, rtol = 0.01, atol = 0.0001" in result.stdout
    run = gc.load_run(tmp_path / "wscc9.nc")
    assert np.array_equal(run.X, gc.simulate(gc.build("wscc9"), 0.4, "auto", rtol=1e-2, atol=1e-4).X)
    assert call("run", "wscc9.nc", "--t-end", 0.5, "--rtol", 1e-3, "--out", "on", "--quiet").exit_code == 0
    settings = gc.load_run(tmp_path / "on" / "wscc9.nc").settings
    assert (settings["step"], settings["rtol"], settings["atol"]) == ("auto", 1e-3, 1e-4)
    assert "method 'theta' has no option 'rtol'" in call("run", "wscc9", "--rtol", 1e-3).stderr


def test_run_continues_a_run_that_was_kept_by_its_own_step_and_method(call, tmp_path):
    call("run", "wscc9", "--t-end", 0.3, "--step", 0.005, "--theta", 0.6, "--quiet")
    result = call("run", "wscc9.nc", "--t-end", 0.5, "--out", "on")
    assert result.exit_code == 0, result.stderr
    assert "theta, theta = 0.6, 0 to 0.5 s, step 0.005 s" in result.stdout
    run, whole = gc.load_run(tmp_path / "on" / "wscc9.nc"), gc.simulate(gc.build("wscc9"), 0.5, 0.005, theta=0.6)
    assert np.array_equal(run.X, whole.X)
    assert (run.settings, run.counters) == (whole.settings, whole.counters)
    result = call("run", "wscc9.nc", "--t-end", 0.5, "--method", "trbdf2")
    assert "trbdf2, 0 to 0.5 s, step 0.005 s" in result.stdout


@pytest.mark.parametrize(("args", "said"), [
    (("--t-end", 0.1), "t_end = 0.1 must be after the end of the run, 0.2 s"),
    (("--t-end", 1, "--set", "GEN1.H=3", "--loads", "Z"), "--set, --loads: a run that is continued has its own system"),
    (("--t-end", 1, "--record", "GEN*.omega"), "--record: a run that is continued has its own system"),
])
def test_what_a_run_that_is_continued_cannot_do_is_one_line(call, args, said):
    call("run", "wscc9", "--t-end", 0.2, "--quiet")
    assert said in refused(call("run", "wscc9.nc", *args))


def test_a_name_leads_to_no_other_folder(call, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL.replace('"small"', '"../../Case: no. 1/"'))
    result = call("run", "small.toml", "--t-end", 0.1, "--out", "a/b")
    assert result.stdout.split()[-1] == "a/b/Case_no._1.nc"
    assert (tmp_path / "a" / "b" / "Case_no._1.nc").is_file()


def test_run_draws_a_figure(call, tmp_path):
    result = call("run", "small.toml", "--t-end", 0.1, "--plot")
    assert result.stdout.splitlines()[-1].split() == ["figure", "small.png"]
    assert (tmp_path / "small.png").read_bytes().startswith(b"\x89PNG")


# pf, plugins, doctor, convert -------------------------------------------------------------------------

def test_pf_shows_the_solution_of_the_book(call):
    """Sauer and Pai (1998), figure 7.4."""
    rows = [line.split() for line in call("pf", "wscc9").stdout.splitlines()]
    assert rows[1] == ["BUS1", "slack", "1.04000", "0.000", "71.641", "27.046"]
    assert rows[2][:4] == ["BUS2", "PV", "1.02500", "9.280"]
    assert rows[5][2:] == ["0.99563", "-3.989", "-125.000", "-50.000"]


def test_pf_writes_every_digit(call, tmp_path):
    assert call("pf", "wscc9", "--out", "kept").exit_code == 0
    rows = [*csv.DictReader((tmp_path / "kept" / "wscc9_pf.csv").open())]
    flow = gc.build("wscc9").operating_point.power_flow
    assert [float(r["Vm [pu]"]) for r in rows] == [*np.abs(flow.V)]
    assert [float(r["Q [MVAr]"]) for r in rows] == [*(flow.S.imag * 100)]


def test_pf_tells_a_generator_at_its_reactive_limit(call):
    limit = ["--set", "GEN2.Qmax=0.03"]
    free, limited = (call("pf", "wscc9", *limit, *more).stdout.splitlines()[2]
                     for more in ([], ["--enforce-q-limits"]))
    assert free.split()[5] == "6.654"
    assert limited.split()[1] == "PQ"
    assert limited.split()[5] == "3.000"
    assert limited.endswith("at its upper limit of Q")


def test_plugins_lists_every_name_with_its_distribution(call):
    shown = call("plugins").stdout
    for registry in plugins.REGISTRIES:
        assert f"{registry.kind}\n" in shown
        for name in registry:
            assert f"{registry.origin(name)}\n" in shown
            assert f"  {name} " in shown


def test_doctor_says_in_words_how_a_device_is(call):
    result = call("doctor", "Line")
    assert result.exit_code == 0
    assert result.stdout.startswith("Line: well\n")

    class Wrong(gc.Device):
        """A device whose equations ask for a state's value."""

        x = gc.State("pu", doc="a state")

        def rates(s):
            return 1.0 if s.x > 0 else 0.0

    with gc.registered(Wrong):
        result = call("doctor", "Wrong")
    assert result.exit_code == 1
    assert result.stdout.startswith("Wrong: NOT WELL\n  ")


def test_convert_keeps_the_power_flow(call, tmp_path):
    assert call("convert", "wscc9", "a.m").exit_code == 0
    assert call("convert", "a.m", "b.toml").exit_code == 0
    before, after = (call("pf", case).stdout.splitlines() for case in ("wscc9", "b.toml"))
    assert before[1:10] == after[1:10]


@pytest.mark.parametrize(("case", "target", "lost"), [
    ("wscc9", "a.toml", ""), ("wscc9", "a.xlsx", ""),
    ("wscc9", "a.raw", "3 TwoAxis, 3 IEEEType1, 1 BusFault, 1 BranchTrip; instead there are 3 StaticGenerator"),
    ("kundur", "a.m", "4 GENROU, 4 SEXS, 4 TGOV1, 4 IEEEST, 1 BusFault, 1 BranchTrip; instead there are "
                      "4 StaticGenerator"),
    ("kundur", "a.dyr", "1 BusFault, 1 BranchTrip"), ("microgrid", "a.dyr", "1 InfiniteBus, 1 BusFault, 1 BranchTrip; "
                                                                            "instead there are 1 StaticGenerator")])
def test_what_a_format_has_no_records_of_is_said(call, case, target, lost):
    told = call("convert", case, target)
    assert told.exit_code == 0
    assert told.stderr == (f"note: {target} has no records of {lost}\n" if lost else "")


def test_a_case_that_is_wrong_is_not_converted(call, tmp_path):
    (tmp_path / "bad.toml").write_text(SMALL.replace("x = 0.1", "x = 0"))
    refused(call("convert", "bad.toml", "b.toml"))
    assert not (tmp_path / "b.toml").exists()
