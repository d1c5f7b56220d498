"""A sweep's rows are what runs by hand give; a scenario that fails is a row; the store keeps to its study."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import gridcore as gc
from gridcore_provenance.record import provenance
from gridcore_sweep import sweep
from gridcore_sweep.measures import Measure, margin, measured
from gridcore_sweep.scenarios import Scenario
from gridcore_sweep.store import Store
from gridcore_sweep.study import study
from gridcore_sweep.table import Table
from gridcore_sweep.worker import Result, system_of, work

MACHINES = ["GEN1", "GEN2", "GEN3"]


def test_a_row_is_what_a_run_by_hand_gives():
    made = study("wscc9", vary={"GEN2.H": [5.0]}, t_end=1.0, measures={"dip": "min BUS*.Vm", "last": "end BUS*.Vm",
                                                                       "swing": "range GEN*.omega"})
    row = work(made.setup, made.tasks[0]).row
    case = gc.load_case("wscc9")
    case.set("GEN2.H", 5.0)
    run = gc.simulate(gc.build(case), t_end=1.0)
    angles, speeds = np.degrees(run.of(MACHINES, "delta")), run.of(MACHINES, "omega")
    volts = run.of([f"BUS{k}" for k in range(1, 10)], "Vm")
    spread = angles.max(axis=1) - angles.min(axis=1)
    assert row["angle"] == pytest.approx(spread.max(), rel=1e-12)
    assert row["angle_at"] == run.t[spread.argmax()]
    assert row["margin"] == pytest.approx(100 * (360 - spread.max()) / (360 + spread.max()))
    assert (row["speed_min"], row["speed_max"]) == (speeds.min(), speeds.max())
    assert (row["voltage_end"], row["voltage_end_bus"]) == (volts[-1].min(), f"BUS{1 + volts[-1].argmin()}")
    assert (row["dip"], row["last"]) == (volts.min(), volts[-1].max())
    assert row["swing"] == np.ptp(speeds, axis=0).max()
    assert (row["stable"], row["islands"], row["reached"]) == (True, 1, 1.0)


def test_the_margin_is_zero_where_a_pole_has_slipped():
    assert [margin(d) for d in (0.0, 360.0)] == [100.0, 0.0]
    assert margin(1e9) > -100


def test_a_built_system_is_used_again_and_gives_the_same_as_a_new_one():
    made = study("wscc9", vary={"GEN2.H": [5.0, 6.0], "fault.clear": [0.15, 0.18], "LINE8-9.status": [1, 0]}, t_end=0.5)
    built = {id(system_of(made.setup, t.values).system) for t in made.tasks[::2]}
    assert len(built) == 1  # parameters only
    for task in made.tasks:
        case = made.setup.case.copy()
        for address, value in task.values.items():
            case.set(address, value)
        expected, _ = measured(gc.simulate(gc.build(case), t_end=0.5), ())
        assert work(made.setup, task).row == expected


def test_two_studies_of_one_process_do_not_mix_their_systems():
    rows = [gc.analyses.sweep("wscc9", contingencies={"faults": 8, "x": x}, t_end=1.0, processes=1).results[0].row
            for x in (0.5, 1e-4, 0.5)]
    assert rows[0] == rows[2]
    assert rows[0]["angle"] < rows[1]["angle"]


def test_a_system_that_another_thread_builds_in_the_meantime_takes_none_away():
    one, other = (study(name, vary={f"{machine}.H": [5.0, 6.0]}, t_end=0.1).setup
                  for name, machine in (("wscc9", "GEN2"), ("smib", "GEN1")))

    class Meanwhile(dict):
        def items(self):
            system_of(other, {})
            return super().items()

    assert system_of(one, Meanwhile()).case.name == "wscc9"


def test_a_scenario_that_fails_is_a_row_with_its_error():
    table = gc.analyses.sweep("wscc9", processes=1, t_end=1.0,
                              rows=[{"GEN2.H": 6.0}, {"GEN2.H": -1.0}, {"LOAD5.P0": 50.0}, {"LINE4-6.status": 0}])
    errors = [r.error for r in table.results]
    assert errors[0] == errors[3] == ""
    assert "must be greater than 0" in errors[1]
    assert "power flow" in errors[2]
    assert table.failed == [1, 2]
    assert table.ranked()[:2] == [1, 2]
    assert table.results[1].row == {}


def test_a_run_that_fails_on_the_way_keeps_what_was_computed():
    """The case opens LINE5-7; with LINE4-5 gone, too, bus 5 has no source."""
    made = study("wscc9", contingencies={"trips": "LINE4-5", "at": 0.3}, own_events=True, t_end=2.0)
    result = work(made.setup, made.tasks[0])
    assert "island without a voltage source: BUS5" in result.error
    assert result.row["reached"] == 0.3
    assert result.row["stable"] is False
    assert result.row["angle"] > 90


def test_a_device_that_breaks_is_a_row_with_its_error(monkeypatch):
    made = study("wscc9", vary={"GEN2.H": [5.0]}, t_end=0.1)

    def broken(*args, **options):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("gridcore_sweep.worker.simulate", broken)
    assert work(made.setup, made.tasks[0]).error == "ZeroDivisionError: by zero"


@pytest.mark.parametrize(("asked", "said"), [
    ({}, "nothing to sweep"),
    ({"contingencies": {}}, "there are none"),
    ({"contingencies": {"fault": "all"}}, "unknown field 'fault'; did you mean faults"),
    ({"vary": {"GEN2.H": [5]}, "measures": ["lowest BUS*.Vm"]}, "write one of min, max, start, end, range"),
    *(({"vary": {"GEN*.H": [5]}, "measures": {name: "min BUS*.Vm"}}, f"measure '{name}': there is a column of that")
      for name in ("GEN*.H", "GEN2.H", "margin", "critical", "error", "machine", "machine_angle", "scenario")),
    ({"vary": {"GEN2.H": [5]}, "measures": ["min BUS*.vm"]}, "no quantity matches 'BUS*.vm'; did you mean"),
    ({"vary": {"GEN2.H": [5]}, "measures": {"margin": "min BUS*.Vm"}}, "there is a column of that name already"),
    ({"vary": {"GEN2.H": [5]}, "keep": "some"}, "keep = 'some' must be one of none, unstable, all"),
    ({"vary": {"GEN2.H": [5]}, "step": 0.0}, "step = 0.0 must be"),
    ({"vary": {"GEN2.H": [5]}, "record": "GEN2.omga"}, "no quantity matches 'GEN2.omga'; did you mean GEN2.omega"),
    ({"rows": [{"GEN2.H": 5}, {"GEN2.H": 5}]}, "'row = 1' and 'row = 2' are one and the same scenario")])
def test_what_is_wrong_with_a_study_is_told_before_anything_runs(asked, said):
    with pytest.raises(gc.errors.CaseError) as error:
        study("wscc9", **asked)
    assert said in str(error.value)


def test_a_method_that_is_none_is_told_before_anything_runs():
    with pytest.raises(gc.errors.PluginError, match="unknown integrator 'thet'; did you mean theta"):
        study("wscc9", vary={"GEN2.H": [5]}, method="thet")
    with pytest.raises(gc.GridcoreError, match="theta = 2"):
        study("wscc9", vary={"GEN2.H": [5]}, options={"theta": 2.0})


def test_runs_cannot_be_kept_nowhere():
    with pytest.raises(gc.errors.CaseError, match="say where"):
        gc.analyses.sweep("wscc9", vary={"GEN2.H": [5]}, keep="all")


def test_a_case_that_has_no_operating_point_is_told_at_once():
    case = gc.load_case("wscc9")
    case.set("LOAD5.P0", 50)
    with pytest.raises(gc.errors.PowerFlowError):
        study(case, vary={"GEN2.H": [5]})


# The store ----------------------------------------------------------------------------------------------------------


def test_the_store_of_another_sweep_is_refused_and_says_what_is_other(tmp_path):
    store = tmp_path / "s.db"
    gc.analyses.sweep("wscc9", vary={"GEN2.H": [5.0]}, t_end=0.1, store=store, processes=1)
    before = store.read_bytes()
    for asked, said in (({"t_end": 0.2}, "t_end: 0.1, not 0.2"), ({"case": "smib"}, "case: wscc9 ")):
        asked = {"case": "wscc9", "t_end": 0.1, **asked}
        with pytest.raises(gc.GridcoreError, match="holds another sweep") as error:
            gc.analyses.sweep(asked.pop("case"), vary={"GEN*.H": [5.0]}, store=store, **asked)
        assert said in str(error.value)
    assert store.read_bytes() == before


def test_results_of_other_versions_in_a_store_are_told_and_stay(tmp_path, monkeypatch):
    made, libraries = provenance(), ["numpy 1.0, mine 2"]
    monkeypatch.setattr(sweep, "provenance", lambda *of: {**made, "gridcore": "0.0.1", "libraries": libraries[-1]})

    def results(*H):
        asked = {"t_end": 0.1, "store": tmp_path / "s.db", "processes": 1}
        return gc.analyses.sweep("wscc9", vary={"GEN2.H": list(H)}, **asked).results

    first = results(5.0)
    assert results(5.0) == first  # by the same versions: nothing is told
    libraries.append("numpy 1.1, mine 2")
    with pytest.warns(gc.errors.DataWarning, match=r"s\.db: has results made with numpy 1\.0 in place of numpy 1\.1; "):
        assert results(5.0, 6.0)[0] == first[0]


@pytest.mark.parametrize("what", ["text", "database"])
def test_what_is_no_store_is_refused_and_left_alone(tmp_path, what):
    path = tmp_path / "s.db"
    if what == "text":
        path.write_text("some notes of mine, longer than nothing\n" * 100)
    else:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE about (name TEXT, value TEXT)")
        db.close()
    before = path.read_bytes()
    with pytest.raises(gc.GridcoreError, match="is not a store of a sweep"):
        gc.analyses.sweep("smib", contingencies={"trips": "all"}, store=path)
    assert path.read_bytes() == before


def test_one_process_at_a_time_writes_to_a_store(tmp_path):
    path, about = tmp_path / "s.db", {"digest": "x"}
    first = Store(path, about)
    with pytest.raises(gc.GridcoreError, match="another sweep is writing to this store"):
        Store(path, about)
    first.close()
    Store(path, about).close()
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]


def test_copies_of_the_process_do_not_hold_its_store_when_it_is_killed(tmp_path):
    code = ("import os, signal, sys\nfrom pathlib import Path\nfrom gridcore_sweep.store import Store\n"
            "kept = Store(Path(sys.argv[1]), {'digest': 'x'})\n"
            "copy = os.fork()\n"
            "if not copy:\n    print(os.getpid(), flush=True)\n    signal.pause()\n"
            "signal.pause()\n")
    path = tmp_path / "s.db"
    owner = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    copy = int(owner.stdout.readline())
    try:
        with pytest.raises(gc.GridcoreError, match="another sweep is writing to this store"):
            Store(path, {"digest": "x"})
        owner.kill()
        owner.wait()
        Store(path, {"digest": "x"}).close()
    finally:
        os.kill(copy, signal.SIGKILL)
        owner.stdout.close()


def test_a_row_can_be_written_once_only(tmp_path):
    store = Store(tmp_path / "s.db", {"digest": "x"})
    store.add("key", "name", Result({"angle": 1.0, "critical": float("inf")}, {"GEN1": 2.0}, "no", 0.5, "here:1"))
    with pytest.raises(sqlite3.IntegrityError):
        store.add("key", "name", Result())
    assert store.results() == {"key": Result({"angle": 1.0, "critical": float("inf")}, {"GEN1": 2.0}, "no", 0.5,
                                             "here:1")}
    store.close()


def test_what_failed_is_run_again_if_asked_for(tmp_path):
    asked = {"rows": [{"GEN2.H": 6.0}, {"LOAD5.P0": 50.0}], "t_end": 0.1, "store": tmp_path / "s.db", "processes": 1}
    done = []
    gc.analyses.sweep("wscc9", **asked)
    gc.analyses.sweep("wscc9", **asked, progress=lambda k, of: done.append(k))
    assert done == [2]
    gc.analyses.sweep("wscc9", **asked, retry_failed=True, progress=lambda k, of: done.append(k))
    assert done == [2, 1, 2]


def test_runs_are_kept_as_files_that_say_which_they_are(tmp_path):
    table = gc.analyses.sweep("wscc9", vary={"fault.clear": [0.15, 0.4]}, t_end=2.0, store=tmp_path / "s.db",
                              keep="unstable", processes=1)
    assert [r.row["stable"] for r in table.results] == [True, False]
    [file] = (tmp_path / "s").iterdir()
    assert file.name.startswith("fault.clear_=_0.4-")
    run = gc.load_run(file)
    assert measured(run, ())[0] == table.results[1].row


def test_runs_are_kept_beside_a_store_that_has_no_ending(tmp_path):
    table = gc.analyses.sweep("wscc9", vary={"GEN2.H": [5.0, 6.0]}, t_end=0.1, store=tmp_path / "results", keep="all",
                              processes=1)
    assert not table.failed
    assert len(list((tmp_path / "results_runs").iterdir())) == 2


def test_of_kept_runs_it_is_enough_to_record_a_part(tmp_path):
    asked = {"contingencies": {"faults": [7, 8]}, "t_end": 0.5, "keep": "all", "processes": 1}
    gc.analyses.sweep("wscc9", **asked, store=tmp_path / "all.db")
    gc.analyses.sweep("wscc9", **asked, store=tmp_path / "part.db", record=["GEN*.omega", "BUS7.Vm"])
    names = sorted(p.name for p in (tmp_path / "all").iterdir())
    assert sorted(p.name for p in (tmp_path / "part").iterdir()) == names
    whole, part = (gc.load_run(tmp_path / folder / names[0]) for folder in ("all", "part"))
    for key in (("GEN2", "omega"), ("BUS7", "Vm")):
        assert np.array_equal(part[key], whole[key])
    with pytest.raises(gc.errors.NotRecorded):
        part["GEN2", "delta"]


def test_what_a_run_warns_of_is_in_its_row_and_not_what_python_tells_programmers(monkeypatch):
    import warnings

    from gridcore_sweep import worker

    def warning(*args, **options):
        warnings.warn("something is  odd", UserWarning, stacklevel=1)
        warnings.warn("a file was left open", ResourceWarning, stacklevel=1)
        warnings.warn("it will be gone", DeprecationWarning, stacklevel=1)
        return gc.simulate(*args, **options)

    made = study("wscc9", vary={"GEN2.H": [5.0]}, t_end=0.1)
    monkeypatch.setattr(worker, "simulate", warning)
    assert work(made.setup, made.tasks[0]).row["warning"] == "something is odd"


# The table ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    return gc.analyses.sweep("wscc9", contingencies={"faults": [5, 7], "clear": 0.15}, t_end=1.0, processes=1,
                             vary={"GEN2.H": [4.0, 6.4, -1.0]}, measures={"dip": "min BUS5.Vm"})


def test_a_dataset_has_a_dimension_for_each_label(table):
    data = table.to_xarray()
    assert dict(data.sizes) == {"contingency": 2, "GEN2.H": 3, "machine": 3}
    one = data.sel({"contingency": "fault BUS7", "GEN2.H": 6.4})
    [k] = [k for k, s in enumerate(table.scenarios) if s.name == "fault BUS7, GEN2.H = 6.4"]
    assert float(one["angle"]) == table.results[k].row["angle"]
    assert one["machine_angle"].values.tolist() == list(table.results[k].machines.values())
    assert np.isnan(data["margin"].sel({"GEN2.H": -1.0})).all()
    assert "must be greater than 0" in str(data["error"].sel({"contingency": "fault BUS5", "GEN2.H": -1.0}).item())
    assert data["dip"].attrs["units"] == "pu"


def test_a_list_of_scenarios_has_one_dimension():
    made = gc.analyses.sweep("wscc9", rows=[{"GEN2.H": 5.0}, {"GEN3.H": 4.0}], t_end=0.1, processes=1)
    data = made.to_xarray()
    assert data["angle"].dims == ("row",)
    assert data["GEN2.H"].values[0] == 5.0
    assert np.isnan(data["GEN2.H"].values[1])


def test_a_csv_file_has_every_row_and_every_digit(table, tmp_path):
    table.to_csv(tmp_path / "t.csv")
    lines = list(csv.DictReader(open(tmp_path / "t.csv", encoding="utf-8")))
    assert [(line["contingency"], float(line["GEN2.H"])) for line in lines] == [
        (f"fault BUS{b}", h) for b in (5, 7) for h in (4.0, 6.4, -1.0)]
    assert float(lines[1]["margin [%]"]) == table.results[1].row["margin"]
    assert lines[2]["margin [%]"] == ""
    assert "must be greater than 0" in lines[2]["error"]


def test_the_worst_comes_first(table):
    order = table.ranked()
    assert {order[0], order[1]} == set(table.failed)
    margins = [table.results[k].row["margin"] for k in order[2:]]
    assert margins == sorted(margins)
    speeds = [table.results[k].row["speed_max"] for k in table.ranked("speed_max", descending=True)[2:]]
    assert speeds == sorted(speeds, reverse=True)
    with pytest.raises(gc.errors.CaseError, match="has no column 'angel'; did you mean angle"):
        table.ranked("angel")


def test_what_is_no_number_comes_behind_all_that_are():
    values = [3.0, np.nan, 1.0, np.nan, 2.0, 0.5]
    made = Table([Scenario({"row": k}) for k in range(6)], [Result({"dip": v}) for v in values], {"dip": "pu"})
    assert made.ranked("dip") == [5, 2, 4, 0, 1, 3]
    assert made.ranked("dip", descending=True) == [0, 4, 2, 5, 1, 3]


def test_a_measure_reads_as_it_is_written():
    assert Measure.parse("min  BUS*.Vm") == Measure("min BUS*.Vm", "min", "BUS*.Vm")
    with pytest.raises(gc.errors.CaseError, match="did you mean max"):
        Measure.parse("maxi BUS*.Vm")


def test_a_system_stands_for_its_case_built_as_it_was():
    case = gc.load_case("wscc9")
    system = gc.build(case, deenergise=True, enforce_q_limits=True).with_values({"GEN2.H": 5.0})
    made = study(system, vary={"fault.clear": [0.2]}, t_end=0.5)
    case.set("GEN2.H", 5.0)
    by_case = study(case, vary={"fault.clear": [0.2]}, t_end=0.5, deenergise=True, enforce_q_limits=True)
    assert made.keys == by_case.keys
    assert (made.setup.deenergise, made.setup.enforce_q_limits) == (True, True)


def test_a_table_says_in_a_line_what_it_has():
    table = gc.analyses.sweep("smib", vary={"GEN1.H": [3.0, 4.0]}, measures=["max GEN1.omega"], t_end=0.1, processes=1)
    assert repr(table).startswith("<Sweep of smib: 2 scenarios; ")
    assert "max GEN1.omega" in repr(table)
    assert len(repr(table)) < 200
