"""Mutants are found, tried and told; what is listed of them stands in the modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from .survivors import change, listed

REPOSITORY = Path(__file__).parents[2]
MODULE = """
from __future__ import annotations


def bounded(x: int | None, *, most: int = 3) -> int | None:
    return x if x < most else most
"""
TESTS = """
from module import bounded


def test_what_is_small_stays():
    assert bounded(1) == 1


def test_what_is_large_does_not():
    assert bounded(9) < 9
"""


def test_every_survivor_that_is_listed_is_a_line_of_its_module_and_has_a_reason():
    found = listed()
    for (module, before, after), reason in found.items():
        lines = {line.strip() for line in (REPOSITORY / module).read_text().splitlines()}
        assert set(before.splitlines()) <= lines, (module, before)
        assert before != after
        assert len(reason) > 20, (module, before)


def test_mutants_are_those_that_a_test_can_find_and_each_is_tried_by_tests_of_its_line(tmp_path, monkeypatch):
    pytest.importorskip("cosmic_ray", reason="mutants are made by cosmic-ray")
    from . import mutants
    from .lines import Lines, Watch
    from .trial import run, tried

    monkeypatch.setattr(mutants, "GROUPS", {"all": mutants.Group(("module.py",), (".",))})
    (tmp_path / "module.py").write_text(MODULE)
    (tmp_path / "test_module.py").write_text(TESTS)
    log, file = tmp_path / "log", tmp_path / "lines.json"
    assert run(tmp_path, ["test_module.py"], log, plugins=[Watch(tmp_path, [str(tmp_path / "module.py")], file)]) == 0
    lines = Lines(tmp_path, file)
    outcomes = {}
    for item in mutants.mutants(tmp_path):
        result = tried(item, tmp_path, lines, log, thorough=True)
        outcomes[change(result.diff)[2]] = result.is_killed
    at_three = {"return x if x <= most else most", "def bounded(x: int | None, *, most: int = 4) -> int | None:",
                "def bounded(x: int | None, *, most: int =  4) -> int | None:",
                "def bounded(x: int | None, *, most: int =  2) -> int | None:"}
    assert {after for after, killed in outcomes.items() if not killed} <= at_three
    assert outcomes["return x if x > most else most"]
    assert (tmp_path / "module.py").read_text() == MODULE
