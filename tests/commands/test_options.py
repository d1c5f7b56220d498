"""What verbs share: the end of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import SMALL, invoke

import gridcore as gc
from gridcore.commands import end_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder with a case that recommends an end, and one that does not."""
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "told.toml").write_text(SMALL.replace("small", "told", 1).replace("Bus =", "t_end = '70 ms'\nBus =", 1))
    monkeypatch.chdir(tmp_path)


def test_the_end_is_as_asked_for_or_as_recommended_or_the_usual_one():
    small, told = gc.load_case("small.toml"), gc.load_case("told.toml")
    assert (end_of(told, 3.0), end_of(told), end_of(small), end_of(small, otherwise=5.0)) == (3.0, 0.07, 2.0, 5.0)


@pytest.mark.parametrize(("given", "end"), [((), 0.07), (("--t-end", "30ms"), 0.03)])
def test_a_run_ends_where_the_case_recommends_unless_another_end_is_given(given, end):
    assert invoke("run", "told.toml", "--quiet", *given).exit_code == 0
    assert gc.load_run("told.nc").t[-1] == end


def test_so_do_verbs_that_run_a_case_many_times():
    found = invoke("sweep", "told.toml", "--vary", "GEN1.H=3,4", "--measure", "end GEN1.omega", "--keep", "all",
                   "--processes", "1", "--json")
    assert len(json.loads(found.stdout)["scenarios"]) == 2
    assert {gc.load_run(path).t[-1] for path in sorted(Path("told_sweep").iterdir())} == {0.07}


def test_a_run_without_a_recommendation_takes_two_seconds():
    assert invoke("run", "small.toml", "--quiet").exit_code == 0
    assert gc.load_run("small.nc").t[-1] == 2.0
