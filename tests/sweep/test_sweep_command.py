"""``gridcore sweep``: options and sweep files, files that come of it, errors on one line."""

from __future__ import annotations

import csv

import pytest
from click.testing import CliRunner
from command_line import refused
from matplotlib.text import Text

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.errors import CaseError
from gridcore_sweep.figures import COLUMNS_SHOWN, ROWS_SHOWN, heat_map
from gridcore_sweep.scenarios import Scenario
from gridcore_sweep.table import Table
from gridcore_sweep.worker import Result

FILE = """\
case = "nine.toml"
t_end = 1.0
set = {"GEN2.H" = 6.0}

[contingencies]
faults = [5, 7]
clear = 0.12

[random]
samples = 3
seed = 3
balance = "GEN*"

[random.draw]
"LOAD*.P0" = {distribution = "norm", loc = 1, scale = 0.1, relative = true}

[measures]
dip = "min BUS5.Vm"
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(gridcore, ["sweep", *map(str, args)])


def test_contingencies_are_ranked_and_kept(call, tmp_path):
    shown = call("wscc9", "--faults", "7", "--faults", "BUS8", "--line-faults", "LINE5-7", "--trips", "GEN3",
                 "--clear", "0.1", "--t-end", "2", "--processes", "1", "--plot", "--out", "there")
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["contingency", "margin", "[%]", "angle", "[deg]", "speed_min", "[pu]", "speed_max",
                                "[pu]", "voltage_end", "[pu]"]
    assert lines[1].startswith("fault BUS7, LINE5-7 opens")
    assert lines[1].endswith("unstable")
    assert lines[6] == "5 scenarios, 1 unstable"
    assert lines[7:] == [f"there/wscc9_sweep.{ending}" for ending in ("db", "csv", "nc", "png")]
    assert all((tmp_path / line).stat().st_size for line in lines[7:])


def test_grids_and_lists_are_varied(call, tmp_path):
    shown = call("wscc9", "--vary", "GEN2.H=5:7:3", "--vary", "fault.clear=150 ms,0.16", "--t-end", "1", "--processes",
                 "1", "--measure", "max GEN2.omega", "--rank", "-max GEN2.omega", "--top", "2", "--store", "x/y.db")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.splitlines()[3] == "6 scenarios, the worst 2 shown"
    lines = list(csv.DictReader(open(tmp_path / "x" / "y.csv", encoding="utf-8")))
    assert [(line["GEN2.H"], line["fault.clear"]) for line in lines] == [
        (h, c) for h in ("5.0", "6.0", "7.0") for c in ("150 ms", "0.16")]
    speeds = sorted((float(line["max GEN2.omega [pu]"]) for line in lines), reverse=True)
    assert [row.split()[-1] for row in shown.stdout.splitlines()[1:3]] == [f"{s:.6g}" for s in speeds[:2]]


def test_a_sweep_file_is_the_sweep_that_its_words_say(call, tmp_path):
    gc.save_case(gc.load_case("wscc9"), tmp_path / "nine.toml")
    (tmp_path / "n1.toml").write_text(FILE)
    shown = call("n1.toml", "--processes", "1")
    assert shown.exit_code == 0, shown.stderr
    lines = list(csv.DictReader(open(tmp_path / "n1_sweep.csv", encoding="utf-8")))
    case = gc.load_case("wscc9")
    case.set("GEN2.H", 6.0)
    table = gc.analyses.sweep(case, t_end=1.0, contingencies={"faults": [5, 7], "clear": 0.12}, processes=1,
                              random={"samples": 3, "seed": 3, "balance": "GEN*", "draw": {
                                  "LOAD*.P0": {"distribution": "norm", "loc": 1, "scale": 0.1, "relative": True}}},
                              measures={"dip": "min BUS5.Vm"})
    assert [float(line["angle [deg]"]) for line in lines] == table.column("angle")
    assert [float(line["LOAD5.P0"]) for line in lines] == [s.values["LOAD5.P0"] for s in table.scenarios]


def test_rows_come_from_a_csv_file_beside_the_sweep(call, tmp_path):
    (tmp_path / "rows.csv").write_text("GEN2.H, fault.clear\n5,150 ms\n\n6,0.18\n")
    (tmp_path / "r.toml").write_text('case = "wscc9"\nt_end = 0.5\nrows = "rows.csv"\n')
    assert call("r.toml", "--processes", "1").exit_code == 0
    [a, b] = csv.DictReader(open(tmp_path / "r_sweep.csv", encoding="utf-8"))
    assert (a["GEN2.H"], a["fault.clear"], b["fault.clear"]) == ("5", "150 ms", "0.18")


@pytest.mark.parametrize(("args", "said"), [
    (["wscc9"], "nothing to sweep"),
    (["wscc99", "--faults", "all"], "there is no case 'wscc99', shipped or as a file; did you mean wscc9"),
    (["wscc9", "--faults", "BUS77"], "no bus matches 'BUS77'; did you mean BUS7"),
    (["wscc9", "--faults", "all", "--clear", "soon"],
     "clear = 'soon' must be a number of seconds above 0, or 'critical'"),
    (["wscc9", "--faults", "7", "--at", "0.25", "--clear", "critical"],
     "at + longest = 1.25 s must be before a run ends, t_end = 0.3 s"),
    (["wscc9", "--vary", "GEN2.h=4,5"], "no parameter matches 'GEN2.h'; did you mean GEN2.H"),
    (["wscc9", "--vary", "GEN2.H"], "'GEN2.H' is not PARAMETER=VALUE,VALUE,... or PARAMETER=FROM:TO:COUNT"),
    (["wscc9", "--vary", "GEN2.H=1:2"], "'GEN2.H=1:2' is not PARAMETER=VALUE"),
    (["wscc9", "--faults", "all", "--rank", "angel"], "has no column 'angel'; did you mean angle"),
    (["wscc9", "--faults", "all", "--processes", "0"], "processes = 0 must be a whole number, at least 1"),
    (["wscc9", "--faults", "all", "--top", "-2"], "-2 is not in the range x>=0"),
    (["wscc9", "--faults", "all", "--processes", "1", "--dask", "tcp://x:1"], "give one of the two")])
def test_bad_options_are_one_line(call, args, said):
    assert said in refused(call(*args, "--t-end", "0.3", *([] if "--processes" in args else ["--processes", "1"])))


@pytest.mark.parametrize("ending", ["csv", "nc", "png"])
def test_a_store_is_not_overwritten_by_what_is_written_beside_it(call, tmp_path, ending):
    told = refused(call("wscc9", "--vary", "GEN2.H=5,6", "--t-end", "0.1", "--store", f"s.{ending}"))
    assert f"s.{ending}: the table or the figure goes there, over the store; name it s.db" in told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("old", "new", "said"), [
    ("t_end", "tend", "n1.toml: field 'tend': unknown heading; did you mean t_end"),
    ("t_end = 1.0", "t_end = 'long'", "n1.toml: field 't_end': 'long' must be an integer or a number"),
    ("nine.toml", "ten.toml", "there is no such file"),
    ('case = "nine.toml"', "", "n1.toml: field 'case': missing: the name of a case, or its file"),
    ("faults = [5, 7]", "faults = [5, 77]", "n1.toml: no bus matches 'BUS77'"),
    ("samples = 3", "samples = -3", "n1.toml: random: samples = -3 must be an integer of at least 1"),
    ("min BUS5.Vm", "min BUS5.vm", "no quantity matches 'BUS5.vm'; did you mean BUS5.Vm")])
def test_a_bad_sweep_file_is_one_line_with_the_file(call, tmp_path, old, new, said):
    gc.save_case(gc.load_case("wscc9"), tmp_path / "nine.toml")
    (tmp_path / "n1.toml").write_text(FILE.replace(old, new))
    assert said in refused(call("n1.toml"))


def test_what_belongs_into_the_file_is_refused_beside_it(call, tmp_path):
    (tmp_path / "n1.toml").write_text(FILE.replace("nine.toml", "wscc9"))
    assert refused(call("n1.toml", "--t-end", "3")) == "n1.toml is a sweep file: --t-end is to be said in it"


def test_rows_that_do_not_fit_are_told_with_their_line(call, tmp_path):
    (tmp_path / "rows.csv").write_text("GEN2.H,fault.clear\n5\n")
    (tmp_path / "r.toml").write_text('case = "wscc9"\nrows = "rows.csv"\n')
    assert refused(call("r.toml")) == "rows.csv: line 2: 2 values are wanted"


@pytest.mark.parametrize(("head", "told"), [("GEN2.H, GEN2.H", "rows.csv: 'GEN2.H' stands twice at the head"),
                                            ("GEN2.H,GEN*.H", "r.toml: row 1: GEN2.H is given twice")])
def test_rows_that_give_a_parameter_two_values_are_refused(call, tmp_path, head, told):
    (tmp_path / "rows.csv").write_text(f"{head}\n5,6\n")
    (tmp_path / "r.toml").write_text('case = "wscc9"\nrows = "rows.csv"\n')
    assert refused(call("r.toml")) == told


def test_a_failing_scenario_is_a_row_and_not_the_end(call):
    shown = call("wscc9", "--vary", "GEN2.H=-1,5", "--t-end", "0.2", "--processes", "2")
    assert shown.exit_code == 0
    first = shown.stdout.splitlines()[1]
    assert first.startswith("-1")
    assert "failed: " in first
    assert "must be greater than 0" in first
    assert "2 scenarios, 1 failed" in shown.stdout


@pytest.mark.parametrize("other", [[], ["--vary", "GEN3.H=3,4"]])
def test_a_sweep_of_which_every_scenario_fails_has_failed_and_keeps_its_table_and_map(call, tmp_path, other):
    shown = call("wscc9", "--vary", "GEN2.H=-1,-2", *other, "--t-end", "0.2", "--processes", "1", "--plot")
    assert shown.exit_code == 1
    assert f"{4 if other else 2} scenarios, {4 if other else 2} failed" in shown.stdout
    assert all((tmp_path / f"wscc9_sweep.{ending}").exists() for ending in ("csv", "nc", "png"))


# Heat maps ----------------------------------------------------------------------------------------------------------


def cells(figure):
    axes = figure.axes[0]
    [image] = axes.images
    return image.get_array(), [t.get_text() for t in axes.get_yticklabels()], [
        t.get_text() for t in axes.get_xticklabels()]


def test_of_one_label_the_map_is_over_machines_the_worst_on_top(tmp_path):
    table = gc.analyses.sweep("wscc9", contingencies={"faults": "all"}, t_end=1.0, processes=1)
    values, down, across = cells(heat_map(table, tmp_path / "a.png"))
    assert (tmp_path / "a.png").stat().st_size
    order = table.ranked()
    assert down == [table.scenarios[k].labels["contingency"] for k in order]
    assert across == ["GEN1", "GEN2", "GEN3"]
    assert values.tolist() == [list(table.results[k].machines.values()) for k in order]


def test_of_two_labels_the_map_is_over_both_and_crosses_out_what_failed(tmp_path):
    table = gc.analyses.sweep("wscc9", vary={"GEN2.H": [5.0, -1.0], "fault.clear": [0.15, 0.16, 0.17]}, t_end=0.5,
                              processes=1)
    figure = heat_map(table, tmp_path / "a.png")
    values, down, across = cells(figure)
    assert (down, across) == (["5", "-1"], ["0.15", "0.16", "0.17"])
    assert values[0].tolist() == table.column("margin")[:3]
    assert values.mask.tolist() == [[False] * 3, [True] * 3]
    assert sorted((line.get_xdata()[0], line.get_ydata()[0]) for line in figure.axes[0].lines) == [
        (0, 1), (1, 1), (2, 1)]


def test_of_more_labels_the_map_shows_the_worst_of_the_others(tmp_path):
    table = gc.analyses.sweep("wscc9", vary={"GEN2.H": [5.0, 6.0], "GEN3.H": [3.0, 4.0], "fault.clear": [0.15, 0.17]},
                              t_end=0.5, processes=1)
    values, *_ = cells(heat_map(table, tmp_path / "a.png", "angle"))
    data = table.to_xarray()["angle"]
    assert values.tolist() == data.min("fault.clear").values.tolist()


def test_a_map_of_critical_times_shows_them(tmp_path):
    table = gc.analyses.sweep("wscc9", contingencies={"faults": [5, 7], "clear": "critical"}, t_end=1.2, processes=1)
    figure = heat_map(table, tmp_path / "a.png")
    bars = figure.axes[1]
    order = table.ranked()
    assert [bar.get_width() for bar in bars.patches] == [table.results[k].row["critical"] for k in order]
    assert [t.get_text() for t in bars.get_yticklabels()] == [table.scenarios[k].labels["contingency"] for k in order]
    assert bars.get_xlabel() == "critical clearing time (s)"
    assert bars.get_ylim() == figure.axes[0].get_ylim()


def test_what_has_no_room_is_counted(tmp_path):
    machines = {f"G{k}": float(k) for k in range(COLUMNS_SHOWN + 5)}
    scenarios = [Scenario({"contingency": f"s{k}"}) for k in range(ROWS_SHOWN + 3)]
    results = [Result(row={"margin": float(k)}, machines=machines) for k in range(len(scenarios))]
    figure = heat_map(Table(scenarios, results, {"margin": "%"}, "many"), tmp_path / "a.png")
    axes = figure.axes[0]
    assert axes.get_ylabel() == f"contingency: the {ROWS_SHOWN} worst of {ROWS_SHOWN + 3}"
    assert axes.get_xlabel() == f"machine: {COLUMNS_SHOWN} of {COLUMNS_SHOWN + 5}"
    assert axes.images[0].get_array().min() == 5.0  # those that go farthest are there


def test_a_dollar_sign_in_a_map_begins_no_formula(tmp_path):
    scenarios = [Scenario({"contingency": name}) for name in (r"LINE$\fra{$ opens", "LINE$x$ opens")]
    results = [Result(row={"margin": 1.0}, machines={"G$x$": 1.0, "G_2": 2.0})] * len(scenarios)
    figure = heat_map(Table(scenarios, results, {"margin": "%"}, "costs $5_{ and $"), tmp_path / "a.svg")
    assert cells(figure)[1:] == ([r"LINE$\fra{$ opens", "LINE$x$ opens"], ["G$x$", "G_2"])
    assert not any(text.get_parse_math() for text in figure.findobj(Text))


def test_a_map_of_an_unknown_kind_is_refused_with_those_there_are(tmp_path):
    table = Table([Scenario({"contingency": "s"})], [Result(row={"margin": 1.0}, machines={"G": 1.0})], {}, "one")
    with pytest.raises(CaseError, match=r"a\.foo: a figure ends in \.avif"):
        heat_map(table, tmp_path / "a.foo")


def test_axes_of_parameters_have_their_units(tmp_path):
    table = gc.analyses.sweep("wscc9", vary={"GEN2.H": [5.0, 6.0], "fault.clear": [0.15, 0.16]}, t_end=0.2, processes=1)
    axes = heat_map(table, tmp_path / "a.png").axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("GEN2.H (s)", "fault.clear (s)")


def test_an_axis_of_values_with_units_of_their_own_names_none(tmp_path):
    table = gc.analyses.sweep("wscc9", vary={"fault.clear": ["150 ms", "160 ms"]}, t_end=0.2, processes=1)
    assert heat_map(table, tmp_path / "a.png").axes[0].get_ylabel() == "fault.clear"
