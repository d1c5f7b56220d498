"""The verbs that say what there is, and ``--json`` of all that show tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import SMALL, invoke, refused

import gridcore as gc
from gridcore.registry import commands, devices
from gridcore_verbs.tables import Table

TABLES = ("cases", "critical", "damping", "describe", "eig", "faults", "fit", "grad", "info", "locus", "models",
          "optimise", "pf", "plugins", "run", "sweep", "tsa")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder that holds small.toml."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)


def tables(*arguments, code=0, **extra):
    """What a verb gives with --json: standard output is that and nothing else."""
    result = invoke(*arguments, "--json", **extra)
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


def test_cases_are_listed_by_name_with_their_size():
    (nine,) = (row for row in tables("cases")["cases"] if row["case"] == "wscc9")
    assert (nine["buses"], nine["devices"]) == (9, 20)
    for row in tables("cases")["cases"]:
        assert gc.load_case(row["case"]).title == row["what it is"]
        assert gc.load_case(row["case"]).about["t_end"] == row["recommended end"]


def test_info_says_what_a_case_has_and_what_happens_in_it():
    shown = invoke("info", "wscc9").stdout
    assert "base 100 MVA, 60 Hz\nrecommended end 2 s\n" in shown
    assert "Sauer, M. A. Pai, Power System Dynamics" in shown
    found = tables("info", "wscc9")
    assert {row["model"]: row["records"] for row in found["models"]}["TwoAxis"] == 3
    assert [row["event"] for row in found["events"]] == ["fault", "trip"]
    assert "there is no case 'wsc9'" in refused(invoke("info", "wsc9"))


@pytest.mark.parametrize("name", sorted(devices))
def test_every_model_is_described_with_all_that_a_row_may_have(name):
    declares = devices[name].declares
    found = tables("describe", name)
    assert [row["name"] for row in found.get("parameters", ())] == [*declares.params, *declares.fields]
    assert [row["name"] for row in found.get("states", ())] == [*declares.states]


def test_a_description_has_units_defaults_bounds_and_the_record():
    shown = invoke("describe", "TGOV1").stdout
    assert "R     pu    required  > 0     permanent droop" in shown
    assert "x1    pu    VMIN to VMAX  valve position" in shown
    assert "bus 'TGOV1' id  R T1 VMAX VMIN T2 T3 Dt /" in shown
    assert "did you mean GENROU" in refused(invoke("describe", "GENROUU"))


@pytest.mark.parametrize(("record", "model"), [("IEELAL", "IEELBL"), ("CIM5ZN", "CIM5BL"), ("genrou", "GENROU")])
def test_a_model_is_described_by_the_records_that_stand_for_it(record, model):
    assert invoke("describe", record).stdout == invoke("describe", model).stdout


def test_every_verb_that_shows_a_table_gives_it_as_json():
    offering = [name for name in commands if any(p.name == "as_json" for p in commands[name].command.params)]
    assert sorted(offering) == sorted(TABLES)


def test_json_has_every_digit_and_all_else_is_on_standard_error():
    buses = tables("pf", "small.toml")["buses"]
    run = gc.simulate(gc.build("small.toml"), t_end=0.01)
    assert [row["bus"] for row in buses] == ["BUS1", "BUS2"]
    assert buses[1]["Vm [pu]"] == pytest.approx(run["BUS2.Vm"][0], rel=1e-12)
    assert "iterations" in invoke("pf", "small.toml", "--json").stderr


def test_names_stay_names_in_json_and_what_is_blank_is_null():
    names = ["1_2", "INF", "NaN", "1E5", "infinity", "0x10"]
    shown = [" 1.5 ", "-2", "1e-06", "nan", "-inf", "   "]
    rows = Table({"name": names, "value": shown, "remark": [""] * 6}).rows()
    assert [row["name"] for row in rows] == names
    assert [row["value"] for row in rows] == [1.5, -2, 1e-6, None, None, None]
    assert {row["remark"] for row in rows} == {""}


def test_what_is_not_well_is_told_as_json_too():
    gc.save_case(gc.load_case("small.toml"), "bad.toml")
    with open("bad.toml") as file:
        text = file.read()
    with open("bad.toml", "w") as file:
        file.write(text.replace("3.5", "-3.5"))
    (row,) = tables("faults", "bad.toml", code=1)["faults"]
    assert "must be greater than 0" in row["fault"]
    assert refused(invoke("pf", "bad.toml", "--json"))


def test_tables_of_analyses_as_json():
    modes = tables("eig", "small.toml", "--top", 2, wrt=["GEN1.D"])
    assert modes.keys() == {"modes", "sensitivities"}
    sensitivities = tables("tsa", "small.toml", "--t-end", 0.05, "--of", "GEN1.omega", wrt=["LOAD2.P0"])
    assert sensitivities["largest"][0]["parameter"] == "LOAD2.P0"
    assert isinstance(sensitivities["largest"][0]["largest derivative"], float)


def test_what_a_run_comes_to_is_told_as_json():
    told = tables("run", "wscc9", "--t-end", "0.3", "--plot")
    (summary,), events = told["summary"], told["events"]
    assert summary["stable"] is True
    assert summary["parted"] == ""
    assert summary["steps"] == 31
    assert Path(summary["data"]).is_file()
    assert Path(summary["figure"]).is_file()
    assert [event["place"] for event in events] == ["BUS7", "BUS7", "LINE5-7"]
    assert [event["t [s]"] for event in events] == pytest.approx([0.1, 0.183, 0.183], abs=1e-12)


@pytest.mark.parametrize("verb", ["plot", "report"])
def test_a_folder_is_told_to_be_no_file(verb):
    assert ".: is no regular file" in refused(invoke(verb, "."))
